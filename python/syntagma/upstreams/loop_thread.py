"""An event loop in a thread of its own, for callers that have none: one for the process."""

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
    """The loop, made when it is first used; a forked child makes its own, since it has no thread."""

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
    """What a coroutine returns. An interrupt while waiting cancels it."""
    return _result(asyncio.run_coroutine_threadsafe(work, _LOOP.get()))


def iterate(items: AsyncGenerator[T, None]) -> Iterator[T]:
    """The items of an asynchronous generator, which is closed when this one is."""
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
