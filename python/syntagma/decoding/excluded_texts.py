"""Texts that an answer never holds, however they are cut into tokens."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["ExcludedTexts"]


class ExcludedTexts:
    """Says of each next token whether it completes one of the texts. For one sequence.

    Args:
        texts: none of them is empty; compared by their UTF-8 bytes.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = tuple(text.encode() for text in texts)
        self._kept = max(map(len, self._texts), default=1) - 1
        self._tail = b""

    def completes(self, data: bytes) -> bool:
        """Whether the sequence would hold one of the texts if it went on with these bytes."""
        if not self._texts:
            return False
        window = self._tail + data
        return any(text in window for text in self._texts)

    def accept(self, data: bytes) -> None:
        """The sequence goes on with these bytes."""
        if self._kept:
            self._tail = (self._tail + data)[-self._kept :]
