"""The budget of one render: steps, CPU time, and the size of every value on the way.

A step is roughly a microsecond of work: one iteration of a loop, one call, one kibibyte of a new string. A call into
C code cannot be interrupted, so the size of its result is checked and charged before the call. CPU time is read only
when steps are charged; that is enough, because the work between two charges is bounded.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from jinja2.utils import Namespace

from syntagma.errors import LimitError
from syntagma.limits import Limits

__all__ = ["CONTAINERS", "Budget", "Measure", "limit_error", "nesting_error", "output_error", "parts_of"]

T = TypeVar("T")

CONTAINERS: Final[tuple[type, ...]] = (
    *(list, tuple, dict, set, frozenset, Namespace),
    *(type({}.keys()), type({}.values()), type({}.items())),
)
"""Types whose text, hash or comparison visits what they hold."""

_STEPS_BETWEEN_CLOCKS: Final = 64
_NUMBER_CHARS: Final = 26
"""code points of the longest float"""
_LARGE_STRING: Final = 1 << 20


class Measure(NamedTuple):
    """Size of a value written out in full; a value that is shared counts each time it occurs."""

    nodes: int
    """number of values, itself included."""
    chars: int
    """code points of all its strings, digits of all its large integers."""
    depth: int
    """levels of containers."""


class Budget:
    """The budget of one render, used by one thread.

    Attributes:
        limits: the bounds.
        steps: steps charged so far.
        depth: calls that are open.
    """

    __slots__ = ("_next_check", "_started", "depth", "limits", "steps")

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.steps = 0
        self.depth = 0
        self._started = time.thread_time()
        self._next_check = min(_STEPS_BETWEEN_CLOCKS, limits.template_steps + 1)

    # -- work

    def tick(self) -> None:
        """Charge one step.

        Raises:
            LimitError: as `charge`.
        """
        self.steps += 1
        if self.steps >= self._next_check:
            self._check()

    def charge(self, steps: int) -> None:
        """Charge steps.

        Raises:
            LimitError: `E-LIMIT-TEMPLATE-STEPS` or `E-LIMIT-TEMPLATE-TIME`.
        """
        self.steps += steps
        if self.steps >= self._next_check:
            self._check()

    def _check(self) -> None:
        allowed = self.limits.template_steps
        if self.steps > allowed:
            raise limit_error(
                self.limits,
                "template_steps",
                f"the template needs more than {allowed:,} steps",
                hint="it loops, recurses or copies too much; `Limits(template_steps=…)` allows more",
            )
        spent = time.thread_time() - self._started
        if spent > self.limits.template_seconds:
            raise limit_error(
                self.limits,
                "template_seconds",
                f"the template needs more than {self.limits.template_seconds:g} s of CPU time",
                given=spent,
                hint="`Limits(template_seconds=…)` allows more",
            )
        self._next_check = min(self.steps + _STEPS_BETWEEN_CLOCKS, allowed + 1)

    def iterate(self, items: Iterable[T]) -> Iterator[T]:
        """The items; each charges one step."""
        for item in items:
            self.tick()
            yield item

    def enter(self) -> None:
        """Begin a call inside a template.

        Raises:
            LimitError: `E-LIMIT-TEMPLATE-NESTING`.
        """
        self.depth += 1
        if self.depth > self.limits.template_nesting:
            raise nesting_error(self.limits, "macro calls")

    def leave(self) -> None:
        """End a call."""
        self.depth -= 1

    # -- sizes

    def need_chars(self, chars: int) -> None:
        """Check and charge a string of this length before it is made.

        Raises:
            LimitError: `E-LIMIT-TEMPLATE-OUTPUT`.
        """
        if chars > self.limits.template_output_bytes:
            raise output_error(self.limits, chars)
        if chars > 1023:
            self.charge(_steps_for(chars))

    def need_items(self, items: int) -> None:
        """Check and charge a list, tuple, dict or set of this length before it is made.

        Raises:
            LimitError: `E-LIMIT-TEMPLATE-ITEMS`.
        """
        if items > self.limits.template_items:
            message = (
                f"the template makes a value of {items:,} items; at most {self.limits.template_items:,} are allowed"
            )
            raise limit_error(self.limits, "template_items", message, given=items)
        if items > 7:
            self.charge(items >> 3)

    def need_bits(self, bits: int) -> None:
        """Check an integer of this size before it is made.

        Raises:
            LimitError: `E-LIMIT-TEMPLATE-INTEGER`.
        """
        if bits > self.limits.template_integer_bits:
            allowed = self.limits.template_integer_bits
            message = f"the template computes an integer of {bits:,} bits or so; at most {allowed:,} are allowed"
            raise limit_error(self.limits, "template_integer_bits", message, given=bits)

    def made(self, value: T) -> T:
        """Charge for a new value whose size was bounded, but not known, before it was made."""
        if isinstance(value, str | bytes):
            if len(value) > self.limits.template_output_bytes:
                raise output_error(self.limits, len(value))
            size = sys.getsizeof(value)
            if size > 1023:
                self.charge(_steps_for(size))
        elif isinstance(value, list | tuple | dict | set | frozenset):
            self.need_items(len(value))
        elif isinstance(value, int):
            self.need_bits(value.bit_length())
        elif hasattr(value, "__next__") and hasattr(value, "__iter__"):
            return self.iterate(value)  # type: ignore[return-value]
        return value

    def measure(self, value: Any) -> Measure:
        """The size of a value, found without recursion; charges a step for each container.

        Raises:
            LimitError: `E-LIMIT-TEMPLATE-ITEMS` or `E-LIMIT-TEMPLATE-OUTPUT`; a value that holds itself has no end and
                is refused in the same way.
        """
        nodes = chars = depth = 0
        max_nodes, max_chars = self.limits.template_items, self.limits.template_output_bytes
        level = [value]
        while level:
            children: list[Any] = []
            containers = 0
            for item in level:
                kind = type(item)
                if kind is str:
                    chars += len(item)
                elif kind is dict:
                    containers += 1
                    self.tick()
                    children.extend(item)
                    children.extend(item.values())
                elif isinstance(item, CONTAINERS):
                    containers += 1
                    self.tick()
                    children.extend(parts_of(item))
                elif isinstance(item, str | bytes):
                    chars += len(item)
                elif isinstance(item, int):
                    chars += item.bit_length() // 3
                if len(children) > max_nodes:
                    break
            nodes += len(level)
            depth += containers > 0
            self.charge(len(level) >> 2)
            # `template_items` counts what a value contains, not the value itself.
            if nodes + len(children) - 1 > max_nodes:
                self.need_items(nodes + len(children) - 1)
            if chars > max_chars:
                raise output_error(self.limits, chars)
            level = children
        return Measure(nodes, chars, depth)

    def visit(self, value: T) -> T:
        """Charge for a comparison or a hash of this value; the value is returned."""
        if isinstance(value, str):
            if len(value) > 4095:
                self.charge(len(value) >> 12)
        elif isinstance(value, CONTAINERS):
            self.measure(value)
        return value

    def search(self, value: T) -> T:
        """Charge for `… in value`; looking up a key of a dictionary is free."""
        if type(value) is not dict:
            self.visit(value)
        return value

    # -- text

    def text(self, value: Any) -> str:
        """`str(value)`, of a bounded size; a string (`Markup` too) is returned as it is."""
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
                stack.extend(parts_of(item))
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
        return self.joined("", parts)

    # -- what a traced render derives origins from (`tracing`); a plain one has none

    def joined(self, separator: str, parts: Sequence[str]) -> str:
        """The parts with the separator between them; the caller has checked its size."""
        return separator.join(parts)

    def derived(self, result: Any, operation: str, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ARG002 - see above
        """The result of an operation.

        Args:
            result: the value that Python made.
            operation: an operator, the name of a method of strings, or that of a filter.
            owner: what it was done to.
            args: its arguments.
            kwargs: those that were given by name.
        """
        return result

    def output(self, pieces: Iterable[str]) -> str:
        """What the render wrote, as one text; the caller has checked its size."""
        return "".join(pieces)


def _steps_for(size: int) -> int:
    # Large strings cost more steps a byte: small ones are mostly freed soon, large ones together fill the memory.
    return size >> 10 if size < _LARGE_STRING else size >> 8


def parts_of(item: Any) -> Iterable[Any]:
    """What a container holds, keys included."""
    if isinstance(item, dict):
        yield from item.keys()
        yield from item.values()
    elif isinstance(item, Namespace):
        # The variables of a namespace; Jinja has no public name for them.
        yield from item._Namespace__attrs.values()
    else:
        yield from item


_CODES: Final = {
    "template_bytes": "E-LIMIT-TEMPLATE-SOURCE",
    "template_steps": "E-LIMIT-TEMPLATE-STEPS",
    "template_seconds": "E-LIMIT-TEMPLATE-TIME",
    "template_items": "E-LIMIT-TEMPLATE-ITEMS",
    "template_integer_bits": "E-LIMIT-TEMPLATE-INTEGER",
    "template_output_bytes": "E-LIMIT-TEMPLATE-OUTPUT",
    "template_nesting": "E-LIMIT-TEMPLATE-NESTING",
}


def limit_error(limits: Limits, limit: str, message: str, *, given: float | None = None, **place: Any) -> LimitError:
    """The error for a template beyond a field of `Limits`.

    Args:
        limits: the bounds.
        limit: the name of the field.
        message: what is too large.
        given: how large it is, or None where counting stopped at the limit.
        **place: hint, source or pointer of the error.
    """
    allowed = getattr(limits, limit)
    return LimitError(_CODES[limit], message, limit=limit, given=given, allowed=allowed, **place)


def output_error(limits: Limits, chars: int) -> LimitError:
    """The error for a string that is too long."""
    allowed = limits.template_output_bytes
    message = f"the template makes a string of {chars:,} characters; at most {allowed:,} are allowed"
    return limit_error(limits, "template_output_bytes", message, given=chars)


def nesting_error(limits: Limits, what: str) -> LimitError:
    """The error for calls or blocks that are nested too deeply."""
    message = f"{what} are nested more than {limits.template_nesting} deep"
    hint = "does a macro call itself without an end? `Limits(template_nesting=…)` allows more"
    return limit_error(limits, "template_nesting", message, hint=hint)
