"""The cache of keys and values of sequences that are computed together."""

from __future__ import annotations

import numpy as np

from syntagma.embedded.weights import Tensor

__all__ = ["Cache"]

_LEAST = 64
"""initial capacity of a cache in positions"""


class Cache:
    """Keys and values of one or more sequences, in rows. It grows as needed.

    Args:
        layers, kv_heads, width: sizes of the network; `width` is the width of a head.
        limit: largest number of positions of a sequence.
        rows: number of sequences at the start.

    Attributes:
        data: float32 [layers, 2, kv_heads, rows, capacity, head width]. It may have more rows and capacity than are
            used. Values after a row's end are finite.
        lengths: int64 [rows], the number of positions in each row.
    """

    def __init__(self, layers: int, kv_heads: int, width: int, limit: int, *, rows: int = 1) -> None:
        self._shape = (layers, 2, kv_heads)
        self._width = width
        self._limit = limit
        self.lengths = np.zeros(rows, np.int64)
        self.data = np.zeros((*self._shape, rows, 0, width), np.float32)

    @property
    def length(self) -> int:
        """The number of positions of the longest sequence."""
        return int(self.lengths.max(initial=0))

    def reserve(self, length: int) -> None:
        """Ensure a capacity of `length` positions in each row."""
        room = self.data.shape[4]
        if length > room:
            self._resize(self.data.shape[3], min(max(length, 2 * room, _LEAST), self._limit))

    def add(self, count: int) -> None:
        """Add empty rows after the others."""
        before = len(self.lengths)
        self.lengths = np.concatenate((self.lengths, np.zeros(count, np.int64)))
        if before + count > self.data.shape[3]:
            self._resize(max(before + count, 2 * before), self.data.shape[4])

    def drop(self, row: int) -> None:
        """Remove a row. The last row takes its place."""
        last = len(self.lengths) - 1
        if row < last:
            length = self.lengths[row] = self.lengths[last]
            self.data[:, :, :, row, :length] = self.data[:, :, :, last, :length]
        self.lengths = self.lengths[:last].copy()
        if not last:
            self.data = np.zeros((*self._shape, 0, 0, self._width), np.float32)

    def _resize(self, rows: int, room: int) -> None:
        before, length = self.data.shape[3], self.length
        grown: Tensor = np.zeros((*self._shape, rows, room, self._width), np.float32)
        grown[:, :, :, :before, :length] = self.data[:, :, :, :, :length]
        self.data = grown
