"""Finds stop strings in a stream of pieces, for any cuts between the pieces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from syntagma.errors import ArgumentError

__all__ = ["StopScanner"]

T = TypeVar("T")


class StopScanner(Generic[T]):
    """Withholds pieces while they may be the beginning of a stop string.

    The stop string that is complete first ends the stream; of two that are complete at once, the one that began first.
    So the result depends only on the text, not on the cuts.

    Args:
        stops: texts that end the stream.

    Raises:
        ArgumentError: `E-ARGUMENT-VALUE`, a stop string is empty.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        if any(not stop for stop in stops):
            raise ArgumentError("E-ARGUMENT-VALUE", "a stop string must not be empty")
        self._stops = [(stop, stop.encode("utf-8", "replace")) for stop in dict.fromkeys(stops)]
        self._held: list[tuple[T, bytes]] = []
        self._buffer = b""
        self.found: str | None = None
        """the stop string that ended the stream, or None"""

    def push(self, item: T, data: bytes) -> list[tuple[T, bytes]]:
        """Add a piece, and return the pieces that are decided, in order.

        When a stop string is found, the last returned piece is cut where it begins, later pieces are dropped, and
        nothing more may be pushed.
        """
        if not self._stops:
            return [(item, data)]
        self._held.append((item, data))
        self._buffer += data
        matches = [(at + len(raw), at, text) for text, raw in self._stops if (at := self._buffer.find(raw)) >= 0]
        if matches:
            _, start, self.found = min(matches)
            return self._take(start, cut=True)
        return self._take(len(self._buffer) - self._undecided())

    def flush(self) -> list[tuple[T, bytes]]:
        """End the stream, and return all withheld pieces."""
        return self._take(len(self._buffer))

    def _undecided(self) -> int:
        """The number of bytes at the end of the buffer that may be the beginning of a stop string."""
        longest = 0
        for _, raw in self._stops:
            for length in range(min(len(raw) - 1, len(self._buffer)), longest, -1):
                if self._buffer.endswith(raw[:length]):
                    longest = length
                    break
        return longest

    def _take(self, limit: int, *, cut: bool = False) -> list[tuple[T, bytes]]:
        """Remove and return the pieces that end at or before `limit`; with `cut`, also the next one up to `limit`."""
        taken: list[tuple[T, bytes]] = []
        position = 0
        while self._held and position + len(self._held[0][1]) <= limit:
            taken.append(self._held.pop(0))
            position += len(taken[-1][1])
        if cut:
            if position < limit:
                item, data = self._held[0]
                taken.append((item, data[: limit - position]))
            self._held.clear()
            self._buffer = b""
        else:
            self._buffer = self._buffer[position:]
        return taken
