"""The inspector's page, as routes of a server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import lru_cache

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from syntagma.inspector import Inspector, answer
from syntagma.inspector.pages import BODY_BYTES
from syntagma.serving.model import ServedModel

__all__ = ["inspector_routes"]

_PREFIX = "/inspector"


def inspector_routes(model: ServedModel) -> list[Route]:
    """The page and what it asks; its work is done in threads.

    Args:
        model: a model that computes in this process.
    """

    @lru_cache(maxsize=1)
    def inspector() -> Inspector:
        # Made when the page is first opened: most servers are never looked at.
        return Inspector(model.model.generator.backend, model.codec)

    async def page(request: Request) -> Response:
        body = await _body(request) if request.method == "POST" else None
        path = request.path_params["path"]
        reply = await asyncio.to_thread(lambda: answer(inspector(), path, body))
        return Response(reply.body, status_code=reply.status, headers=reply.headers)

    async def to_page(_: Request) -> Response:
        # Behind a proxy the page may have another prefix: only the last step is known.
        return RedirectResponse("inspector/", status_code=307)

    endpoint: Callable[[Request], Awaitable[Response]] = page
    return [
        Route(_PREFIX, to_page, methods=["GET"], include_in_schema=False),
        Route(_PREFIX + "/{path:path}", endpoint, methods=["GET", "POST"], include_in_schema=False),
    ]


async def _body(request: Request) -> bytes:
    """The body, and no more of it than tells that it is too long."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > BODY_BYTES:
            break
    return bytes(body)
