"""The ASGI application: routes, admission, and the bridge between the event loop and the generating threads."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from syntagma.errors import RequestError, SyntagmaError
from syntagma.serving.chat import ChatRun
from syntagma.serving.errors import error_body, error_response, json_response
from syntagma.serving.model import ServedModel
from syntagma.serving.requests import CheckedRequest, read_chat_request
from syntagma.serving.settings import Settings
from syntagma.serving.sse import event
from syntagma.serving.threads import ThreadStream
from syntagma.serving.wire import Model, ModelList

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["create_app"]

_log = logging.getLogger("syntagma.serving")
_IGNORED_HEADER = "x-syntagma-ignored"
_IGNORED_NAMED = 32


def create_app(model: ServedModel, settings: Settings = Settings()) -> ASGIApp:  # noqa: B008 - frozen
    """An OpenAI-compatible ASGI application for one model; run it with any ASGI server, or mount it into another."""
    server = _Server(model, settings)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        server.close()

    return Starlette(
        routes=[
            Route("/health", server.health, methods=["GET"]),
            Route("/v1/models", server.models, methods=["GET"]),
            Route("/v1/models/{name:path}", server.one_model, methods=["GET"]),
            Route("/v1/chat/completions", server.chat, methods=["POST"]),
        ],
        exception_handlers={HTTPException: _refused},
        lifespan=lifespan,
    )


async def _refused(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    code, text = {
        404: ("E-REQUEST-ROUTE", f"there is no {request.url.path}"),
        405: ("E-REQUEST-METHOD", f"{request.url.path} does not take {request.method}"),
    }.get(status, ("E-REQUEST-HTTP", "the request cannot be served"))
    response = error_response(RequestError(code, text, status=status))
    response.headers.update(getattr(error, "headers", None) or {})
    return response


class _Server:
    """The endpoints, with what they share."""

    def __init__(self, model: ServedModel, settings: Settings) -> None:
        self._model = model
        self._settings = settings
        self._threads = ThreadPoolExecutor(max_workers=settings.parallel, thread_name_prefix="syntagma-generate")
        self._active = 0

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._model.model.close()

    async def health(self, _: Request) -> Response:
        return json_response({"status": "ok"})

    async def models(self, _: Request) -> Response:
        return json_response(ModelList(data=[self._card()]))

    async def one_model(self, request: Request) -> Response:
        if request.path_params["name"] != self._model.name:
            return error_response(_unknown_model(request.path_params["name"]))
        return json_response(self._card())

    def _card(self) -> Model:
        return Model(id=self._model.name, created=self._model.created)

    async def chat(self, request: Request) -> ASGIApp:
        try:
            checked = read_chat_request(await self._body(request), self._settings)
            if checked.body.model is not None and checked.body.model != self._model.name:
                raise _unknown_model(checked.body.model)
            return await self._run(request, checked)
        except ClientDisconnect:
            return Response(status_code=499)
        except Exception as error:
            return _failed(error)

    async def _body(self, request: Request) -> bytes:
        allowed = self._settings.limits.server_body_bytes
        body = bytearray()
        async for piece in request.stream():
            body += piece
            if len(body) > allowed:
                raise RequestError("E-REQUEST-BODY", f"the body is larger than {allowed} bytes", status=413)
        return bytes(body)

    async def _run(self, request: Request, checked: CheckedRequest) -> ASGIApp:
        if self._active >= self._settings.limits.server_streams:
            raise RequestError("E-REQUEST-BUSY", "too many requests are being served", status=429)
        run = ChatRun(self._model, checked)
        streams = bool(checked.body.stream)
        self._active += 1
        answer = _Answer(self._threads, run.stream if streams else run.whole, request.receive, self._finished)
        try:
            first = await answer.first()
        except BaseException:
            answer.close()
            raise
        headers = _ignored_header(checked.ignored)
        if streams:
            return _EventStream(answer, first, headers)
        answer.close()
        return Response(first, headers=headers, media_type="application/json")

    def _finished(self) -> None:
        self._active -= 1


def _failed(error: Exception) -> Response:
    status, _ = error_body(error)
    if status == 500:
        _log.error("a chat completion failed", exc_info=error)
    return error_response(error)


def _unknown_model(name: str) -> SyntagmaError:
    return RequestError("E-REQUEST-MODEL", f"the model {name!r} is not served here", status=404, pointer="/model")


def _ignored_header(names: tuple[str, ...]) -> dict[str, str]:
    if not names:
        return {}
    # A client chooses the names: only letters that cannot end a header line go out as they are.
    return {_IGNORED_HEADER: ", ".join(quote(name[:64], safe="") for name in names[:_IGNORED_NAMED])}


class _Answer:
    """A run in a worker thread, stopped when its client goes away."""

    def __init__(
        self,
        threads: ThreadPoolExecutor,
        make: Callable[[threading.Event], Iterator[bytes]],
        receive: Receive,
        finished: Callable[[], None],
    ) -> None:
        self._stream = ThreadStream(threads, make)
        self._finished = finished
        self._watch = asyncio.ensure_future(self._until_disconnect(receive))
        self._closed = False

    async def next(self) -> bytes | None:
        """The next bytes; None at the end.

        Raises:
            ClientDisconnect: the client is gone.
        """
        return await anext(self._stream, None)

    async def first(self) -> bytes:
        """The first bytes; raises like `next`."""
        item = await self.next()
        if item is None:
            raise RuntimeError("a run ended without an answer")
        return item

    def close(self) -> None:
        """Stop the worker if it still runs, and free the place it took."""
        if not self._closed:
            self._closed = True
            self._watch.cancel()
            self._stream.cancel()
            self._finished()

    async def _until_disconnect(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._stream.cancel(ClientDisconnect())


class _EventStream:
    """The ASGI answer that forwards events as they come."""

    def __init__(self, answer: _Answer, first: bytes, headers: dict[str, str]) -> None:
        self._answer = answer
        self._first = first
        self._headers = {
            "content-type": "text/event-stream; charset=utf-8",
            "cache-control": "no-cache",
            "x-accel-buffering": "no",
            **headers,
        }

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in self._headers.items()]
        try:
            await send({"type": "http.response.start", "status": 200, "headers": raw})
            item: bytes | None = self._first
            while item is not None:
                await send({"type": "http.response.body", "body": item, "more_body": True})
                item = await self._next()
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except (ClientDisconnect, OSError):
            return
        finally:
            self._answer.close()

    async def _next(self) -> bytes | None:
        try:
            return await self._answer.next()
        except ClientDisconnect:
            raise
        except Exception as error:
            _log.error("a stream failed", exc_info=error)
            return event({"error": error_body(error)[1]})
