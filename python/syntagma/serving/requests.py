"""From the bytes of a body to a request that can be served: everything a client can get wrong is refused here or by
the codec, with the path of the field.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from syntagma.decoding.sampling import Sampling
from syntagma.errors import ArgumentError, RequestError
from syntagma.generation import GenerationOptions
from syntagma.limits import Limits
from syntagma.request import Budgets, ResolvedRequest, resolve_request
from syntagma.serving.inner import InnerRequest
from syntagma.serving.settings import Settings
from syntagma.serving.wire import ChatRequest

__all__ = ["ChatAsked", "read_chat_request"]

_FIELDS = frozenset(ChatRequest.__struct_fields__)
_STEP = re.compile(r"\.([A-Za-z_]\w*)|\[(\d+|\.\.\.)\]")
_AT = " - at `$"


class ChatAsked(NamedTuple):
    """A chat completion that was asked for, read and checked."""

    request: InnerRequest
    stream: bool
    with_usage: bool
    """whether a stream ends with the usage"""
    ignored: tuple[str, ...]
    """fields that nothing reads, in the order in which they came"""


def read_chat_request(body: bytes, settings: Settings) -> ChatAsked:
    """Read and check a body of `POST /v1/chat/completions`.

    Raises:
        RequestError: `E-REQUEST-JSON` (no JSON), `E-REQUEST-FIELD` (wrong type or value, with the pointer of the
            field), `E-REQUEST-LIMIT`, `E-REQUEST-UNSUPPORTED`, `E-REQUEST-TOOL-CHOICE`, `E-REQUEST-RESPONSE-FORMAT`.
        ArgumentError, LimitError: what messages and tools raise.
    """
    data = _decode(body)
    try:
        request = msgspec.convert(data, ChatRequest)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(_AT)
        raise _field(_pointer(path.rstrip("`")), message[:1].lower() + message[1:]) from error
    if request.chat_template is not None:
        raise RequestError("E-REQUEST-UNSUPPORTED", "a request cannot bring its own template", pointer="/chat_template")
    inner = InnerRequest(
        model=request.model,
        messages=_messages(data["messages"]),
        resolved=_resolved(request, settings),
        options=_options(request, settings),
        n=_bounded("n", request.n, 1, 1, settings.limits.server_n),
        documents=request.documents,
        add_generation_prompt=request.add_generation_prompt is not False,
        continue_final_message=request.continue_final_message is True,
        stream_reasoning=request.stream_reasoning is not False,
    )
    return ChatAsked(
        request=inner,
        stream=request.stream is True,
        with_usage=request.stream_options is not None and request.stream_options.include_usage is True,
        ignored=tuple(name for name in data if name not in _FIELDS),
    )


def _decode(body: bytes) -> dict[str, Any]:
    try:
        data = msgspec.json.decode(body)
    except msgspec.DecodeError as error:
        raise RequestError("E-REQUEST-JSON", f"the body is not JSON: {error}") from error
    except UnicodeDecodeError as error:
        raise RequestError("E-REQUEST-JSON", f"the body is not UTF-8 at byte {error.start}") from error
    except RecursionError as error:
        raise RequestError("E-REQUEST-JSON", "the body nests too deeply") from error
    if not isinstance(data, dict):
        raise RequestError("E-REQUEST-JSON", "the body is not a JSON object")
    return data


def _field(pointer: str, message: str) -> RequestError:
    return RequestError("E-REQUEST-FIELD", f"{pointer or 'the body'}: {message}", pointer=pointer or None)


def _pointer(path: str) -> str:
    """The reader's path (`.messages[0].role`) as a JSON pointer."""
    return "".join(f"/{name or index}" for name, index in _STEP.findall(path))


