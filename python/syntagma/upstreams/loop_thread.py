"""An event loop in a background thread, one per process, for callers without an event loop."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, Coroutine, Iterator
from concurrent.futures import Future
from typing import Any, TypeVar

from syntagma.forks import ForkSafeLock

__all__ = ["iterate", "wait"]

T = TypeVar("T")
_END: Any = object()


class _Loop:
    """The loop, created at first use. A forked child creates its own, because threads do not survive a fork."""

    def __init__(self) -> None:
        self._guard = ForkSafeLock(lambda: None)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._process = 0

    def get(self) -> asyncio.AbstractEventLoop:
        with self._guard.lock:
            if self._loop is None or self._process != os.getpid():
                self._loop = asyncio.new_event_loop()
                self._process = os.getpid()
                threading.Thread(target=self._loop.run_forever, name="syntagma-upstreams", daemon=True).start()
            return self._loop


_LOOP = _Loop()


def wait(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in the loop and return its result. An interrupt cancels it."""
    return _result(asyncio.run_coroutine_threadsafe(work, _LOOP.get()))


def iterate(items: AsyncGenerator[T, None]) -> Iterator[T]:
    """The items of an asynchronous generator. Closing this iterator closes the generator."""
    try:
        while (item := wait(_next(items))) is not _END:
            yield item
    finally:
        wait(_close(items))


def _result(future: Future[T]) -> T:
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


async def _next(items: AsyncGenerator[T, None]) -> T:
    return await anext(items, _END)


async def _close(items: AsyncGenerator[Any, None]) -> None:
    await items.aclose()
