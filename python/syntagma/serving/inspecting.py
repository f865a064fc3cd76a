"""The inspector's page, as routes of a server."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from syntagma.errors import RequestError
from syntagma.inspector import Inspector, answer
from syntagma.inspector.pages import BODY_BYTES, PAGE_FILES, Reply, page_file, refused
from syntagma.limits import Limits
from syntagma.serving.admission import Admission
from syntagma.serving.body import check_values
from syntagma.serving.disconnects import unless_gone
from syntagma.serving.model import ServedModel

__all__ = ["PAGE_PATHS", "InspectorPage"]

_PREFIX: Final = "/inspector"
_WAITING: Final = 8
"""requests of pages that are being answered or wait; further ones are refused"""
PAGE_PATHS: Final = frozenset({_PREFIX, f"{_PREFIX}/", *(f"{_PREFIX}/{name}" for name in PAGE_FILES)})
"""the page itself, which needs no key: a browser opens it before it can show one"""


class InspectorPage:
    """The page and its requests.

    Its work has one thread of its own and a bounded queue, so that templates and grammars that are tried there do not
    hold up clients of the model.

    Args:
        model: a model that computes in this process.
        admission: bounds what all requests of the server hold together.
        limits: bounds on one request.
    """

    def __init__(self, model: ServedModel, admission: Admission, limits: Limits) -> None:
        self._model = model
        self._admission = admission
        self._limits = limits
        self._threads = ThreadPoolExecutor(max_workers=1, thread_name_prefix="syntagma-inspect")
        self._waiting = 0

    def routes(self) -> list[Route]:
        """The routes of the page."""
        return [
            Route(_PREFIX, self._to_page, methods=["GET"], include_in_schema=False),
            Route(_PREFIX + "/{path:path}", self._answer, methods=["GET", "POST"], include_in_schema=False),
        ]

    def close(self) -> None:
        """Stop the thread; requests that wait for it never begin."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        if "_inspector" in vars(self):
            self._inspector.close()

    @functools.cached_property
    def _inspector(self) -> Inspector:
        # Made when the page is first opened; on most servers it never is.
        return Inspector(self._model.model.generator.backend, self._model.codec)

    async def _to_page(self, _: Request) -> Response:
        # Behind a proxy the page may have another prefix: only the last segment of the path is known.
        return RedirectResponse("inspector/", status_code=307)

    async def _answer(self, request: Request) -> Response:
        path = request.path_params["path"]
        if request.method == "GET" and not path.startswith("api/"):
            return _response(page_file(path))
        try:
            with contextlib.ExitStack() as held:
                body = await self._admission.body(request, held) if request.method == "POST" else None
                held.enter_context(self._admission.place())
                reply = await unless_gone(request.receive, self._in_turn(path, body))
        except RequestError as error:
            reply = refused(error)
        return _response(reply)

    async def _in_turn(self, path: str, body: bytes | None) -> Reply:
        if self._waiting >= _WAITING:
            raise RequestError("E-REQUEST-BUSY", "too many pages of the inspector are asking", status=429)
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._reply, path, body)
        finally:
            self._waiting -= 1

    def _reply(self, path: str, body: bytes | None) -> Reply:
        if body is not None and len(body) <= BODY_BYTES:
            check_values(body, self._limits)
        return answer(self._inspector, path, body)


def _response(reply: Reply) -> Response:
    return Response(reply.body, status_code=reply.status, headers=reply.headers)
