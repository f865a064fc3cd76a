"""The ASGI application: routes, admission, and answers as bytes."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from http import HTTPStatus
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from syntagma import __version__
from syntagma.errors import RequestError
from syntagma.serving.admission import Admission
from syntagma.serving.body import check_values, unsupported
from syntagma.serving.chat import ChatDialect
from syntagma.serving.completions import CompletionsDialect
from syntagma.serving.dialect import Asked, Dialect, Writer
from syntagma.serving.disconnects import unless_gone
from syntagma.serving.errors import error_response, json_response, param_of
from syntagma.serving.event_stream import EventStream, closed
from syntagma.serving.freed_memory import FreedMemory
from syntagma.serving.guard import Guard
from syntagma.serving.inner import InnerRequest, Update
from syntagma.serving.inspecting import InspectorPage
from syntagma.serving.late_models import LateModels
from syntagma.serving.links import links
from syntagma.serving.messages import MessagesDialect
from syntagma.serving.metrics import metrics_response
from syntagma.serving.middleware import ServerMiddleware
from syntagma.serving.model import ServedModel
from syntagma.serving.models import Model, ModelList
from syntagma.serving.openapi import openapi_document
from syntagma.serving.readiness import check_ready
from syntagma.serving.records import Observer, Watch, tell_failure
from syntagma.serving.refusals import refusal
from syntagma.serving.responses import ResponsesDialect, ResponseStore, stored_routes
from syntagma.serving.running import Runner
from syntagma.serving.settings import Settings
from syntagma.serving.side_endpoints import SideEndpoints
from syntagma.serving.small_answers import Health, Version
from syntagma.serving.staggered import Staggered
from syntagma.serving.token_endpoints import tokenizer_facts

if TYPE_CHECKING:
    from starlette.types import ASGIApp

__all__ = ["create_app"]

_log = logging.getLogger("syntagma.serving")
_IGNORED_HEADER = "x-syntagma-ignored"
_IGNORED_NAMED = 32
_MOST_TOLD = 256
"""types of tools and items that are said to be left out; clients choose their names"""
_UNSAID_S = 0.2
"""seconds that a stream waits for its first event before its response headers are sent"""
_UNSAID_ELSEWHERE_S = 10.0
"""the same for a running engine, which may still refuse"""


def create_app(
    model: ServedModel | Sequence[ServedModel],
    settings: Settings = Settings(),  # noqa: B008 - frozen
    *,
    observers: Sequence[Observer] = (),
    late: Mapping[str, Callable[[], ServedModel]] = MappingProxyType({}),
) -> ASGIApp:
    """An OpenAI-compatible ASGI application; run it with any ASGI server, or mount it into another.

    Args:
        model: the model that is served; several must have different names.
        settings: how the server behaves.
        observers: hear of requests, beside the server's own log, metrics and traces.
        late: what loads further models, by name, whose engines cannot be reached yet. Until one can, requests for its
            model are 503 (`E-UPSTREAM-CONNECT`); it is tried again when one comes, every five seconds at most.

    Raises:
        RequestError: `E-REQUEST-ARGUMENT`, the inspector is asked for, but no model computes in this process.
    """
    middleware = ServerMiddleware(settings, observers)
    server = _Server([model] if isinstance(model, ServedModel) else model, settings, middleware, LateModels(late))
    side = SideEndpoints(server.named, server.store, settings)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await server.close()

    return Starlette(
        routes=[
            Route("/", links(inspector=settings.inspector), methods=["GET"]),
            Route("/health", server.health, methods=["GET"]),
            Route("/ready", server.ready, methods=["GET"]),
            Route("/openapi.json", server.openapi, methods=["GET"]),
            Route("/metrics", server.metrics, methods=["GET"]),
            Route("/v1/models", server.models, methods=["GET"]),
            Route("/v1/models/{name:path}", server.one_model, methods=["GET"]),
            Route("/v1/chat/completions", server.answers(ChatDialect()), methods=["POST"]),
            Route("/v1/completions", server.answers(CompletionsDialect()), methods=["POST"]),
            Route("/v1/responses", server.answers(ResponsesDialect(server.store)), methods=["POST"]),
            Route("/v1/responses/input_tokens", server.shows(side.count_input_tokens), methods=["POST"]),
            Route("/v1/responses/compact", _no_compaction, methods=["POST"]),
            *stored_routes(server.store),
            Route("/v1/messages", server.answers(MessagesDialect()), methods=["POST"]),
            Route("/v1/messages/count_tokens", server.shows(side.count_tokens, MessagesDialect()), methods=["POST"]),
            Route("/v1/chat/completions/render", server.shows(side.render), methods=["POST"]),
            Route("/v1/chat/completions/derender", server.shows(side.derender), methods=["POST"]),
            Route("/parse_function_call", server.shows(side.parse_function_call), methods=["POST"]),
            Route("/separate_reasoning", server.shows(side.separate_reasoning), methods=["POST"]),
            Route("/tokenizer_info", server.tokenizer_info, methods=["GET"]),
            Route("/tokenize", server.shows(side.tokenize), methods=["POST"]),
            Route("/detokenize", server.shows(side.detokenize), methods=["POST"]),
            Route("/apply-template", server.shows(side.apply_template), methods=["POST"]),
            Route("/version", server.version, methods=["GET"]),
            *server.inspector(),
        ],
        middleware=[*middleware.middleware(), Middleware(Guard), Middleware(Staggered)],
        exception_handlers={HTTPException: _refused},
        lifespan=lifespan,
    )


async def _no_compaction(_: Request) -> Response:
    hint = "send the conversation whole, or shortened by the client"
    return error_response(
        RequestError("E-REQUEST-ROUTE", "conversations are not compacted here", hint=hint, status=404)
    )


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
    """The endpoints and what they share."""

    def __init__(
        self, models: Sequence[ServedModel], settings: Settings, middleware: ServerMiddleware, late: LateModels
    ) -> None:
        self._middleware = middleware
        self._late = late
        self._models = {model.name: model for model in models}
        self._settings = settings
        self.store = ResponseStore(settings.stored_bytes)
        self._runner = Runner(
            settings.parallel, settings.limits, settings.on_length, middleware.recordings, settings.unknown_tools
        )
        self._admission = Admission(settings.limits)
        self._freed = FreedMemory()
        self._page: InspectorPage | None = None
        self._told: set[tuple[str, str, str]] = set()
        """models, and what was said to be left out"""

    async def close(self) -> None:
        """Stop the threads, and close the connections to engines."""
        self._runner.close()
        if self._page is not None:
            self._page.close()
        if self._middleware.recordings is not None:
            self._middleware.recordings.close()
        for served in self._models.values():
            await served.close()

    def inspector(self) -> list[Route]:
        """The routes of the inspector, if it is asked for."""
        if not self._settings.inspector:
            return []
        computing = [model for model in self._models.values() if model.computes]
        if not computing:
            raise RequestError("E-REQUEST-ARGUMENT", "the inspector needs a model that computes in this process")
        self._page = InspectorPage(computing[0], self._admission, self._settings.limits)
        return self._page.routes()

    async def health(self, _: Request) -> Response:
        return json_response(Health())

    async def ready(self, _: Request) -> Response:
        await check_ready(list(self._models.values()), self._late.names)
        return json_response(Health())

    async def openapi(self, request: Request) -> Response:
        return json_response(openapi_document(request.app.routes, keys=bool(self._settings.operations.keys)))

    async def metrics(self, _: Request) -> Response:
        return metrics_response(self._middleware.metrics)

    async def models(self, _: Request) -> Response:
        return json_response(ModelList(data=[_card(model) for model in list(self._models.values())]))

    async def tokenizer_info(self, request: Request) -> Response:
        try:
            return json_response(tokenizer_facts(self.named(request.query_params.get("model"))))
        except RequestError as error:
            return error_response(error)

    async def one_model(self, request: Request) -> Response:
        try:
            return json_response(_card(self.named(request.path_params["name"])))
        except RequestError as error:
            return error_response(error)

    def answers(self, dialect: Dialect) -> Callable[[Request], Awaitable[ASGIApp]]:
        """An endpoint that writes, in a dialect."""

        async def endpoint(request: Request) -> ASGIApp:
            return await self._answer(request, dialect)

        return endpoint

    def shows(
        self, show: Callable[[bytes], Any], dialect: Dialect | None = None
    ) -> Callable[[Request], Awaitable[Response]]:
        """An endpoint at which the model writes nothing.

        Args:
            show: makes the answer's JSON value from a body, in a thread.
            dialect: the dialect of its errors; None: OpenAI's.
        """
        refuse = error_response if dialect is None else dialect.refuse

        async def endpoint(request: Request) -> Response:
            try:
                with contextlib.ExitStack() as held:
                    held.callback(self._freed.request_ended)
                    body = await self._admission.body(request, held)
                    held.enter_context(self._admission.place())

                    def work() -> Response:
                        check_values(body, self._settings.limits)
                        return json_response(show(body))

                    return await unless_gone(request.receive, self._runner.read(len(body), work))
            except ClientDisconnect:
                return Response(status_code=499)
            except Exception as error:
                return _error_answer(request, error, refuse(error))

        return endpoint

    async def version(self, _: Request) -> Response:
        return json_response(Version(version=__version__))

    async def _answer(self, request: Request, dialect: Dialect) -> ASGIApp:
        try:
            with contextlib.ExitStack() as held:
                held.callback(self._freed.request_ended)
                body = await self._admission.body(request, held)
                held.enter_context(self._admission.place())
                return await unless_gone(request.receive, self._begun(dialect, body, held))
        except ClientDisconnect:
            return Response(status_code=499)
        except Exception as error:
            return _error_answer(request, error, dialect.refuse(error))

    async def _begun(self, dialect: Dialect, body: bytes, held: contextlib.ExitStack) -> ASGIApp:
        """The answer, as soon as its status is known. A stream takes over `held` and closes it at its end."""
        ready = await self._runner.ready(len(body), lambda: self._read(dialect, body))
        asked = ready.asked
        writer = asked.writer(ready.served.name)
        headers = _ignored_header(asked.all_ignored)
        updates = self._runner.run(ready)
        watch = held.enter_context(Watch(ready.served.name, self._middleware.observers))
        if not asked.stream:
            whole = await _whole(updates, writer, watch)
            return Response(whole, headers=headers, media_type="application/json")
        first = asyncio.ensure_future(anext(updates))
        try:
            # A running engine may still refuse the request; for a backend, everything has been checked.
            await asyncio.wait({first}, timeout=_UNSAID_S if ready.served.computes else _UNSAID_ELSEWHERE_S)
            if first.done():
                first.result()
        except BaseException:
            await closed(updates, first)
            # Error, task and frame would refer to each other, and keep the body until the next garbage collection.
            del first
            raise
        return EventStream(
            updates,
            first,
            writer=writer,
            watch=watch,
            headers=headers,
            place=held.pop_all(),
            limits=self._settings.limits,
        )

    def _read(self, dialect: Dialect, body: bytes) -> tuple[ServedModel, Asked]:
        check_values(body, self._settings.limits)
        asked = dialect.read(body, self._settings)
        served = self.named(asked.request.model)
        inner = asked.request
        if self._settings.unknown_tools == "content":
            inner = msgspec.structs.replace(inner, unknown_as_content=True)
            asked = asked._replace(request=inner)
        if inner.budget_may_fall is not None and not served.computes:
            without = msgspec.structs.replace(inner.resolved, budgets=None)
            asked = asked._replace(
                request=msgspec.structs.replace(inner, resolved=without),
                ignored=(*asked.ignored, inner.budget_may_fall),
            )
        self._tell_left_out(asked, served.name)
        return served, asked._replace(request=self._enforced(asked.request, served))

    def _tell_left_out(self, asked: Asked, model: str) -> None:
        """Say what the model does not see, once for a model and type; or refuse it.

        Raises:
            RequestError: `E-REQUEST-UNSUPPORTED`, the server is strict about fields.
        """
        if self._settings.strict_fields and (pointers := asked.all_ignored):
            raise unsupported(pointers[0], "nothing here reads it", hint="the server runs with --strict-fields")
        for left in asked.left_out:
            key = (model, left.what, left.kind)
            if len(self._told) < _MOST_TOLD and key not in self._told:
                self._told.add(key)
                _log.warning("%s: %ss of type %.64r are left out: the model does not see them", *key)

    def named(self, name: str | None) -> ServedModel:
        """The model that a request names, or the only one."""
        if name is None and len(self._models) == 1:
            return next(iter(self._models.values()))
        if name is not None and name in self._late.names:
            self._models[name] = self._late.load(name)
        if name not in self._models:
            raise _unknown_model(name, tuple(self._models))
        return self._models[name]

    def _enforced(self, request: InnerRequest, served: ServedModel) -> InnerRequest:
        """The request without the server's own constraints, if the engine cannot be held to them."""
        if self._settings.enforce is not None or served.holds_calls:
            return request
        return msgspec.structs.replace(request, resolved=msgspec.structs.replace(request.resolved, enforce="off"))


def _error_answer(request: Request, error: Exception, answer: Response) -> Response:
    """The answer to a request that failed; an error that is not the request's fault is logged first."""
    tell_failure(error, request.url.path)
    if answer.status_code == HTTPStatus.REQUEST_TIMEOUT:
        # Nobody waits for the rest of the body.
        answer.headers["connection"] = "close"
    return answer


def _card(served: ServedModel) -> Model:
    found = served.codec.resolution
    return Model(
        id=served.name,
        created=served.created,
        format=served.codec.format.name if found is None else found.name,
        format_level=None if found is None else found.level,
    )


async def _whole(updates: AsyncGenerator[Update, None], writer: Writer, watch: Watch) -> bytes:
    """The body of an answer that is not streamed."""
    async with aclosing(updates):
        async for update in updates:
            watch.saw(update)
            writer.whole(update)
    return writer.body()


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
    # A client chooses the names: characters that could end a header line are escaped.
    told = [quote((param_of(name) or "")[:64], safe="[]") for name in names[:_IGNORED_NAMED]]
    more = [f"and {len(names) - _IGNORED_NAMED} more"] if len(names) > _IGNORED_NAMED else []
    return {_IGNORED_HEADER: ", ".join([*told, *more])}
