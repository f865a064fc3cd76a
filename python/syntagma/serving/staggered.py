"""Middleware: admits four requests per iteration of the event loop, so that answers under way go on."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["Staggered"]

_BEGIN = 4
"""requests that may begin in one iteration of the event loop; to begin takes about a millisecond"""


class Staggered:
    """An ASGI application around another, which few requests enter in each iteration of the event loop.

    Without it, hundreds of requests that come at once would pass through each stage side by side, and a piece of an
    answer would wait for all of them.

    Args:
        app: the other application.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._begun = 0
        """the requests that have begun in this iteration"""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; see ASGI."""
        if scope["type"] == "http":
            await self._wait_for_place()
        await self._app(scope, receive, send)

    async def _wait_for_place(self) -> None:
        loop = asyncio.get_running_loop()
        if not self._begun:
            loop.call_soon(self._next_iteration)
        if self._begun < _BEGIN:
            self._begun += 1
            return
        waiting = loop.create_future()
        self._waiting.append(waiting)
        await waiting

    def _next_iteration(self) -> None:
        self._begun = 0
        while self._waiting and self._begun < _BEGIN:
            waiting = self._waiting.popleft()
            if not waiting.done():  # else its task was cancelled
                waiting.set_result(None)
                self._begun += 1
        if self._begun:
            asyncio.get_running_loop().call_soon(self._next_iteration)
