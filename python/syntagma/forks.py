"""Locks that stay usable in a forked child."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from weakref import WeakSet

__all__ = ["ForkSafeLock"]


class ForkSafeLock:
    """A reentrant lock, `lock`, that is free in a forked child.

    A child of `os.fork` has only one thread. If another thread held the lock, its work stays unfinished and the lock
    would never be released, so the child gets a new lock.

    Args:
        forget: restores the guarded state in the child if a thread held the lock.
    """

    __slots__ = ("__weakref__", "_forget", "lock")

    def __init__(self, forget: Callable[[], None]) -> None:
        self.lock = threading.RLock()
        self._forget = forget
        _LOCKS.add(self)

    def renew(self) -> None:
        """Make the lock free, in a child."""
        if self.lock.acquire(blocking=False):
            self.lock.release()
        else:
            self.lock = threading.RLock()
            self._forget()


_LOCKS: WeakSet[ForkSafeLock] = WeakSet()


def _renew_all() -> None:
    for lock in list(_LOCKS):
        lock.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
