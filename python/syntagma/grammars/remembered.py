"""What was made lately, kept within a bound."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from syntagma.forks import ForkSafeLock

__all__ = ["Remembered"]

_T = TypeVar("_T")


class Remembered(Generic[_T]):
    """Values by key, at most so many bytes; those that were not asked for longest are forgotten first.

    Every method may be called from many threads at once; two that ask for the same new value both make it.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._held = 0
        self._values: OrderedDict[Hashable, tuple[_T, int]] = OrderedDict()
        self._guard = ForkSafeLock(self._forget)

    def get(self, key: Hashable, size: int, make: Callable[[], _T]) -> _T:
        """The value of a key, which takes so many bytes; `make` gives it when it is not there."""
        with self._guard.lock:
            found = self._values.get(key)
            if found is not None:
                self._values.move_to_end(key)
                return found[0]
        value = make()
        with self._guard.lock:
            if key not in self._values and size <= self._most:
                self._values[key] = value, size
                self._held += size
                while self._held > self._most:
                    self._held -= self._values.popitem(last=False)[1][1]
        return value

    def _forget(self) -> None:
        self._values = OrderedDict()
        self._held = 0