def _messages(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if not messages:
        raise _field("/messages", "at least one message is needed")
    read = []
    for number, message in enumerate(messages):
        content = message.get("content")
        if isinstance(content, list):
            pointer = f"/messages/{number}/content"
            text = "\n".join(_text(part, f"{pointer}/{i}") for i, part in enumerate(content))
            read.append(message | {"content": text})
        elif content is None and message["role"] in ("user", "system", "developer", "tool"):
            raise _field(f"/messages/{number}/content", f"a message of role {message['role']!r} needs content")
        for i, call in enumerate(message.get("tool_calls") or ()):
            _check_call(call, f"/messages/{number}/tool_calls/{i}")
        if not isinstance(content, list):
            read.append(message)
    return read


def _text(part: dict[str, Any], pointer: str) -> str:
    kind = part.get("type")
    if kind != "text":
        raise RequestError(
            "E-REQUEST-UNSUPPORTED",
            f"content parts of type {kind!r} are not supported",
            hint="the model reads text only",
            pointer=f"{pointer}/type",
        )
    text = part.get("text")
    if not isinstance(text, str):
        raise _field(f"{pointer}/text", "a text part has a text")
    return text


def _check_call(call: dict[str, Any], pointer: str) -> None:
    function = call.get("function")
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise _field(f"{pointer}/function", "a call has a function with a name")
    if not isinstance(function.get("arguments", "{}"), str):
        raise _field(f"{pointer}/function/arguments", "arguments are a JSON string")


def _resolved(request: ChatRequest, settings: Settings) -> ResolvedRequest:
    _check_tools(request.tools or ())
    try:
        return resolve_request(
            # Without tools a completion never holds calls: none are declared, rather than unknown ones.
            request.tools or (),
            tool_choice="auto" if request.tool_choice is None else request.tool_choice,
            parallel_tool_calls=request.parallel_tool_calls is not False,
            response_format=request.response_format,
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
            raise RequestError(
                "E-REQUEST-UNSUPPORTED",
                f"tools of type {tool['type']!r} are not supported",
                pointer=f"/tools/{index}/type",
            )


def _options(request: ChatRequest, settings: Settings) -> GenerationOptions:
    limits = settings.limits
    max_tokens = request.max_completion_tokens if request.max_completion_tokens is not None else request.max_tokens
    name = "max_completion_tokens" if request.max_completion_tokens is not None else "max_tokens"
    if max_tokens is not None and max_tokens < 1:
        raise _field(f"/{name}", f"at least 1, not {max_tokens}")
    temperature = 1.0 if request.temperature is None else request.temperature
    if not 0 <= temperature <= 2:
        raise _field("/temperature", f"from 0 to 2, not {temperature}")
    top_p = 1.0 if request.top_p is None else request.top_p
    if not 0 < top_p <= 1:
        raise _field("/top_p", f"above 0 and at most 1, not {top_p}")
    return GenerationOptions(
        sampling=Sampling(temperature=temperature, top_p=top_p, seed=request.seed),
        max_tokens=settings.max_tokens if max_tokens is None else max_tokens,
        complete=settings.complete,
        stop=_stop(request.stop, limits),
        logprobs=_logprobs(request, limits),
    )


def _budgets(request: ChatRequest, settings: Settings) -> Budgets | None:
    most = settings.thinking_tokens if request.thinking_token_budget is None else request.thinking_token_budget
    if most is None:
        return None
    if most < 0:
        raise _field("/thinking_token_budget", f"at least 0, not {most}")
    return Budgets(reasoning_tokens=most)


def _stop(given: str | list[str] | None, limits: Limits) -> tuple[str, ...]:
    stops = (given,) if isinstance(given, str) else tuple(given or ())
    if len(stops) > limits.server_stop:
        raise _over("/stop", len(stops), limits.server_stop)
    for index, stop in enumerate(stops):
        pointer = "/stop" if isinstance(given, str) else f"/stop/{index}"
        if not stop:
            raise _field(pointer, "a stop string is not empty")
        if (size := len(stop.encode())) > limits.server_stop_bytes:
            raise _over(pointer, size, limits.server_stop_bytes)
    return stops


def _logprobs(request: ChatRequest, limits: Limits) -> int | None:
    if request.top_logprobs is not None and not request.logprobs:
        raise _field("/top_logprobs", "needs logprobs to be true")
    top = _bounded("top_logprobs", request.top_logprobs, 0, 0, limits.server_top_logprobs)
    return top if request.logprobs else None


def _bounded(name: str, value: int | None, default: int, least: int, most: int) -> int:
    if value is None:
        return default
    if value < least:
        raise _field(f"/{name}", f"at least {least}, not {value}")
    if value > most:
        raise _over(f"/{name}", value, most)
    return value


def _over(pointer: str, given: int, allowed: int) -> RequestError:
    return RequestError("E-REQUEST-LIMIT", f"{pointer}: {given} is more than the {allowed} allowed", pointer=pointer)
