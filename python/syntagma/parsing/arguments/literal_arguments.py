"""Arguments that are an object of another notation than JSON, up to the closer of their call."""

from __future__ import annotations

from collections.abc import Iterable

from syntagma.format_schema import Notation
from syntagma.parsing.arguments.literal_machine import LiteralMachine
from syntagma.parsing.arguments.source import ArgumentSource
from syntagma.parsing.text.scanner import MarkerSet

__all__ = ["LiteralArguments"]

_BLOCK = 1024
"""the most code points that are read at once, beside those of a closer"""


class LiteralArguments(ArgumentSource):
    """Reads an object, from its brace on. At the call's closer outside of a string, it closes what is open.

    Args:
        notation: how values are spelled.
        closers: the literals that close the call.

    Attributes:
        done: whether the object is complete.
        bad: whether the next character cannot belong to it.
    """

    __slots__ = ("_closers", "_ending", "_machine", "_repair", "bad", "done")

    def __init__(self, notation: Notation, closers: Iterable[str] = ()) -> None:
        self._machine = LiteralMachine(notation)
        self._closers = MarkerSet(closers)
        # The text that completes the arguments at the closer, and how many characters before the closer it replaces.
        self._ending: tuple[str, int] | None = None
        self._repair = False
        self.done = False
        self.bad = False

    @property
    def in_string(self) -> bool:
        """See `ArgumentSource`."""
        return self._machine.in_string

    @property
    def has_repair(self) -> bool:
        """See `ArgumentSource`."""
        return self._repair

    def take_repair(self) -> str | None:
        """See `ArgumentSource`."""
        repair, self._repair = self._repair, False
        return "what was open in the arguments was closed where the call ends" if repair else None

    def feed(self, text: str, pos: int, end: int) -> tuple[int, str]:
        """See `ArgumentSource`."""
        machine = self._machine
        if self._ending is not None:
            ending, size = self._ending
            self.done = True
            return pos + size, ending
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
        missing = machine.close(text[pos:at])
        self.bad, self._repair = missing is None, missing is not None
        self._ending = None if missing is None else (missing, at - pos)
        return pos, ""

    def close(self, rest: str) -> str | None:
        """See `ArgumentSource`."""
        missing = self._machine.close(rest)
        self._repair = missing is not None
        return missing
