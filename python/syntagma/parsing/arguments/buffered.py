"""Arguments that were read before the call was certain."""

from __future__ import annotations

from collections.abc import Iterable

from syntagma.parsing.arguments.source import ArgumentSource

__all__ = ["BufferedArguments"]


class BufferedArguments(ArgumentSource):
    """Arguments that came before the name, or the empty object of a call without arguments.

    Args:
        text: the JSON object.
        repairs: the repairs in it, as sentences.
    """

    __slots__ = ("_repairs", "_text", "bad", "done")

    def __init__(self, text: str = "{}", repairs: Iterable[str] = ()) -> None:
        self._text = text
        self._repairs = list(repairs)
        self.done = True
        self.bad = False

    def feed(self, text: str, pos: int, end: int) -> tuple[int, str]:  # noqa: ARG002  # nothing is read
        """See `ArgumentSource`: reads nothing and gives the whole object."""
        return pos, self._text

    @property
    def has_repair(self) -> bool:
        """See `ArgumentSource`."""
        return bool(self._repairs)

    def take_repair(self) -> str | None:
        """See `ArgumentSource`; returns one after the other."""
        return self._repairs.pop(0) if self._repairs else None
