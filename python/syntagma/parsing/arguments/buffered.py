"""Arguments that were read before the call was certain."""

from __future__ import annotations

from syntagma.parsing.arguments.source import ArgumentSource

__all__ = ["BufferedArguments"]


class BufferedArguments(ArgumentSource):
    """Arguments that came before the name, or that the call does not have.

    Args:
        text: the JSON object.
    """

    __slots__ = ("_text", "bad", "done")

    def __init__(self, text: str = "{}") -> None:
        self._text = text
        self.done = True
        self.bad = False

    def feed(self, text: str, pos: int, end: int) -> tuple[int, str]:  # noqa: ARG002  # nothing is read
        """See `ArgumentSource`: reads nothing and gives the whole object."""
        return pos, self._text
