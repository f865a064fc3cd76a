"""A cache of values by key, bounded by their size."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from syntagma.forks import ForkSafeLock

__all__ = ["LruCache"]

_T = TypeVar("_T")


class LruCache(Generic[_T]):
    """Values by key, at most `max_bytes` together; the least recently used ones are dropped first.

    Every method may be called from many threads at once; two that ask for the same new value both make it. A forked
    child that cannot trust the values begins with none.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._values: OrderedDict[Hashable, tuple[_T, int]] = OrderedDict()
        self._guard = ForkSafeLock(self._clear)

    def get(self, key: Hashable, size: int, make: Callable[[], _T]) -> _T:
        """The value of a key, which takes `size` bytes; `make` gives it if it is not in the cache."""
        with self._guard.lock:
            found = self._values.get(key)
            if found is not None:
                self._values.move_to_end(key)
                return found[0]
        value = make()
        with self._guard.lock:
            if key not in self._values and size <= self._max_bytes:
                self._values[key] = value, size
                self._bytes += size
                while self._bytes > self._max_bytes:
                    self._bytes -= self._values.popitem(last=False)[1][1]
        return value

    def _clear(self) -> None:
        self._values = OrderedDict()
        self._bytes = 0
