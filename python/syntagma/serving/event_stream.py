"""A stream of server-sent events as an ASGI answer; it ends when its client stops reading."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Awaitable, Mapping
from typing import TYPE_CHECKING

from starlette.requests import ClientDisconnect

from syntagma.errors import RequestError
from syntagma.limits import Limits
from syntagma.serving.dialect import Writer
from syntagma.serving.disconnects import unless_gone
from syntagma.serving.inner import Update
from syntagma.serving.records import Watch, note_break
from syntagma.serving.sse import COMMENT

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

__all__ = ["EventStream"]

_QUIET_S = 10.0
"""seconds without an event after which a comment is sent, so that no proxy gives up"""
_GRACE_S = 5.0
"""seconds by which the ASGI server comes first, since it can also close the connection"""
_LAST_WORDS_S = 1.0
_AT_ONCE = 16
"""updates that are sent before other tasks have a turn"""


class EventStream:
    """An ASGI answer that sends events as they come, and comments while none comes.

    Args:
        updates: those of the answer, after the first.
        first: the task that awaits the first update.
        writer: makes events from them.
        watch: hears of them.
        headers: headers beside those of all such streams.
        place: closed at the end of the stream.
        limits: how long a client may read nothing.
    """

    def __init__(
        self,
        updates: AsyncGenerator[Update, None],
        first: asyncio.Task[Update],
        *,
        writer: Writer,
        watch: Watch,
        headers: Mapping[str, str],
        place: contextlib.ExitStack,
        limits: Limits,
    ) -> None:
        self._updates = updates
        self._first = first
        self._writer = writer
        self._told = watch
        self._place = place
        self._patience = limits.server_write_seconds + _GRACE_S
        self._headers = {
            "content-type": "text/event-stream; charset=utf-8",
            "cache-control": "no-cache",
            "x-accel-buffering": "no",
            **headers,
        }
        self._now = time.monotonic
        self._last = self._now()
        """when something was last sent"""
        self._sending = False
        self._unread = False
        """whether the client has read nothing for too long"""

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        """Send it; see ASGI. A stream that the end of the server cuts off ends with an error."""
        with self._place:
            try:
                # A client that has left, or reads nothing, needs no more.
                with contextlib.suppress(ClientDisconnect, OSError):
                    await unless_gone(receive, self._send(send))
            except asyncio.CancelledError:
                with contextlib.suppress(Exception):
                    last_words = _body(self._failed(_shutdown()), more=False)
                    await asyncio.wait_for(self._put(send, last_words), _LAST_WORDS_S)
                raise
            finally:
                await closed(self._updates, self._first)

    async def _send(self, send: Send) -> None:
        task = asyncio.current_task()
        assert task is not None
        watching = asyncio.ensure_future(self._watch(send, task))
        try:
            await self._send_all(send)
        except asyncio.CancelledError:
            if self._unread:
                raise TimeoutError from None
            raise
        finally:
            watching.cancel()
            # A task that is cancelled refers to its error, which refers to this frame by its traceback. These cycles
            # would keep the answer until the next garbage collection.
            del task, watching

    async def _send_all(self, send: Send) -> None:
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in self._headers.items()]
        await self._put(send, {"type": "http.response.start", "status": 200, "headers": raw})
        if not self._first.done():
            await self._put(send, _body(COMMENT))
        seen = 0
        coming: Awaitable[Update] | None = self._first
        while coming is not None:
            try:
                update = await coming
                self._told.saw(update)
                events = list(self._writer.stream(update))
                coming = anext(self._updates)
            except StopAsyncIteration:
                events, coming = list(self._writer.end()), None
            except Exception as error:
                events, coming = [self._failed(error)], None
            if events or coming is None:
                await self._put(send, _body(b"".join(events), more=coming is not None))
            seen += 1
            if seen % _AT_ONCE == 0:
                await asyncio.sleep(0)

    async def _put(self, send: Send, message: Message) -> None:
        self._last = self._now()
        self._sending = True
        await send(message)
        self._sending = False

    async def _watch(self, send: Send, task: asyncio.Task[None]) -> None:
        """Send comments while no event comes, and end a stream that nobody reads."""
        try:
            while True:
                due = self._last + (self._patience if self._sending else _QUIET_S)
                await asyncio.sleep(min(max(due - self._now(), 0.0), self._patience, _QUIET_S))
                if self._sending and self._now() >= self._last + self._patience:
                    self._unread = True
                    task.cancel()
                    return
                if not self._sending and self._now() >= self._last + _QUIET_S:
                    await self._put(send, _body(COMMENT))
        finally:
            # As in `_send`: the two tasks would refer to each other.
            del task

    def _failed(self, error: BaseException) -> bytes:
        note_break(error)
        return self._writer.failed(error)


async def closed(updates: AsyncGenerator[Update, None], first: asyncio.Task[Update]) -> None:
    """Stop an answer, whether or not it has begun."""
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    await updates.aclose()


def _body(data: bytes, *, more: bool = True) -> Message:
    return {"type": "http.response.body", "body": data, "more_body": more}


def _shutdown() -> RequestError:
    return RequestError("E-REQUEST-SHUTDOWN", "the server ends", status=503)
