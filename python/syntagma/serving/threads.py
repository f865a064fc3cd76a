"""Streams that a worker thread writes and the event loop reads."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Executor
from contextvars import copy_context
from typing import Generic, TypeVar

__all__ = ["ThreadStream", "put_all"]

T = TypeVar("T")
_MOST = 64
"""items that wait for their reader, at most"""


class _End:
    """The end of a stream; `error`: the exception that ended it, or None."""

    def __init__(self, error: BaseException | None) -> None:
        self.error = error


class ThreadStream(Generic[T]):
    """Runs `work(stream)` in `executor`, which may queue it; the event loop reads what is put into the stream.

    `work` checks `cancelled` between items, and ends soon after it is set. The reader gets its exceptions.

    Attributes:
        cancelled: set when nobody reads any more.
        on_room: called in the event loop when the reader has caught up after there was no room, and when the stream is
            cancelled. By default it lets `put` go on.
    """

    def __init__(self, executor: Executor, work: Callable[[ThreadStream[T]], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[T | _End] = asyncio.Queue()
        self.cancelled = threading.Event()
        self._put = self._read = 0
        """items so far; the writer alone changes `_put` and the reader alone `_read`, so that no lock is needed"""
        self._is_awaited = False
        """whether the writer waits for room"""
        self._has_room = threading.Event()
        self.on_room: Callable[[], None] = self._has_room.set
        self._over = False
        self._work = work
        self._future = executor.submit(copy_context().run, self._run)

    def cancel(self, error: BaseException | None = None) -> None:
        """Ask the worker to stop; one that has not begun never begins. The reader gets `error`, or the end."""
        self.cancelled.set()
        self._future.cancel()
        self._queue.put_nowait(_End(error))
        self.on_room()

    async def aclose(self) -> None:
        """Stop; see `cancel`."""
        self.cancel()

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
        self._read += 1
        if self._is_awaited and self._put - self._read <= _MOST // 2:
            self._is_awaited = False
            self.on_room()
        return item

    def _run(self) -> None:
        error: BaseException | None = None
        try:
            if not self.cancelled.is_set():
                self._work(self)
        except BaseException as raised:
            error = raised
        _call(self._loop, self._queue.put_nowait, _End(error))

    def room(self) -> int:
        """How many items may be put before the reader must catch up; if it is 0, `on_room` is called when it has."""
        # Set before the count: else the reader could catch up in between and call nobody.
        self._is_awaited = True
        room = max(_MOST - (self._put - self._read), 0)
        if room:
            self._is_awaited = False
        return room

    def put(self, item: T) -> None:
        """Hand an item to the reader, if need be after it has caught up; call it from `work`."""
        while not self.room() and not self.cancelled.is_set():
            self._has_room.wait()
            self._has_room.clear()
        put_all([(self, item)])


def put_all(items: Sequence[tuple[ThreadStream[T], T]]) -> None:
    """Hand items to the readers of several streams, even without room; each event loop is woken once."""
    loops: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Queue[T | _End], T]]] = {}
    for stream, item in items:
        stream._put += 1
        loops.setdefault(stream._loop, []).append((stream._queue, item))
    for loop, queued in loops.items():
        _call(loop, _put_queued, queued)


def _put_queued(items: Sequence[tuple[asyncio.Queue[T | _End], T]]) -> None:
    for queue, item in items:
        queue.put_nowait(item)


def _call(loop: asyncio.AbstractEventLoop, call: Callable[..., None], given: object) -> None:
    # At shutdown, the loop may be closed while a worker finishes its last token.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(call, given)
