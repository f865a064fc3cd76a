"""Excludes texts from an answer, for any way of cutting them into tokens."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["ExcludedTexts"]


class ExcludedTexts:
    """Finds out whether a next token would complete an excluded text. For one sequence.

    Args:
        texts: the excluded texts, not empty; compared by their UTF-8 bytes.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = tuple(text.encode() for text in texts)
        self._kept = max(map(len, self._texts), default=1) - 1
        self._tail = b""

    def completes(self, data: bytes) -> bool:
        """Whether the sequence would contain an excluded text if these bytes were appended."""
        if not self._texts:
            return False
        window = self._tail + data
        return any(text in window for text in self._texts)

    def accept(self, data: bytes) -> None:
        """Append these bytes to the sequence."""
        if self._kept:
            self._tail = (self._tail + data)[-self._kept :]
