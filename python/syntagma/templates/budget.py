"""What one render may spend: steps, CPU time, and the size of every value on the way.

A step is roughly a microsecond of work: one turn of a loop, one call, one kibibyte of a new string. Python does its
own work in C, where nothing can be interrupted; so whoever makes a value asks here first how big it will be, and pays.
CPU time is looked at only when steps are paid, which is enough because nothing between two payments is unbounded.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple, TypeVar

from jinja2.utils import Namespace

from syntagma.errors import LimitError
from syntagma.limits import Limits

__all__ = ["CONTAINERS", "Budget", "Measure"]

T = TypeVar("T")

CONTAINERS: Final[tuple[type, ...]] = (
    *(list, tuple, dict, set, frozenset, Namespace),
    *(type({}.keys()), type({}.values()), type({}.items())),
)
"""Types whose text, hash or comparison visits what they hold."""

_STEPS_BETWEEN_CLOCKS: Final = 64
_NUMBER_CHARS: Final = 26
_BIG: Final = 1 << 20


class Measure(NamedTuple):
    """Size of a value when everything it holds is written out, shared parts counted as often as they are held."""

    nodes: int
    """values in it, itself included."""
    chars: int
    """code points of all its strings, digits of all its large integers."""
    depth: int
    """levels of containers."""


class Budget:
    """The account of one render; made for it, used by one thread, thrown away with it."""

    __slots__ = ("_next_look", "_started", "depth", "limits", "steps")

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.steps = 0
        self.depth = 0
        self._started = time.thread_time()
        self._next_look = min(_STEPS_BETWEEN_CLOCKS, limits.template_steps + 1)

    # -- work

    def tick(self) -> None:
        """Pay one step."""
        self.steps += 1
        if self.steps >= self._next_look:
            self._look()

    def charge(self, steps: int) -> None:
        """Pay for work that is about to be done, or was done.

        Raises:
            LimitError: `E-LIMIT-TEMPLATE-STEPS` or `E-LIMIT-TEMPLATE-TIME`.
        """
        self.steps += steps
        if self.steps >= self._next_look:
            self._look()

    def _look(self) -> None:
        allowed = self.limits.template_steps
        if self.steps > allowed:
            raise LimitError(
                "E-LIMIT-TEMPLATE-STEPS",
                f"the template needs more than {allowed:,} steps",
                hint="it loops, recurses or copies too much; `Limits(template_steps=…)` allows more",
                limit="template_steps",
                allowed=allowed,
            )
        spent = time.thread_time() - self._started
        if spent > self.limits.template_seconds:
            raise LimitError(
                "E-LIMIT-TEMPLATE-TIME",
                f"the template needs more than {self.limits.template_seconds:g} s of CPU time",
                hint="`Limits(template_seconds=…)` allows more",
                limit="template_seconds",
                given=spent,
                allowed=self.limits.template_seconds,
            )
        self._next_look = min(self.steps + _STEPS_BETWEEN_CLOCKS, allowed + 1)

    def iterate(self, items: Iterable[T]) -> Iterator[T]:
        """The items, one step each."""
        for item in items:
            self.tick()
            yield item

    def enter(self) -> None:
        """Go one call deeper.

        Raises:
            LimitError: `E-LIMIT-TEMPLATE-NESTING`.
        """
        self.depth += 1
        if self.depth > self.limits.template_nesting:
            raise nesting_error(self.limits, "macro calls")

    def leave(self) -> None:
        """Come back from a call."""
        self.depth -= 1

    # -- sizes

    def need_chars(self, chars: int) -> None:
        """A string of this length is about to be made: refuse it or take the steps for it.

        Raises:
            LimitError: `E-LIMIT-TEMPLATE-OUTPUT`.
        """
        if chars > self.limits.template_output_bytes:
            raise output_error(self.limits, chars)
        if chars > 1023:
            self.charge(_steps_for(chars))

    def need_items(self, items: int) -> None:
        """A list or the like of this length is about to be made: refuse it or take the steps for it.

        Raises:
            LimitError: `E-LIMIT-TEMPLATE-ITEMS`.
        """
        if items > self.limits.template_items:
            raise LimitError(
                "E-LIMIT-TEMPLATE-ITEMS",
                f"the template makes a value of {items:,} items; at most {self.limits.template_items:,} are allowed",
                limit="template_items",
                given=items,
                allowed=self.limits.template_items,
            )
        if items > 7:
            self.charge(items >> 3)

    def need_bits(self, bits: int) -> None:
        """An integer of this size is about to be made.

        Raises:
            LimitError: `E-LIMIT-TEMPLATE-INTEGER`.
        """
        if bits > self.limits.template_integer_bits:
            raise LimitError(
                "E-LIMIT-TEMPLATE-INTEGER",
                f"the template computes an integer of {bits:,} bits or so; "
                f"at most {self.limits.template_integer_bits:,} are allowed",
                limit="template_integer_bits",
                given=bits,
                allowed=self.limits.template_integer_bits,
            )

    def made(self, value: T) -> T:
        """Pay for a value that somebody made whose size was bounded but not known."""
        if isinstance(value, str | bytes):
            if len(value) > self.limits.template_output_bytes:
                raise output_error(self.limits, len(value))
            wide = sys.getsizeof(value)
            if wide > 1023:
                self.charge(_steps_for(wide))
        elif isinstance(value, list | tuple | dict | set | frozenset):
            self.need_items(len(value))
        elif isinstance(value, int):
            self.need_bits(value.bit_length())
        elif hasattr(value, "__next__") and hasattr(value, "__iter__"):
            return self.iterate(value)  # type: ignore[return-value]
        return value

    def measure(self, value: Any) -> Measure:
        """Walk through a value without recursion.

        Raises:
            LimitError: `E-LIMIT-TEMPLATE-ITEMS` or `E-LIMIT-TEMPLATE-OUTPUT`; a value that holds itself has no end and
                is refused in the same way.
        """
        nodes = chars = depth = 0
        most_nodes, most_chars = self.limits.template_items, self.limits.template_output_bytes
        level = [value]
        while level:
            held: list[Any] = []
            containers = 0
            for item in level:
                kind = type(item)
                if kind is str:
                    chars += len(item)
                elif kind is dict:
                    containers += 1
                    self.tick()
                    held.extend(item)
                    held.extend(item.values())
                elif isinstance(item, CONTAINERS):
                    containers += 1
                    self.tick()
                    held.extend(_parts(item))
                elif isinstance(item, str | bytes):
                    chars += len(item)
                elif isinstance(item, int):
                    chars += item.bit_length() // 3
                if len(held) > most_nodes:
                    break
            nodes += len(level)
            depth += containers > 0
            self.charge(len(level) >> 2)
            # The value itself is none of the things that it holds.
            if nodes + len(held) - 1 > most_nodes:
                self.need_items(nodes + len(held) - 1)
            if chars > most_chars:
                raise output_error(self.limits, chars)
            level = held
        return Measure(nodes, chars, depth)

    def visit(self, value: T) -> T:
        """Pay for a comparison or a hash of this value; it is handed back."""
        kind = type(value)
        if kind is str:
            if len(value) > 4095:  # type: ignore[arg-type]
                self.charge(len(value) >> 12)  # type: ignore[arg-type]
        elif isinstance(value, CONTAINERS):
            self.measure(value)
        return value

    def search(self, value: T) -> T:
        """Pay for `… in value`; a dictionary looks a key up and visits nothing."""
        if type(value) is not dict:
            self.visit(value)
        return value

    # -- text

    def text(self, value: Any) -> str:
        """`str(value)` of a bounded size; strings, also marked ones, come back as they are."""
        if isinstance(value, str):
            return value
        if isinstance(value, CONTAINERS):
            self.need_chars(self._text_bound(value))
        return str(value)

    def _text_bound(self, value: Any) -> int:
        measure = self.measure(value)
        rough = measure.nodes * _NUMBER_CHARS + measure.chars * 10
        if rough <= self.limits.template_output_bytes:
            return rough
        exact = 0
        stack = [value]
        while stack:
            item = stack.pop()
            if isinstance(item, str | bytes):
                exact += len(repr(item)) + 2
            elif isinstance(item, CONTAINERS):
                exact += 2
                stack.extend(_parts(item))
            elif isinstance(item, int):
                exact += item.bit_length() // 3 + 3
            else:
                exact += _NUMBER_CHARS
            if exact > self.limits.template_output_bytes:
                break
        return exact

    def concat(self, pieces: Iterable[str]) -> str:
        """The pieces as one string."""
        parts = pieces if isinstance(pieces, list | tuple) else list(pieces)
        self.need_chars(sum(map(len, parts)))
        return "".join(parts)


def _steps_for(size: int) -> int:
    # Big strings cost more, because together they must not fill the memory: half a gigabyte of small ones is mostly
    # thrown away again, big ones are kept.
    return size >> 10 if size < _BIG else size >> 8


def _parts(item: Any) -> Iterable[Any]:
    if isinstance(item, dict):
        yield from item.keys()
        yield from item.values()
    elif isinstance(item, Namespace):
        # Jinja keeps the variables of a namespace under this name and gives it out to code, not to templates.
        yield from item._Namespace__attrs.values()
    else:
        yield from item


def output_error(limits: Limits, chars: int) -> LimitError:
    """The error for a string that is too long."""
    return LimitError(
        "E-LIMIT-TEMPLATE-OUTPUT",
        f"the template makes a string of {chars:,} characters; at most {limits.template_output_bytes:,} are allowed",
        limit="template_output_bytes",
        given=chars,
        allowed=limits.template_output_bytes,
    )


def nesting_error(limits: Limits, what: str) -> LimitError:
    """The error for calls or blocks that are nested too deeply."""
    return LimitError(
        "E-LIMIT-TEMPLATE-NESTING",
        f"{what} are nested more than {limits.template_nesting} deep",
        hint="a macro that calls itself without an end? `Limits(template_nesting=…)` allows more",
        limit="template_nesting",
        allowed=limits.template_nesting,
    )
