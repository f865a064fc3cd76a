"""Gives memory that requests have freed back to the system; the C library would keep most of it."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import functools
import math
import mmap
import sys
from collections.abc import Callable
from pathlib import Path

__all__ = ["FreedMemory"]

_PAUSE_S = 0.5
"""seconds to wait, so that the answer is sent and its body freed, and several requests go together"""
_GROWTH = 16 << 20
"""bytes by which the process has grown that are reason enough to give memory back"""
_SELDOM_S = 10.0
"""seconds after which memory is given back without this reason"""


class FreedMemory:
    """Gives memory back after requests, in a thread, since that takes milliseconds: soon where the process has grown by
    them, otherwise seldom.
    """

    def __init__(self) -> None:
        self._is_due = False
        self._kept = 0
        """the least that the process has held since memory was last given back, bytes"""
        self._given_back = -math.inf
        """the time at which that was, by the clock of the event loop"""

    def request_ended(self) -> None:
        """Note that a request has let go of its memory; call it from the event loop."""
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_later(_PAUSE_S, self._look)

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        now, held = loop.time(), held_memory()
        if held <= self._kept + _GROWTH and now < self._given_back + _SELDOM_S:
            self._kept = min(held, self._kept)
            loop.call_later(_PAUSE_S, self._look)
            return
        self._is_due = False
        self._given_back = now
        # The threads of a loop that ends take no further work.
        with contextlib.suppress(RuntimeError):
            loop.run_in_executor(None, self._give_back)

    def _give_back(self) -> None:
        give_back()
        self._kept = held_memory()


def give_back() -> None:
    """Give all free pages back; does nothing if the C library is not glibc."""
    trim = _trim()
    if trim is not None:
        trim(0)


def held_memory() -> int:
    """The memory that the process holds, bytes; 0 where the system does not tell it as Linux does."""
    if sys.platform != "linux":
        return 0
    return int(Path("/proc/self/statm").read_bytes().split()[1]) * mmap.PAGESIZE


@functools.cache
def _trim() -> Callable[[int], int] | None:
    # Other systems have no such function, and Windows not even a library to ask.
    return getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
