"""Stored answers, from which a later request can go on."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from syntagma.errors import RequestError

__all__ = ["Keeping", "ResponseStore", "Stored", "items_of"]


class Stored(NamedTuple):
    """An answer, and the conversation up to and including it."""

    body: bytes
    """the answer as it was sent"""
    items: tuple[dict[str, Any], ...]
    """the items of the input, and of the conversation before it"""
    output: tuple[dict[str, Any], ...]
    """the items of the answer"""
    messages: tuple[dict[str, Any], ...]
    """the conversation as the codec takes it, without instructions"""

    @property
    def all_items(self) -> tuple[dict[str, Any], ...]:
        """The items of the conversation up to and including the answer."""
        return (*self.items, *self.output)

    @property
    def size(self) -> int:
        """The bytes that it counts for."""
        return len(self.body) + len(msgspec.json.encode(self.items)) + len(msgspec.json.encode(self.messages))


def items_of(given: str | Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The items of an input, each with an id."""
    if isinstance(given, str):
        given = [{"role": "user", "content": [{"type": "input_text", "text": given}]}]
    return [
        {"id": f"item_{secrets.token_hex(24)}", "type": "message"} | {k: v for k, v in item.items() if v is not None}
        for item in given
    ]


class ResponseStore:
    """Stores answers by their ids, and drops the least recently used. Threads may share it.

    Args:
        max_bytes: the bytes that all of them may have together; 0: none is stored.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._sizes: dict[str, int] = {}
        self._lock = threading.RLock()
        self._kept: OrderedDict[str, Stored] = OrderedDict()

    def put(self, key: str, stored: Stored) -> None:
        """Store an answer, and drop older ones for it. An answer above `max_bytes` is not stored."""
        size = stored.size
        if size > self._max_bytes:
            return
        with self._lock:
            self._kept[key] = stored
            self._sizes[key] = size
            self._bytes += size
            while self._bytes > self._max_bytes:
                self._drop(next(iter(self._kept)))

    def _drop(self, key: str) -> None:
        del self._kept[key]
        self._bytes -= self._sizes.pop(key)

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

    def item(self, item_id: Any, pointer: str) -> dict[str, Any]:
        """The item of a stored answer, or of its input.

        Args:
            item_id: the item's id.
            pointer: the pointer of the field that names it.

        Raises:
            RequestError: `E-REQUEST-RESPONSE`, 404: there is none.
        """
        with self._lock:
            for stored in reversed(self._kept.values()):
                for item in stored.all_items:
                    if item.get("id") == item_id:
                        return item
        hint = "its response was made with `store: false`, deleted, or dropped for later ones"
        message = f"there is no item {item_id!r}"
        raise RequestError("E-REQUEST-RESPONSE", message, hint=hint, status=404, pointer=pointer)

    def delete(self, key: str) -> None:
        """Drop an answer; raises as `get`."""
        with self._lock:
            self.get(key)
            self._drop(key)


class Keeping(NamedTuple):
    """Where an answer is stored, and what is stored with it."""

    store: ResponseStore
    items: Sequence[dict[str, Any]]
    """see `Stored`"""
    conversation: Sequence[dict[str, Any]]
    """the messages before the answer"""
