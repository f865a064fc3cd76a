"""The budget of one render: steps, CPU time, and the size of every intermediate value.

A step is about a microsecond of work: one iteration of a loop, one call, one kibibyte of a new string. A call into C
code cannot be interrupted, so the size of its result is checked and charged before the call. CPU time is read only when
steps are charged, which suffices because the work between two charges is bounded.
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
"""types whose text, hash or comparison visits their members"""

_STEPS_BETWEEN_CLOCKS: Final = 64
_NUMBER_CHARS: Final = 26
"""code points of the longest float"""
_LARGE_STRING: Final = 1 << 20


class Measure(NamedTuple):
    """The size of a value as text. A shared value counts each time it occurs."""

    nodes: int
    """number of values, including the value itself"""
    chars: int
    """code points of all strings, and digits of all large integers"""
    depth: int
    """levels of containers"""


class Budget:
    """The budget of one render. Not safe for several threads.

    Args:
        limits: the bounds.
        messages: the conversation, by whose size the bound on steps grows.

    Attributes:
        limits: the bounds.
        steps: steps charged so far.
        depth: number of open calls.
    """

    __slots__ = ("_allowed", "_messages", "_next_check", "_started", "depth", "limits", "steps")

    def __init__(self, limits: Limits, messages: Any = None) -> None:
        self.limits = limits
        self.steps = 0
        self.depth = 0
        self._messages = messages
        self._allowed = limits.template_steps
        self._started = time.thread_time()
        self._next_check = min(_STEPS_BETWEEN_CLOCKS, self._allowed + 1)

    # -- work

    def tick(self) -> None:
        """Charge one step.

        Raises:
            LimitError: see `charge`.
        """
        self.steps += 1
        if self.steps >= self._next_check:
            self._check()

    def charge(self, steps: int) -> None:
        """Charge steps.

        Raises:
            LimitError: `E-LIMIT-TEMPLATE-STEPS` or `E-LIMIT-TEMPLATE-TIME`, the budget is exceeded.
        """
        self.steps += steps
        if self.steps >= self._next_check:
            self._check()

    def _check(self) -> None:
        if self.steps > self._allowed and self._messages is not None:
            # Most renders never get here, so the size is not known before.
            per_character = self.limits.template_steps_per_character
            self._allowed = max(self._allowed, per_character * _characters(self._messages))
            self._messages = None
        allowed = self._allowed
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
        """The items. Each charges one step."""
        for item in items:
            self.tick()
            yield item

    def enter(self) -> None:
        """Begin a call inside a template.

        Raises:
            LimitError: `E-LIMIT-TEMPLATE-NESTING`, too many calls are open.
        """
        self.depth += 1
        if self.depth > self.limits.template_nesting:
            raise nesting_error(self.limits, "macro calls")

    def leave(self) -> None:
        """End a call."""
        self.depth -= 1

    # -- sizes

    def need_chars(self, chars: int) -> None:
        """Check and charge a string of this length, before it is created.

        Raises:
            LimitError: `E-LIMIT-TEMPLATE-OUTPUT`, it is too long.
        """
        if chars > self.limits.template_output_bytes:
            raise output_error(self.limits, chars)
        if chars > 1023:
            self.charge(_steps_for(chars))

    def need_items(self, items: int) -> None:
        """Check and charge a list, tuple, dict or set of this length, before it is created.

        Raises:
            LimitError: `E-LIMIT-TEMPLATE-ITEMS`, it has too many items.
        """
        if items > self.limits.template_items:
            message = (
                f"the template makes a value of {items:,} items; at most {self.limits.template_items:,} are allowed"
            )
            raise limit_error(self.limits, "template_items", message, given=items)
        if items > 7:
            self.charge(items >> 3)

    def need_bits(self, bits: int) -> None:
        """Check an integer of this size, before it is computed.

        Raises:
            LimitError: `E-LIMIT-TEMPLATE-INTEGER`, it has too many bits.
        """
        if bits > self.limits.template_integer_bits:
            allowed = self.limits.template_integer_bits
            message = f"the template computes an integer of about {bits:,} bits; at most {allowed:,} are allowed"
            raise limit_error(self.limits, "template_integer_bits", message, given=bits)

    def made(self, value: T) -> T:
        """Charge for a new value, whose size was bounded but not known before it was created. Returns the value."""
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
        """The size of a value, computed without recursion. Charges a step for each container.

        Raises:
            LimitError: `E-LIMIT-TEMPLATE-ITEMS` or `E-LIMIT-TEMPLATE-OUTPUT`, the value is too large, or contains
                itself.
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
        """Charge for a comparison or a hash of a value. Returns the value."""
        if isinstance(value, str):
            if len(value) > 4095:
                self.charge(len(value) >> 12)
        elif isinstance(value, CONTAINERS):
            self.measure(value)
        return value

    def search(self, value: T) -> T:
        """Charge for `… in value`, which is free for a dictionary. Returns the value."""
        if type(value) is not dict:
            self.visit(value)
        return value

    # -- text

    def text(self, value: Any) -> str:
        """`str(value)` with a bounded size. A string (also `Markup`) is returned unchanged."""
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
        """The pieces as one string, checked and charged."""
        parts = pieces if isinstance(pieces, list | tuple) else list(pieces)
        self.need_chars(sum(map(len, parts)))
        return self.joined("", parts)

    # -- overridden in traced renders to derive origins (`tracing`)

    def joined(self, separator: str, parts: Sequence[str]) -> str:
        """The parts with the separator between them. The caller has checked the size."""
        return separator.join(parts)

    def derived(self, result: Any, operation: str, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ARG002 - see above
        """The result of an operation.

        Args:
            result: the value that Python computed.
            operation: an operator, or the name of a string method or filter.
            owner: the left operand, or the value of the method or filter.
            args: the positional arguments.
            kwargs: the keyword arguments.
        """
        return result

    def output(self, pieces: Iterable[str]) -> str:
        """The output of the render as one text. The caller has checked its size."""
        return "".join(pieces)


def _characters(value: Any) -> int:
    """The code points of all strings in plain data."""
    found = 0
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            found += len(item)
        elif isinstance(item, dict):
            stack.extend(item)
            stack.extend(item.values())
        elif isinstance(item, list | tuple):
            stack.extend(item)
    return found


def _steps_for(size: int) -> int:
    # Large strings cost more steps per byte: small ones are mostly freed soon, but many large ones exhaust memory.
    return size >> 10 if size < _LARGE_STRING else size >> 8


def parts_of(item: Any) -> Iterable[Any]:
    """The members of a container, including keys."""
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
        message: a description of what is too large.
        given: its size, or None if counting stopped at the limit.
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
    hint = "a macro may call itself endlessly; `Limits(template_nesting=…)` allows more"
    return limit_error(limits, "template_nesting", message, hint=hint)
