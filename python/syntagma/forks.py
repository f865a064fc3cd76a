"""Locks that a forked child can take."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from weakref import WeakSet

__all__ = ["ForkSafeLock"]


class ForkSafeLock:
    """A reentrant lock, as `lock`, that a forked child finds free.

    A child of `os.fork` has one thread. What another thread was doing under the lock stays half done there, and the
    lock would stay locked forever; so the child gets a new one.

    Args:
        forget: puts what the lock guards into order where a thread was cut off; it is called in the child.
    """

    __slots__ = ("__weakref__", "_forget", "lock")

    def __init__(self, forget: Callable[[], None]) -> None:
        self.lock = threading.RLock()
        self._forget = forget
        _LOCKS.add(self)

    def renew(self) -> None:
        """Be free, in a child."""
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
