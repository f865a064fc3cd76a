"""Requests of `POST /v1/chat/completions`: everything a client can get wrong is refused here or by the codec."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, Final

from starlette.responses import Response

from syntagma.errors import ArgumentError
from syntagma.limits import Limits
from syntagma.request import Budgets, ResolvedRequest, resolve_request
from syntagma.serving.body import bad_field, bounded, decode_body, typed_body, unread_fields, unsupported
from syntagma.serving.chat.wire import ChatRequest
from syntagma.serving.chat.writer import ChatWriter
from syntagma.serving.constraint_fields import response_format_of
from syntagma.serving.dialect import Asked
from syntagma.serving.errors import error_response
from syntagma.serving.inner import InnerRequest
from syntagma.serving.sampling_fields import generation_options
from syntagma.serving.settings import Settings

__all__ = ["ChatDialect"]

_PASSED_ON: Final = ("messages", "tools", "documents")
"""fields whose values templates may read in full"""


class ChatDialect:
    """`POST /v1/chat/completions`."""

    def read(self, body: bytes, settings: Settings) -> Asked:
        """See `Dialect`.

        Raises:
            RequestError: `E-REQUEST-JSON` (no JSON), `E-REQUEST-FIELD` (wrong type or value, with the pointer of the
                field), `E-REQUEST-LIMIT`, `E-REQUEST-UNSUPPORTED`, `E-REQUEST-TOOL-CHOICE`,
                `E-REQUEST-RESPONSE-FORMAT`.
            ArgumentError, LimitError: what messages and tools raise.
        """
        data = decode_body(body)
        request = typed_body(data, ChatRequest)
        _refuse_unsupported(request)
        inner = InnerRequest(
            model=request.model,
            messages=_messages(data["messages"]),
            resolved=_resolved(request, settings),
            options=generation_options(
                request, settings, max_tokens=_max_tokens(request), logprobs=_logprobs(request, settings.limits)
            ),
            n=bounded("n", request.n, 1, 1, settings.limits.server_n),
            documents=request.documents,
            add_generation_prompt=request.add_generation_prompt is not False,
            continue_final_message=request.continue_final_message is True,
            final_message=f"/messages/{len(request.messages) - 1}/content",
            stream_reasoning=request.stream_reasoning is not False,
        )
        writer = partial(
            ChatWriter,
            wants_logprobs=inner.options.logprobs is not None,
            with_usage=request.stream_options is not None and request.stream_options.include_usage is True,
            reasoning_fields=() if request.include_reasoning is False else settings.reasoning_fields,
        )
        return Asked(inner, request.stream is True, writer, unread_fields(data, ChatRequest, _PASSED_ON))

    def refuse(self, error: BaseException) -> Response:
        """See `Dialect`."""
        return error_response(error)


def _refuse_unsupported(request: ChatRequest) -> None:
    if request.chat_template is not None:
        raise unsupported("/chat_template", "a request cannot bring its own template")
    for name in ("prompt_logprobs", "return_token_ids"):
        if getattr(request, name):
            raise unsupported(f"/{name}", f"{name} is not supported")


def _max_tokens(request: ChatRequest) -> int | None:
    for name in ("max_completion_tokens", "max_tokens"):
        value: int | None = getattr(request, name)
        if value is not None:
            if value < 1:
                raise bad_field(f"/{name}", f"at least 1, not {value}")
            return value
    return None


def _messages(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if not messages:
        raise bad_field("/messages", "at least one message is needed")
    read = []
    for number, message in enumerate(messages):
        content = message.get("content")
        if isinstance(content, list):
            pointer = f"/messages/{number}/content"
            text = "\n".join(_text(part, f"{pointer}/{i}") for i, part in enumerate(content))
            read.append(message | {"content": text})
        elif content is None and message["role"] in ("user", "system", "developer", "tool"):
            raise bad_field(f"/messages/{number}/content", f"a message of role {message['role']!r} needs content")
        for i, call in enumerate(message.get("tool_calls") or ()):
            _check_call(call, f"/messages/{number}/tool_calls/{i}")
        if not isinstance(content, list):
            read.append(message)
    return read


def _text(part: dict[str, Any], pointer: str) -> str:
    kind = part.get("type")
    if kind != "text":
        message = f"content parts of type {kind!r} are not supported"
        raise unsupported(f"{pointer}/type", message, hint="the model reads text only")
    text = part.get("text")
    if not isinstance(text, str):
        raise bad_field(f"{pointer}/text", "a text part has a text")
    return text


def _check_call(call: dict[str, Any], pointer: str) -> None:
    function = call.get("function")
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise bad_field(f"{pointer}/function", "a call has a function with a name")
    if not isinstance(function.get("arguments", "{}"), str):
        raise bad_field(f"{pointer}/function/arguments", "arguments are a JSON string")


def _resolved(request: ChatRequest, settings: Settings) -> ResolvedRequest:
    _check_tools(request.tools or ())
    try:
        return resolve_request(
            # Without tools a completion never holds calls: none are declared, rather than unknown ones.
            request.tools or (),
            tool_choice="auto" if request.tool_choice is None else request.tool_choice,
            parallel_tool_calls=request.parallel_tool_calls is not False,
            response_format=response_format_of(request),
            enforce=settings.enforce or "parameters",
            budgets=_budgets(request, settings),
            reasoning_format="none" if request.separate_reasoning is False else "auto",
            template_kwargs=_template_kwargs(request),
            limits=settings.limits,
        )
    except ArgumentError as error:
        error.pointer = f"/tools{error.pointer or ''}"
        raise


def _template_kwargs(request: ChatRequest) -> dict[str, Any]:
    """The request's variables for the template; an effort is one of them, under its own name."""
    effort = {} if request.reasoning_effort is None else {"reasoning_effort": request.reasoning_effort}
    return effort | (request.chat_template_kwargs or {})


def _check_tools(tools: Iterable[dict[str, Any]]) -> None:
    for index, tool in enumerate(tools):
        if tool.get("type", "function") != "function":
            raise unsupported(f"/tools/{index}/type", f"tools of type {tool['type']!r} are not supported")


def _budgets(request: ChatRequest, settings: Settings) -> Budgets | None:
    most = settings.thinking_tokens if request.thinking_token_budget is None else request.thinking_token_budget
    if most is None:
        return None
    if most < 0:
        raise bad_field("/thinking_token_budget", f"at least 0, not {most}")
    return Budgets(reasoning_tokens=most)


def _logprobs(request: ChatRequest, limits: Limits) -> int | None:
    if request.top_logprobs is not None and not request.logprobs:
        raise bad_field("/top_logprobs", "needs logprobs to be true")
    top = bounded("top_logprobs", request.top_logprobs, 0, 0, limits.server_top_logprobs)
    return top if request.logprobs else None
