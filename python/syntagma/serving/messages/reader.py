"""Requests of `/v1/messages` as inner requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

import msgspec
from starlette.responses import Response

from syntagma.request import ResolvedRequest
from syntagma.serving.body import bad_field, decode_body, typed_body, unread_fields, unsupported
from syntagma.serving.constraint_fields import response_format_beside
from syntagma.serving.dialect import Asked
from syntagma.serving.errors import error_headers, json_response
from syntagma.serving.inner import InnerRequest
from syntagma.serving.messages.errors import error_payload
from syntagma.serving.messages.wire import CountRequest, MessagesRequest, ToolDefinition
from syntagma.serving.messages.writer import MessagesWriter
from syntagma.serving.resolving import budgets_of, resolved
from syntagma.serving.sampling_fields import SamplingFields, generation_options
from syntagma.serving.settings import Settings

__all__ = ["MessagesDialect"]

_FORMAT: Final = "/output_config/format"
_PLACES: Final = {
    "/tools/*/function/parameters": "/tools/*/input_schema",
    "/tools/*/function": "/tools/*",
    "/tool_choice/function": "/tool_choice",
    "/template_kwargs/reasoning_effort": "/output_config/effort",
    "/thinking_token_budget": "/thinking/budget_tokens",
}
"""what stands elsewhere than in chat completions"""
_PASSED_ON: Final = ("messages", "system")
_CHOICES: Final = {"auto": "auto", "any": "required", "none": "none"}


class MessagesDialect:
    """`POST /v1/messages`."""

    def read(self, body: bytes, settings: Settings) -> Asked:
        """See `Dialect`.

        Raises:
            RequestError: `E-REQUEST-JSON`, `E-REQUEST-FIELD`, `E-REQUEST-LIMIT`, `E-REQUEST-UNSUPPORTED`,
                `E-REQUEST-TOOL-CHOICE`, `E-REQUEST-RESPONSE-FORMAT`.
            ArgumentError, LimitError: what messages and tools raise.
        """
        data = decode_body(body)
        request = typed_body(data, MessagesRequest)
        if request.max_tokens < 1:
            raise bad_field("/max_tokens", f"at least 1, not {request.max_tokens}")
        fields: SamplingFields = request
        if request.stop_sequences is not None:
            fields = msgspec.structs.replace(request, stop=request.stop_sequences)
        inner = msgspec.structs.replace(
            _inner(request, settings), options=generation_options(fields, settings, max_tokens=request.max_tokens)
        )
        shows_thinking = request.thinking is None or request.thinking.display != "omitted"
        writer = partial(MessagesWriter, shows_thinking=shows_thinking)
        return Asked(inner, request.stream is True, writer, unread_fields(data, MessagesRequest, _PASSED_ON))

    def read_count(self, body: bytes, settings: Settings) -> InnerRequest:
        """The prompt whose tokens are to be counted; raises as `read`."""
        return _inner(typed_body(decode_body(body), CountRequest), settings)

    def refuse(self, error: BaseException) -> Response:
        """See `Dialect`."""
        status, payload = error_payload(error)
        return json_response(payload, status, error_headers(error, status))


def _inner(request: CountRequest, settings: Settings) -> InnerRequest:
    messages = list(_messages(request))
    last = request.messages[-1]
    continues = last.role == "assistant" and bool(messages[-1].get("content"))
    return InnerRequest(
        model=request.model,
        messages=messages,
        resolved=_resolved(request, settings),
        options=generation_options(SamplingFields(), settings, max_tokens=None),
        # An assistant's message at the end is the beginning of the answer.
        continue_final_message=continues,
        final_message=f"/messages/{len(request.messages) - 1}/content",
        places=_PLACES,
        add_generation_prompt=not continues,
        thinking=None if request.thinking is None else request.thinking.type != "disabled",
    )


def _messages(request: CountRequest) -> Iterator[dict[str, Any]]:
    if not request.messages:
        raise bad_field("/messages", "at least one message is needed")
    if request.system:
        yield {"role": "system", "content": _joined(_texts(request.system, "/system"))}
    for index, message in enumerate(request.messages):
        pointer = f"/messages/{index}/content"
        if isinstance(message.content, str):
            yield {"role": message.role, "content": message.content}
        elif message.role == "user":
            yield from _of_user(message.content, pointer)
        else:
            yield _of_assistant(message.content, pointer)


def _of_user(blocks: Sequence[dict[str, Any]], pointer: str) -> Iterator[dict[str, Any]]:
    """Results of tools are messages of their own; texts between them are joined."""
    texts: list[str] = []
    for index, block in enumerate(blocks):
        place = f"{pointer}/{index}"
        if block.get("type") != "tool_result":
            texts += _texts([block], pointer, first=index)
            continue
        if texts:
            yield {"role": "user", "content": _joined(texts)}
            texts = []
        call_id = block.get("tool_use_id")
        if not isinstance(call_id, str):
            raise bad_field(f"{place}/tool_use_id", "a tool's result names its call")
        content = _joined(_texts(block.get("content") or "", f"{place}/content"))
        yield {"role": "tool", "tool_call_id": call_id, "content": content}
    if texts or not blocks:
        yield {"role": "user", "content": _joined(texts)}


def _of_assistant(blocks: Sequence[dict[str, Any]], pointer: str) -> dict[str, Any]:
    texts: list[str] = []
    reasoning: list[str] = []
    calls: list[dict[str, Any]] = []
    for index, block in enumerate(blocks):
        place = f"{pointer}/{index}"
        match block.get("type"):
            case "thinking":
                reasoning.append(_text(block, "thinking", place))
            case "redacted_thinking":
                # Nobody here can read it.
                continue
            case "tool_use":
                calls.append(_call(block, place))
            case _:
                texts += _texts([block], pointer, first=index)
    message: dict[str, Any] = {"role": "assistant", "content": "".join(texts) if texts or not calls else None}
    if reasoning:
        message["reasoning_content"] = "\n".join(reasoning)
    if calls:
        message["tool_calls"] = calls
    return message


def _call(block: dict[str, Any], place: str) -> dict[str, Any]:
    if not isinstance(block.get("input"), dict):
        raise bad_field(f"{place}/input", "the input of a call is an object")
    function = {
        "name": _text(block, "name", place),
        "arguments": msgspec.json.encode(block["input"]).decode(),
    }
    return {"id": _text(block, "id", place), "type": "function", "function": function}


def _texts(content: Any, pointer: str, *, first: int = 0) -> list[str]:
    """The texts of content that is text or blocks of text."""
    if isinstance(content, str):
        return [content]
    if not isinstance(content, list):
        raise bad_field(pointer, "content is text or a list of blocks")
    found = []
    for index, block in enumerate(content, first):
        kind = block.get("type") if isinstance(block, dict) else None
        if kind != "text":
            message = f"blocks of type {kind!r} are not supported here"
            raise unsupported(f"{pointer}/{index}/type", message, hint="the model reads text only")
        found.append(_text(block, "text", f"{pointer}/{index}"))
    return found


def _text(block: dict[str, Any], field: str, place: str) -> str:
    value = block.get(field)
    if not isinstance(value, str):
        raise bad_field(f"{place}/{field}", "it is text")
    return value


def _joined(texts: Sequence[str]) -> str:
    return "\n".join(texts)


def _resolved(request: CountRequest, settings: Settings) -> ResolvedRequest:
    choice, config = request.tool_choice, request.output_config
    shape = response_format_beside(_FORMAT, None if config is None else config.format, request)
    wanted: str | dict[str, Any] = "auto"
    if choice is not None:
        named = {"type": "function", "function": {"name": choice.name}}
        wanted = _CHOICES.get(choice.type, named)
    effort = {} if config is None or config.effort is None else {"reasoning_effort": config.effort}
    thinking = None if request.thinking is None else request.thinking.budget_tokens
    return resolved(
        [_tool(tool, f"/tools/{index}") for index, tool in enumerate(request.tools or ())],
        settings,
        _PLACES,
        tool_choice=wanted,
        parallel_tool_calls=choice is None or choice.disable_parallel_tool_use is not True,
        shape=shape,
        budgets=budgets_of(thinking, settings, "/thinking/budget_tokens", least=1),
        template_kwargs=effort,
    )


def _tool(tool: ToolDefinition, pointer: str) -> dict[str, Any]:
    if tool.type not in (None, "custom"):
        raise unsupported(f"{pointer}/type", f"tools of type {tool.type!r} are not run here")
    if tool.input_schema is None:
        raise bad_field(f"{pointer}/input_schema", "a tool has a schema of its input")
    function: dict[str, Any] = {"name": tool.name, "parameters": tool.input_schema}
    if tool.description is not None:
        function["description"] = tool.description
    if tool.strict is not None:
        function["strict"] = tool.strict
    return {"type": "function", "function": function}
