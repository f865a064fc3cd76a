"""Arguments that are an object of another notation than JSON, up to the closer of their call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from syntagma.format_schema import Notation
from syntagma.parsing.arguments.literal_machine import LiteralMachine
from syntagma.parsing.arguments.mending import Mending
from syntagma.parsing.arguments.source import ArgumentSource
from syntagma.parsing.arguments.wrapper import Around, Wrapper, wrapper_keys
from syntagma.parsing.end_of_call import after_whitespace
from syntagma.parsing.text.scanner import MarkerSet

__all__ = ["LiteralArguments"]

_BLOCK = 1024
"""the most code points that are read at once, beside those of a closer"""


class LiteralArguments(ArgumentSource):
    """Reads an object, from its brace on. At the call's closer outside of a string, it closes what is open.

    Args:
        notation: how values are spelled.
        closers: the literals that close the call.
        mending: the repairs; None: nothing is repaired.

    Attributes:
        done: whether the object is complete.
        bad: whether the next character cannot belong to it.
    """

    __slots__ = ("_closers", "_ending", "_machine", "_mending", "_notation", "_wrapped", "_wrapper", "bad", "done")

    def __init__(self, notation: Notation, closers: Iterable[str] = (), mending: Mending | None = None) -> None:
        self._machine = LiteralMachine(notation, mending=mending)
        self._mending: Mending | None = mending
        self._notation = notation
        self._wrapped: Mapping[str, Any] | None = None  # the schema, as long as a wrapper may begin
        self._wrapper: Wrapper | None = None
        self._closers = MarkerSet(closers)
        # The text that completes the arguments at the closer, and how many characters before the closer it replaces.
        self._ending: tuple[str, int] | None = None
        self.done = False
        self.bad = False

    def declare(self, schema: Mapping[str, Any] | None) -> None:
        """See `ArgumentSource`."""
        if self._mending is not None:
            self._mending.declare(schema)
            self._wrapped = schema

    @property
    def in_string(self) -> bool:
        """See `ArgumentSource`."""
        return self._machine.in_string

    @property
    def pending(self) -> str:
        """See `ArgumentSource`."""
        return self._machine.pending

    def feed(self, text: str, pos: int, end: int) -> tuple[int, str]:
        """See `ArgumentSource`."""
        machine, mending = self._machine, self._mending
        if self._ending is not None:
            ending, size = self._ending
            self.done = True
            return pos + size, ending
        if mending is not None:
            mending.see(text, end)
        if mending is not None and self._wrapped is not None:
            inside = self._in_wrapper(mending, self._wrapped, text, pos, end)
            if inside is not None:
                return inside
        # Not far, since the machine may soon find that it cannot read on.
        end = min(end, pos + _BLOCK + self._closers.longest)
        at, closer = self._closers.search(text, pos, final=False, end=end)
        after, fragment = machine.feed(text, pos, at)
        if after == pos and not fragment and at < end and machine.in_string:
            # Inside a string a closer is text.
            after, fragment = machine.feed(text, pos, end if closer is None else min(at + len(closer), end))
        self.done, self.bad = machine.done, machine.bad
        if after > pos or fragment or self.done or self.bad or closer is None or at >= end or machine.in_string:
            return after, fragment
        if mending is not None and (mending.repairs or mending.waits):
            return pos, ""
        missing = machine.close(text[pos:at]) if mending is not None else None
        self.bad = missing is None
        if mending is not None and missing is not None:
            mending.tell("closer")
        self._ending = None if missing is None else (missing, at - pos)
        return pos, ""

    def _in_wrapper(
        self, mending: Mending, schema: Mapping[str, Any], text: str, pos: int, end: int
    ) -> tuple[int, str] | None:
        """Look for a wrapper around the arguments, as `feed`; None: there is none."""
        machine = self._machine
        if not machine.in_brackets:
            return machine.feed(text, pos, min(pos + 1, end))
        at = after_whitespace(text, pos, end)
        if self._wrapper is None:
            quotes = (*self._notation.quotes, '"', *([""] if self._notation.bare_keys else ()))
            ways = (
                Around((f"{quote}{key}{quote}", ":"), ("}",)) for key in wrapper_keys(schema) for quote in set(quotes)
            )
            self._wrapper = Wrapper(schema, ways, self._notation)
        found = self._wrapper.find(text, at, end) if at < end else None
        if found == "none" or (found is None and mending.final):
            self._wrapped = None
            return None
        if found is None or not mending.tell("wrapper"):
            return at, ""
        self.done = True
        return found[1] + 1, found[0][1:]

    def close(self, rest: str) -> str | None:
        """See `ArgumentSource`."""
        missing = self._machine.close(rest) if self._mending is not None else None
        if self._mending is not None and missing is not None:
            self._mending.tell("closer")
        return missing
