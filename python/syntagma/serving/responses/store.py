"""Stored answers, from which a later request can go on."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any, NamedTuple

from syntagma.errors import RequestError

__all__ = ["ResponseStore", "Stored"]


class Stored(NamedTuple):
    """An answer, and the conversation up to and including it."""

    body: bytes
    """the answer as it was sent"""
    messages: tuple[dict[str, Any], ...]
    """the conversation as the codec takes it, without instructions"""
    size: int
    """the bytes that it counts for"""


class ResponseStore:
    """Stores answers by their ids, and drops the least recently used. Threads may share it.

    Args:
        max_bytes: the bytes that all of them may have together; 0: none is stored.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._lock = threading.RLock()
        self._kept: OrderedDict[str, Stored] = OrderedDict()

    def put(self, key: str, stored: Stored) -> None:
        """Store an answer, and drop older ones for it. An answer above `max_bytes` is not stored."""
        if stored.size > self._max_bytes:
            return
        with self._lock:
            self._kept[key] = stored
            self._bytes += stored.size
            while self._bytes > self._max_bytes:
                self._bytes -= self._kept.popitem(last=False)[1].size

    def get(self, key: str, pointer: str | None = None) -> Stored:
        """A stored answer.

        Args:
            key: the answer's id.
            pointer: the pointer of the field that names it.

        Raises:
            RequestError: `E-REQUEST-RESPONSE`, it is not stored.
        """
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        raise RequestError(
            "E-REQUEST-RESPONSE",
            f"there is no response {key!r}",
            hint="it was made with `store: false`, deleted, or dropped for later ones",
            status=404,
            pointer=pointer,
        )

    def delete(self, key: str) -> None:
        """Drop an answer; raises as `get`."""
        with self._lock:
            self._bytes -= self.get(key).size
            del self._kept[key]
