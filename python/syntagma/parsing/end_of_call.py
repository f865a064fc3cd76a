"""What stands after the arguments of a call, looked for ahead: whether the call may end at a place."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from syntagma.parsing.literal_runs import Op
from syntagma.parsing.text.scanner import MarkerSet, is_cut

__all__ = ["EndOfCall", "NextCall", "after_whitespace", "stands_at"]

_WHITESPACE = re.compile(r"\s*")
_NAME = re.compile(r"[\w.:-]*")
_MAX_NAME = 256
"""code points of a tool's name up to which the next call is looked for"""
_GOES_ON = re.compile(r"""[\w'"(\[{)\]},:=+*/%.-]""")
"""what does not follow a call that only signs close"""


def after_whitespace(text: str, pos: int, end: int) -> int:
    """The index of the first character of `text[pos:end]` that is not whitespace; `end` without one."""
    found = _WHITESPACE.match(text, pos, end)
    return pos if found is None else found.end()


def stands_at(literal: str, text: str, pos: int, end: int, *, final: bool) -> bool | None:
    """Whether a literal stands at `pos` of `text[:end]`; None: it may, with more text; `final`: no more comes."""
    if text.startswith(literal, pos, end):
        return True
    return None if not final and is_cut(literal, text, pos, end) else False


class NextCall(NamedTuple):
    """The beginning of a call that follows another.

    Attributes:
        before: the literal before its name or object; empty: it begins with its name.
        after: the literal after the name.
    """

    before: str
    after: str


class EndOfCall:
    """The closers of a call, and what may follow them.

    Args:
        closer: the steps after the arguments.
        section: the steps of the closer of the call's section.
        separator: the literal between calls.
        next_call: the beginning of the next call; None: it has none.
        opener: the steps before the call's name.

    Attributes:
        closers: the literals after the arguments, up to an id.
        stops: the markers that end a call or its section, or open one: no repair reads beyond them.
    """

    __slots__ = ("_goes_on", "_is_marked", "_next", "_section", "_separator", "closers", "stops")

    def __init__(
        self,
        closer: tuple[Op, ...],
        section: tuple[Op, ...],
        separator: str,
        next_call: NextCall | None,
        opener: Iterable[Op],
    ) -> None:
        literals = [op for op in closer if op.kind == "literal"]
        first = next((n for n, op in enumerate(closer) if op.kind == "placeholder"), len(closer))
        self.closers = tuple(op.text for op in closer[:first] if op.kind == "literal")
        self._section = next((op.text for op in section if op.kind == "literal"), "")
        self._is_marked = any(op.marker for op in literals)
        self._goes_on = first < len(closer)  # with an id, after the first of its literals
        self._separator = separator
        self._next = next_call
        self.stops = MarkerSet(op.text for op in (*literals, *section, *opener) if op.marker)

    def stands_at(self, text: str, pos: int, end: int, *, final: bool) -> bool | None:
        """Whether the call may end at `pos` of `text[:end]`; None: more text decides; `final`: no more comes."""
        for closer in self.closers:
            pos = after_whitespace(text, pos, end)
            found = stands_at(closer, text, pos, end, final=final)
            if not found:
                return found
            pos += len(closer)
        if self._is_marked or self._goes_on:
            return True
        pos = after_whitespace(text, pos, end)
        if pos == end:
            return True if final else None
        found = stands_at(self._section, text, pos, end, final=final) if self._section else False
        if found is False and self._separator and self._next is not None:
            found = stands_at(self._separator, text, pos, end, final=final)
            if found:
                return self._next_stands_at(self._next, text, pos + len(self._separator), end, final=final)
        if found is not False:
            return found
        return not (self._section or _GOES_ON.match(text, pos))

    def _next_stands_at(self, call: NextCall, text: str, pos: int, end: int, *, final: bool) -> bool | None:
        pos = after_whitespace(text, pos, end)
        if call.before:
            return stands_at(call.before, text, pos, end, final=final)
        name = _NAME.match(text, pos, end)
        named = pos if name is None else name.end()
        if (named == pos and pos < end) or named - pos > _MAX_NAME:
            return False
        return stands_at(call.after, text, after_whitespace(text, named, end), end, final=final)
