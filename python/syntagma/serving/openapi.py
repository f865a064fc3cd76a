"""`GET /openapi.json`: the description of the server, made from its routes and from the types of bodies and answers.

Fields, types and descriptions come from the structs. This module adds what the types do not say: the struct of an
endpoint's body, that of its answer, and its statuses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
from starlette.routing import BaseRoute, Route

from syntagma import __version__
from syntagma.serving.chat.wire import ChatChunk, ChatCompletion, ChatRequest
from syntagma.serving.completions.wire import Completion, CompletionRequest
from syntagma.serving.errors import ErrorAnswer
from syntagma.serving.messages.errors import MessagesError
from syntagma.serving.messages.wire import Answer, CountRequest, MessagesRequest
from syntagma.serving.models import Model, ModelList
from syntagma.serving.parsing_endpoints import (
    ParsedCalls,
    ParseFunctionCallRequest,
    SeparatedReasoning,
    SeparateReasoningRequest,
)
from syntagma.serving.render_endpoints import DerenderRequest, GenerateRequest
from syntagma.serving.responses.wire import Response, ResponsesRequest
from syntagma.serving.small_answers import (
    Deleted,
    Health,
    InputTokenCount,
    ItemList,
    Links,
    PromptText,
    TokenCount,
    Version,
)
from syntagma.serving.token_endpoints import DetokenizeRequest, TokenizeRequest, Tokens

__all__ = ["ENDPOINTS", "Endpoint", "openapi_document"]

_JSON: Final = "application/json"
_EVENTS: Final = "text/event-stream"
_PAGE: Final = "text/html"
_PARAMETER: Final = re.compile(r"\{(\w+)(?::\w+)?\}")
_WRONG: Final = {
    400: "the request is wrong; the field is named",
    401: "a key is asked for",
    404: "there is no such model or response",
    413: "the body is too large",
    429: "too many requests; `retry-after` says in how many seconds to come back",
    500: "the server failed",
    501: "an optional dependency of the server is missing",
    502: "an engine failed",
    503: "an engine, or the server, cannot answer now",
    504: "an engine was silent for too long",
}
_READS: Final = (400, 404, 413, 500)
_WRITES: Final = (*_READS, 429, 502, 503, 504)


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """An endpoint, as far as the types do not describe it.

    Attributes:
        summary: what it does.
        body: the struct of the body; several are alternatives. Empty: there is no body.
        answer: the struct of the answer; None: text.
        event: the struct of an event of its stream; None: there is no stream, or its named events differ.
        streams: whether the answer may be a stream of events.
        refuses: the statuses of errors.
        error: the struct of errors.
        media: the media type of an answer that is text.
        open: whether it needs no key.
        page: whether browsers get it as a page.
    """

    summary: str
    body: tuple[type[msgspec.Struct], ...] = ()
    answer: type[msgspec.Struct] | None
    event: type[msgspec.Struct] | None = None
    streams: bool = False
    refuses: tuple[int, ...] = ()
    error: type[msgspec.Struct] = ErrorAnswer
    media: str = _JSON
    open: bool = False
    page: bool = False


ENDPOINTS: Final[Mapping[str, Endpoint]] = {
    "GET /": Endpoint(summary="Links to what can be opened in a browser.", answer=Links, open=True, page=True),
    "GET /health": Endpoint(summary="Whether the process answers.", answer=Health, open=True),
    "GET /ready": Endpoint(
        summary="Whether the server takes requests and its engines answer.", answer=Health, refuses=(503,), open=True
    ),
    "GET /version": Endpoint(summary="The version of the library.", answer=Version),
    "GET /openapi.json": Endpoint(summary="This document.", answer=None),
    "GET /metrics": Endpoint(
        summary="Counters and times for Prometheus.", answer=None, media="text/plain", refuses=(501,)
    ),
    "GET /v1/models": Endpoint(summary="The models that are served.", answer=ModelList),
    "GET /v1/models/{name}": Endpoint(summary="One of the models.", answer=Model, refuses=(404,)),
    "POST /v1/chat/completions": Endpoint(
        summary="The answer to a conversation, as OpenAI's chat completions.",
        body=(ChatRequest,),
        answer=ChatCompletion,
        event=ChatChunk,
        streams=True,
        refuses=_WRITES,
    ),
    "POST /v1/completions": Endpoint(
        summary="A prompt goes on as plain text, as OpenAI's completions.",
        body=(CompletionRequest,),
        answer=Completion,
        event=Completion,
        streams=True,
        refuses=_WRITES,
    ),
    "POST /v1/responses": Endpoint(
        summary="The answer to a conversation, as OpenAI's responses.",
        body=(ResponsesRequest,),
        answer=Response,
        streams=True,
        refuses=_WRITES,
    ),
    "GET /v1/responses/{id}": Endpoint(summary="A response that is kept.", answer=Response, refuses=(404,)),
    "DELETE /v1/responses/{id}": Endpoint(summary="Forget a response.", answer=Deleted, refuses=(404,)),
    "GET /v1/responses/{id}/input_items": Endpoint(
        summary="The items of a kept response's input.", answer=ItemList, refuses=(400, 404)
    ),
    "POST /v1/responses/{id}/cancel": Endpoint(
        summary="Refused: no response is written in the background.", answer=Response, refuses=(400, 404)
    ),
    "POST /v1/responses/input_tokens": Endpoint(
        summary="How many tokens the input of a response has.",
        body=(ResponsesRequest,),
        answer=InputTokenCount,
        refuses=_READS,
    ),
    "POST /v1/responses/compact": Endpoint(
        summary="Refused: there is no such service.", answer=Response, refuses=(404,)
    ),
    "POST /v1/messages": Endpoint(
        summary="The answer to a conversation, as Anthropic's messages.",
        body=(MessagesRequest,),
        answer=Answer,
        streams=True,
        refuses=_WRITES,
        error=MessagesError,
    ),
    "POST /v1/messages/count_tokens": Endpoint(
        summary="How many tokens a prompt has.",
        body=(CountRequest,),
        answer=TokenCount,
        refuses=_READS,
        error=MessagesError,
    ),
    "POST /v1/chat/completions/render": Endpoint(
        summary="What an engine is asked for in place of a chat request: token ids and options, as vLLM has it.",
        body=(ChatRequest,),
        answer=GenerateRequest,
        refuses=_READS,
    ),
    "POST /v1/chat/completions/derender": Endpoint(
        summary="The chat completion that the tokens of an engine are.",
        body=(DerenderRequest,),
        answer=ChatCompletion,
        refuses=_READS,
    ),
    "POST /parse_function_call": Endpoint(
        summary="The calls in a text, as SGLang has it.",
        body=(ParseFunctionCallRequest,),
        answer=ParsedCalls,
        refuses=_READS,
    ),
    "POST /separate_reasoning": Endpoint(
        summary="The reasoning in a text, as SGLang has it.",
        body=(SeparateReasoningRequest,),
        answer=SeparatedReasoning,
        refuses=_READS,
    ),
    "POST /tokenize": Endpoint(
        summary="The token ids of a text, or of the prompt of a chat request.",
        body=(TokenizeRequest, ChatRequest),
        answer=Tokens,
        refuses=_READS,
    ),
    "POST /detokenize": Endpoint(
        summary="The text of token ids.", body=(DetokenizeRequest,), answer=PromptText, refuses=_READS
    ),
    "POST /apply-template": Endpoint(
        summary="The prompt of a chat request.", body=(ChatRequest,), answer=PromptText, refuses=_READS
    ),
}
"""method and path → endpoint"""


def openapi_document(routes: Iterable[BaseRoute], *, keys: bool = False) -> dict[str, Any]:
    """The OpenAPI 3.1 document of a server.

    Args:
        routes: the routes of the application.
        keys: whether the server requires keys.
    """
    kinds = {kind for one in ENDPOINTS.values() for kind in (*one.body, one.answer, one.event, one.error) if kind}
    ordered = sorted(kinds, key=lambda kind: f"{kind.__name__} {kind.__module__}")
    references, schemas = msgspec.json.schema_components(ordered, ref_template="#/components/schemas/{name}")
    schema_of = dict(zip(ordered, references, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        if isinstance(route, Route):
            path = _PARAMETER.sub(r"{\1}", route.path)
            for method in sorted((route.methods or set()) - {"HEAD"}):
                found = ENDPOINTS.get(f"{method} {path}")
                if found is not None:
                    paths.setdefault(path, {})[method.lower()] = _operation(found, path, schema_of, keys=keys)
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "Syntagma", "version": __version__},
        "paths": paths,
        "components": {"schemas": schemas},
    }
    if keys:
        document["components"]["securitySchemes"] = {
            "bearer": {"type": "http", "scheme": "bearer"},
            "header": {"type": "apiKey", "in": "header", "name": "x-api-key"},
        }
        document["security"] = [{"bearer": []}, {"header": []}]
    return document


def _operation(
    endpoint: Endpoint, path: str, schema_of: Mapping[type[msgspec.Struct], dict[str, Any]], *, keys: bool
) -> dict[str, Any]:
    content: dict[str, Any] = {endpoint.media: {"schema": _answer_schema(endpoint, schema_of)}}
    if endpoint.streams:
        content[_EVENTS] = {"schema": _event_schema(endpoint, schema_of)}
    if endpoint.page:
        content[_PAGE] = {"schema": {"type": "string"}}
    operation: dict[str, Any] = {
        "summary": endpoint.summary,
        "responses": {"200": {"description": "the answer", "content": content}},
    }
    asks_key = keys and not endpoint.open
    for status in sorted({*endpoint.refuses, *((401, 429) if asks_key else ())}):
        wrong = {"description": _WRONG[status], "content": {_JSON: {"schema": schema_of[endpoint.error]}}}
        operation["responses"][str(status)] = wrong
    names = _PARAMETER.findall(path)
    if names:
        # With an empty parameter it would be another path.
        text = {"type": "string", "minLength": 1}
        operation["parameters"] = [{"name": name, "in": "path", "required": True, "schema": text} for name in names]
    if endpoint.body:
        bodies = [schema_of[kind] for kind in endpoint.body]
        schema = bodies[0] if len(bodies) == 1 else {"anyOf": bodies}
        operation["requestBody"] = {"required": True, "content": {_JSON: {"schema": schema}}}
    if endpoint.open:
        operation["security"] = []
    return operation


def _answer_schema(endpoint: Endpoint, schema_of: Mapping[type[msgspec.Struct], dict[str, Any]]) -> dict[str, Any]:
    if endpoint.answer is not None:
        return schema_of[endpoint.answer]
    return {"type": "object" if endpoint.media == _JSON else "string"}


def _event_schema(endpoint: Endpoint, schema_of: Mapping[type[msgspec.Struct], dict[str, Any]]) -> dict[str, Any]:
    said = "server-sent events, each with a JSON object behind `data: `"
    if endpoint.event is None:
        return {"type": "string", "description": said}
    return {
        "type": "string",
        "description": said,
        "contentMediaType": _JSON,
        "contentSchema": schema_of[endpoint.event],
    }
