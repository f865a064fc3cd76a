"""A stream of server-sent events as an ASGI answer, which no client can hold for nothing."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Mapping
from typing import TYPE_CHECKING

from starlette.requests import ClientDisconnect

from syntagma.errors import RequestError
from syntagma.limits import Limits
from syntagma.serving.dialect import Writer
from syntagma.serving.disconnects import unless_gone
from syntagma.serving.sse import COMMENT

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

__all__ = ["EventStream"]

_log = logging.getLogger("syntagma.serving")
_QUIET_S = 10.0
"""after so many seconds without an event a comment goes out, so that nobody between server and client gives up"""
_GRACE_S = 5.0
"""by so much the server under this one is given the precedence, which can close the connection as well"""
_LAST_WORDS_S = 1.0
_AT_ONCE = 16
"""events that go out before others have their turn, where many are there already"""


class EventStream:
    """The ASGI answer that forwards events as they come, and comments as long as none does.

    Args:
        answer: the events.
        first: takes the first one.
        writer: says that a stream has failed.
        headers: beside those of all such streams.
        place: what is given back at the end.
        limits: how long a client may read nothing.
    """

    def __init__(
        self,
        answer: AsyncGenerator[bytes, None],
        first: asyncio.Task[bytes],
        *,
        writer: Writer,
        headers: Mapping[str, str],
        place: contextlib.ExitStack,
        limits: Limits,
    ) -> None:
        self._answer = answer
        self._first = first
        self._writer = writer
        self._place = place
        self._patience = limits.server_write_seconds + _GRACE_S
        self._headers = {
            "content-type": "text/event-stream; charset=utf-8",
            "cache-control": "no-cache",
            "x-accel-buffering": "no",
            **headers,
        }
        self._last = 0.0
        """when something was sent, on the event loop's clock"""

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        """Send it; see ASGI. What is cut off by the end of the server says so."""
        with self._place:
            try:
                # A client that is gone, and one that reads nothing, need no more.
                with contextlib.suppress(ClientDisconnect, OSError):
                    await unless_gone(receive, self._send(send))
            except asyncio.CancelledError:
                with contextlib.suppress(Exception):
                    await asyncio.wait_for(self._end(send, self._failed(_shutdown())), _LAST_WORDS_S)
                raise
            finally:
                await closed(self._answer, self._first)

    async def _send(self, send: Send) -> None:
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in self._headers.items()]
        async with asyncio.timeout(self._patience):
            await send({"type": "http.response.start", "status": 200, "headers": raw})
        if not self._first.done():
            await self._put(send, COMMENT)
        comments = asyncio.ensure_future(self._comment(send))
        try:
            item = await self._next(self._first)
            sent = 0
            while item is not None:
                await self._put(send, item)
                sent += 1
                if sent % _AT_ONCE == 0:
                    await asyncio.sleep(0)
                item = await self._next(anext(self._answer, None))
        finally:
            comments.cancel()
        await self._end(send)

    async def _put(self, send: Send, data: bytes) -> None:
        self._last = asyncio.get_running_loop().time()
        async with asyncio.timeout(self._patience):
            await send({"type": "http.response.body", "body": data, "more_body": True})

    async def _end(self, send: Send, data: bytes = b"") -> None:
        async with asyncio.timeout(self._patience):
            await send({"type": "http.response.body", "body": data, "more_body": False})

    async def _comment(self, send: Send) -> None:
        now = asyncio.get_running_loop().time
        while True:
            await asyncio.sleep(self._last + _QUIET_S - now())
            if now() >= self._last + _QUIET_S:
                await self._put(send, COMMENT)

    async def _next(self, item: Awaitable[bytes | None]) -> bytes | None:
        try:
            return await item
        except Exception as error:
            return self._failed(error)

    def _failed(self, error: BaseException) -> bytes:
        if not isinstance(error, RequestError):
            _log.error("a stream failed", exc_info=error)
        return self._writer.failed(error)


async def closed(answer: AsyncGenerator[bytes, None], first: asyncio.Task[bytes]) -> None:
    """Stop an answer, whether or not its first item is there."""
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    await answer.aclose()


def _shutdown() -> RequestError:
    return RequestError("E-REQUEST-SHUTDOWN", "the server ends", status=503)
