"""Stop strings over a stream of pieces: found wherever the pieces are cut, never handed out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from syntagma.errors import ArgumentError

__all__ = ["StopScanner"]

T = TypeVar("T")


class StopScanner(Generic[T]):
    """Holds pieces back while they may be the beginning of a stop string.

    The stop string that is complete first ends the stream (of two that are complete at once the one that began first),
    so the result depends on the text alone, not on how it was cut.

    Args:
        stops: texts that end the stream; empty ones are refused with `E-ARGUMENT-VALUE`.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        if any(not stop for stop in stops):
            raise ArgumentError("E-ARGUMENT-VALUE", "a stop string is not empty")
        self._stops = [(stop, stop.encode("utf-8", "replace")) for stop in dict.fromkeys(stops)]
        self._held: list[tuple[T, bytes]] = []
        self._buffer = b""
        self.found: str | None = None
        """the stop string that ended the stream, or None"""

    def push(self, item: T, data: bytes) -> list[tuple[T, bytes]]:
        """Add a piece; what comes back are the pieces that are decided, in order, the last one cut where a stop begins.

        Once `found` is set nothing more may be pushed; pieces after the beginning of the stop string are dropped.
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
        """The stream is over: everything that was held back."""
        return self._take(len(self._buffer))

    def _undecided(self) -> int:
        """How many bytes at the end of the buffer may be the beginning of a stop string."""
        longest = 0
        for _, raw in self._stops:
            for length in range(min(len(raw) - 1, len(self._buffer)), longest, -1):
                if self._buffer.endswith(raw[:length]):
                    longest = length
                    break
        return longest

    def _take(self, limit: int, *, cut: bool = False) -> list[tuple[T, bytes]]:
        """Take the pieces that end at `limit` or before; with `cut` also the part of the next one before it."""
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
