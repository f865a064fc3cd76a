"""Runs streams concurrently and yields their items in the order of the streams."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Generic, TypeVar

__all__ = ["concurrent_chain"]

T = TypeVar("T")


class _End:
    """The end of a stream; `error`: the exception that ended it, or None."""

    def __init__(self, error: BaseException | None) -> None:
        self.error = error


class _Ahead(Generic[T]):
    """A stream that runs before it is read; its items wait in a queue."""

    def __init__(self, items: AsyncGenerator[T, None]) -> None:
        self.queue: asyncio.Queue[T | _End] = asyncio.Queue()
        self.task = asyncio.ensure_future(self._run(items))

    async def _run(self, items: AsyncGenerator[T, None]) -> None:
        error: BaseException | None = None
        try:
            async with aclosing(items):
                async for item in items:
                    self.queue.put_nowait(item)
        except Exception as raised:
            error = raised
        self.queue.put_nowait(_End(error))


async def concurrent_chain(streams: Sequence[AsyncGenerator[T, None]]) -> AsyncGenerator[T, None]:
    """The items of the first stream as they come, then those of the second, and so on, while all of them run.

    An exception of a stream is raised when its turn comes. Closing this closes all of them.
    """
    running = [_Ahead(one) for one in streams]
    try:
        for one in running:
            while not isinstance(item := await one.queue.get(), _End):
                yield item
            if item.error is not None:
                raise item.error
    finally:
        for one in running:
            one.task.cancel()
        await asyncio.gather(*(one.task for one in running), return_exceptions=True)
