"""An iterator that runs in a worker thread and is read from the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Executor
from typing import Generic, TypeVar

__all__ = ["ThreadStream"]

T = TypeVar("T")


class _End:
    """The iterator is over, or raised `error`."""

    def __init__(self, error: BaseException | None) -> None:
        self.error = error


class ThreadStream(Generic[T]):
    """Runs `make(cancelled)` in `executor`, which may queue it, and hands its items to the event loop.

    `make` looks at `cancelled` between its items and ends soon after it is set. What it raises is raised to the reader.
    """

    def __init__(self, executor: Executor, make: Callable[[threading.Event], Iterator[T]]) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[T | _End] = asyncio.Queue()
        self._cancelled = threading.Event()
        self._over = False
        self._make = make
        self._future = executor.submit(self._run)

    def cancel(self, error: BaseException | None = None) -> None:
        """Ask the worker to stop; one that has not begun never begins. The reader gets `error`, or the end."""
        self._cancelled.set()
        self._future.cancel()
        self._queue.put_nowait(_End(error))

    def __aiter__(self) -> AsyncIterator[T]:
        return self

    async def __anext__(self) -> T:
        if self._over:
            raise StopAsyncIteration
        item = await self._queue.get()
        if isinstance(item, _End):
            self._over = True
            if item.error is not None:
                raise item.error
            raise StopAsyncIteration
        return item

    def _run(self) -> None:
        error: BaseException | None = None
        try:
            if not self._cancelled.is_set():
                for item in self._make(self._cancelled):
                    self._put(item)
        except BaseException as raised:
            error = raised
        self._put(_End(error))

    def _put(self, item: T | _End) -> None:
        # The loop may be gone while a worker finishes its last token at shutdown.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._queue.put_nowait, item)
