"""The ASGI application: routes, admission, and answers as bytes."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING
from urllib.parse import quote

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from syntagma import __version__
from syntagma.errors import RequestError
from syntagma.serving.body import decode_body, typed_body
from syntagma.serving.chat import ChatDialect
from syntagma.serving.completions import CompletionsDialect
from syntagma.serving.dialect import Dialect, Writer
from syntagma.serving.disconnects import unless_gone
from syntagma.serving.errors import error_body, error_response, json_response
from syntagma.serving.inner import Happening, InnerRequest
from syntagma.serving.messages import MessagesDialect
from syntagma.serving.metrics import metrics_response
from syntagma.serving.model import ServedModel
from syntagma.serving.models import Model, ModelList
from syntagma.serving.openapi import openapi_document
from syntagma.serving.readiness import check_ready
from syntagma.serving.records import Observer, observed
from syntagma.serving.refusals import refusal
from syntagma.serving.responses import ResponsesDialect, ResponseStore
from syntagma.serving.running import Runner
from syntagma.serving.settings import Settings
from syntagma.serving.small_answers import Deleted, Health, PromptText, TokenCount, Version
from syntagma.serving.surroundings import Surroundings
from syntagma.serving.token_endpoints import TokenizeRequest, detokenized, tokenized

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["create_app"]

_log = logging.getLogger("syntagma.serving")
_IGNORED_HEADER = "x-syntagma-ignored"
_IGNORED_NAMED = 32


def create_app(
    model: ServedModel | Sequence[ServedModel],
    settings: Settings = Settings(),  # noqa: B008 - frozen
    *,
    observers: Sequence[Observer] = (),
) -> ASGIApp:
    """An OpenAI-compatible ASGI application; run it with any ASGI server, or mount it into another.

    Args:
        model: what is served; several have different names.
        settings: how the server behaves.
        observers: are told what happens to requests, beside the server's own log, metrics and traces.
    """
    around = Surroundings(settings.operations, observers)
    server = _Server([model] if isinstance(model, ServedModel) else model, settings, around)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await server.close()

    return Starlette(
        routes=[
            Route("/health", server.health, methods=["GET"]),
            Route("/ready", _or_error(server.ready), methods=["GET"]),
            Route("/openapi.json", server.openapi, methods=["GET"]),
            Route("/metrics", server.metrics, methods=["GET"]),
            Route("/v1/models", server.models, methods=["GET"]),
            Route("/v1/models/{name:path}", server.one_model, methods=["GET"]),
            Route("/v1/chat/completions", server.answers(ChatDialect()), methods=["POST"]),
            Route("/v1/completions", server.answers(CompletionsDialect()), methods=["POST"]),
            Route("/v1/responses", server.answers(ResponsesDialect(server.store)), methods=["POST"]),
            Route("/v1/responses/{id}", server.one_response, methods=["GET", "DELETE"]),
            Route("/v1/messages", server.answers(MessagesDialect()), methods=["POST"]),
            Route("/v1/messages/count_tokens", server.count_tokens, methods=["POST"]),
            Route("/tokenize", _or_error(server.tokenize), methods=["POST"]),
            Route("/detokenize", _or_error(server.detokenize), methods=["POST"]),
            Route("/apply-template", _or_error(server.apply_template), methods=["POST"]),
            Route("/version", server.version, methods=["GET"]),
        ],
        middleware=around.middleware(),
        exception_handlers={HTTPException: _refused},
        lifespan=lifespan,
    )


def _or_error(endpoint: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint, whose exceptions become answers."""

    async def answered(request: Request) -> Response:
        try:
            return await endpoint(request)
        except Exception as error:
            return error_response(error)

    return answered


