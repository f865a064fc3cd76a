"""Gives memory that long requests have freed back to the system; the C library would keep most of it."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import functools
import sys
from collections.abc import Callable
from concurrent.futures import Executor

__all__ = ["FreedMemory"]

_PAUSE_S = 0.5
"""seconds to wait, so that the answer is sent and its body freed, and several requests go together"""


class FreedMemory:
    """Gives memory back after long requests, in a thread, since that takes milliseconds.

    Args:
        threads: run it.
    """

    def __init__(self, threads: Executor) -> None:
        self._threads = threads
        self._is_due = False

    def give_back_soon(self) -> None:
        """Give memory back after a pause; call it from the event loop."""
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_later(_PAUSE_S, self._give_back)

    def _give_back(self) -> None:
        self._is_due = False
        # The threads of a server that ends take no further work.
        with contextlib.suppress(RuntimeError):
            self._threads.submit(give_back)


def give_back() -> None:
    """Give all free pages back; does nothing if the C library is not glibc."""
    trim = _trim()
    if trim is not None:
        trim(0)


@functools.cache
def _trim() -> Callable[[int], int] | None:
    # Other systems have no such function, and Windows not even a library to ask.
    return getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
