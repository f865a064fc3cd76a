"""Text that grows by small pieces and weighs what it holds: a list of short texts weighs many times that."""

from __future__ import annotations

__all__ = ["TextBuffer"]

_MAX_PIECES = 256
"""pieces that are put together into one"""


class TextBuffer:
    """Collects text; what is appended is put together now and then, so that the cost of a piece does not grow."""

    __slots__ = ("_blocks", "_pieces")

    def __init__(self) -> None:
        self._blocks: list[str] = []
        self._pieces: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._pieces or self._blocks)

    def write(self, text: str) -> None:
        """Append."""
        pieces = self._pieces
        pieces.append(text)
        if len(pieces) >= _MAX_PIECES:
            self._blocks.append("".join(pieces))
            pieces.clear()

    def value(self) -> str:
        """All of it."""
        if len(self._blocks) > 1 or self._pieces:
            self._blocks = ["".join((*self._blocks, *self._pieces))]
            self._pieces.clear()
        return self._blocks[0] if self._blocks else ""

    def take(self) -> str:
        """All of it, which is then no longer here."""
        text = self.value()
        self._blocks = []
        return text