async def _refused(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    code, text = {
        404: ("E-REQUEST-ROUTE", f"there is no {request.url.path}"),
        405: ("E-REQUEST-METHOD", f"{request.url.path} does not take {request.method}"),
    }.get(status, ("E-REQUEST-HTTP", "the request cannot be served"))
    response = refusal(request.url.path, RequestError(code, text, status=status))
    response.headers.update(getattr(error, "headers", None) or {})
    return response


class _Server:
    """The endpoints, with what they share."""

    def __init__(self, models: Sequence[ServedModel], settings: Settings, around: Surroundings) -> None:
        self._around = around
        self._models = {model.name: model for model in models}
        self._settings = settings
        self.store = ResponseStore(settings.stored_bytes)
        self._runner = Runner(settings.parallel)
        self._active = 0

    async def close(self) -> None:
        """Give back what is held: threads, and connections to engines."""
        self._runner.close()
        for served in self._models.values():
            await served.close()

    async def health(self, _: Request) -> Response:
        return json_response(Health())

    async def ready(self, _: Request) -> Response:
        await check_ready(self._models.values())
        return json_response(Health())

    async def openapi(self, request: Request) -> Response:
        return json_response(openapi_document(request.app.routes, keys=bool(self._settings.operations.keys)))

    async def metrics(self, _: Request) -> Response:
        return metrics_response(self._around.metrics)

    async def models(self, _: Request) -> Response:
        return json_response(ModelList(data=[_card(model) for model in self._models.values()]))

    async def one_model(self, request: Request) -> Response:
        try:
            return json_response(_card(self._named(request.path_params["name"])))
        except RequestError as error:
            return error_response(error)

    def answers(self, dialect: Dialect) -> Callable[[Request], Awaitable[ASGIApp]]:
        """The endpoint of a dialect."""

        async def endpoint(request: Request) -> ASGIApp:
            return await self._answer(request, dialect)

        return endpoint

    async def one_response(self, request: Request) -> Response:
        key = request.path_params["id"]
        try:
            if request.method == "GET":
                return Response(self.store.get(key).body, media_type="application/json")
            self.store.delete(key)
            return json_response(Deleted(id=key))
        except RequestError as error:
            return error_response(error)

    async def count_tokens(self, request: Request) -> Response:
        dialect = MessagesDialect()
        try:
            asked = dialect.read_count(await self._body(request), self._settings)
            served = self._named(asked.model)
            turn = await self._runner.prepare(served, asked)
            return json_response(TokenCount(input_tokens=len(await self._runner.encode(served, turn))))
        except Exception as error:
            return dialect.refuse(error)

    async def tokenize(self, request: Request) -> Response:
        body = await self._body(request)
        data = decode_body(body)
        with_texts = data.get("return_token_strs") is True
        if "messages" in data:
            asked = ChatDialect().read(body, self._settings).request
            served = self._named(asked.model)
            ids = await self._runner.encode(served, await self._runner.prepare(served, asked))
        else:
            text = typed_body(data, TokenizeRequest)
            served = self._named(text.model)
            ids = await self._runner.encode(served, text.prompt)
        return json_response(tokenized(ids, served, with_texts=with_texts))

    async def detokenize(self, request: Request) -> Response:
        data = decode_body(await self._body(request))
        return json_response(detokenized(data, self._named(data.get("model"))))

    async def apply_template(self, request: Request) -> Response:
        asked = ChatDialect().read(await self._body(request), self._settings).request
        turn = await self._runner.prepare(self._named(asked.model), asked)
        return json_response(PromptText(prompt=str(turn.prompt)))

    async def version(self, _: Request) -> Response:
        return json_response(Version(version=__version__))

    async def _answer(self, request: Request, dialect: Dialect) -> ASGIApp:
        try:
            asked = dialect.read(await self._body(request), self._settings)
            served = self._named(asked.request.model)
            writer = asked.writer(served.name)
            happenings = self._runner.run(served, self._enforced(asked.request, served))
            happenings = observed(happenings, served.name, self._around.observers)
            with self._place() as place:
                answer = _stream(happenings, writer) if asked.stream else _whole(happenings, writer)
                first = await unless_gone(request.receive, _first(answer))
                headers = _ignored_header(asked.ignored)
                if not asked.stream:
                    return Response(first, headers=headers, media_type="application/json")
                return _EventStream(answer, writer, first, headers, place.pop_all())
        except ClientDisconnect:
            return Response(status_code=499)
        except Exception as error:
            if error_body(error)[0] == 500:
                _log.error("%s failed", request.url.path, exc_info=error)
            return dialect.refuse(error)

    async def _body(self, request: Request) -> bytes:
        allowed = self._settings.limits.server_body_bytes
        body = bytearray()
        async for piece in request.stream():
            body += piece
            if len(body) > allowed:
                raise RequestError("E-REQUEST-BODY", f"the body is larger than {allowed} bytes", status=413)
        return bytes(body)

    def _named(self, name: str | None) -> ServedModel:
        """The model that a request names, or the only one."""
        if name is None and len(self._models) == 1:
            return next(iter(self._models.values()))
        if name not in self._models:
            raise _unknown_model(name, tuple(self._models))
        return self._models[name]

    def _enforced(self, request: InnerRequest, served: ServedModel) -> InnerRequest:
        """The request as the engine can serve it: what only the server asks for is left out where it cannot be held."""
        if self._settings.enforce is not None or served.holds_calls:
            return request
        return msgspec.structs.replace(request, resolved=msgspec.structs.replace(request.resolved, enforce="off"))

    def _place(self) -> contextlib.ExitStack:
        """A place among the streams at once; it is given back when what is returned is closed."""
        if self._active >= self._settings.limits.server_streams:
            raise RequestError("E-REQUEST-BUSY", "too many requests are being served", status=429)
        self._active += 1
        place = contextlib.ExitStack()
        place.callback(self._leave)
        return place

    def _leave(self) -> None:
        self._active -= 1


def _card(served: ServedModel) -> Model:
    return Model(id=served.name, created=served.created)


async def _whole(happenings: AsyncGenerator[Happening, None], writer: Writer) -> AsyncGenerator[bytes, None]:
    """The body of an answer, as the only item."""
    async with aclosing(happenings):
        async for happening in happenings:
            writer.whole(happening)
    yield writer.body()


async def _stream(happenings: AsyncGenerator[Happening, None], writer: Writer) -> AsyncGenerator[bytes, None]:
    """The events of an answer."""
    async with aclosing(happenings):
        async for happening in happenings:
            for data in writer.stream(happening):
                yield data
    for data in writer.end():
        yield data


async def _first(answer: AsyncGenerator[bytes, None]) -> bytes:
    """The first bytes. Whatever goes wrong before them is still an error with a status."""
    try:
        return await anext(answer)
    except BaseException:
        await answer.aclose()
        raise


def _unknown_model(name: str | None, known: tuple[str, ...]) -> RequestError:
    hint = f"the models are {', '.join(known)}"
    if name is None:
        return RequestError("E-REQUEST-MODEL", "several models are served", status=400, hint=hint, pointer="/model")
    return RequestError(
        "E-REQUEST-MODEL", f"the model {name!r} is not served here", status=404, hint=hint, pointer="/model"
    )


def _ignored_header(names: tuple[str, ...]) -> dict[str, str]:
    if not names:
        return {}
    # A client chooses the names: only letters that cannot end a header line go out as they are.
    return {_IGNORED_HEADER: ", ".join(quote(name[:64], safe="") for name in names[:_IGNORED_NAMED])}


class _EventStream:
    """The ASGI answer that forwards events as they come."""

    def __init__(
        self,
        answer: AsyncGenerator[bytes, None],
        writer: Writer,
        first: bytes,
        headers: dict[str, str],
        place: contextlib.ExitStack,
    ) -> None:
        self._answer = answer
        self._writer = writer
        self._first = first
        self._place = place
        self._headers = {
            "content-type": "text/event-stream; charset=utf-8",
            "cache-control": "no-cache",
            "x-accel-buffering": "no",
            **headers,
        }

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        with self._place:
            async with aclosing(self._answer):
                with contextlib.suppress(ClientDisconnect, OSError):
                    await unless_gone(receive, self._send(send))

    async def _send(self, send: Send) -> None:
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in self._headers.items()]
        await send({"type": "http.response.start", "status": 200, "headers": raw})
        item: bytes | None = self._first
        while item is not None:
            await send({"type": "http.response.body", "body": item, "more_body": True})
            item = await self._next()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _next(self) -> bytes | None:
        try:
            return await anext(self._answer, None)
        except Exception as error:
            _log.error("a stream failed", exc_info=error)
            return self._writer.failed(error)
