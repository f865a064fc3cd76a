"""A buffer for text that grows by small pieces: a list of short strings needs many times its memory."""

from __future__ import annotations

__all__ = ["TextBuffer"]

_MAX_PIECES = 256
"""pieces that are joined into one"""


class TextBuffer:
    """Collects text; pieces are joined now and then, so that the cost of a piece stays constant."""

    __slots__ = ("_blocks", "_pieces")

    def __init__(self) -> None:
        self._blocks: list[str] = []
        self._pieces: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._pieces or self._blocks)

    def write(self, text: str) -> None:
        """Append text."""
        pieces = self._pieces
        pieces.append(text)
        if len(pieces) >= _MAX_PIECES:
            self._blocks.append("".join(pieces))
            pieces.clear()

    def value(self) -> str:
        """All text."""
        if len(self._blocks) > 1 or self._pieces:
            self._blocks = ["".join((*self._blocks, *self._pieces))]
            self._pieces.clear()
        return self._blocks[0] if self._blocks else ""

    def take(self) -> str:
        """Take all text out of the buffer."""
        text = self.value()
        self._blocks = []
        return text
