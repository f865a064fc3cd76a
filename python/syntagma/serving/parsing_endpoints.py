"""Endpoints that parse the text of any model: `/parse_function_call` and `/separate_reasoning`.

Requests and answers are SGLang's. The parser is the name of a format; by default, the served model's format is used.
"""

from __future__ import annotations

from typing import Any

import msgspec

from syntagma import formats
from syntagma.errors import FormatError
from syntagma.formats import ChatFormat
from syntagma.limits import Limits
from syntagma.serving.body import bad_field
from syntagma.serving.model import ServedModel

__all__ = [
    "ParseFunctionCallRequest",
    "ParsedCall",
    "ParsedCalls",
    "SeparateReasoningRequest",
    "SeparatedReasoning",
    "parsed_calls",
    "separated_reasoning",
]


class ParseFunctionCallRequest(msgspec.Struct, kw_only=True):
    """Body of `POST /parse_function_call`."""

    text: str
    tools: list[dict[str, Any]] | None = None
    tool_call_parser: str | None = None
    model: str | None = None


class ParsedCall(msgspec.Struct, kw_only=True):
    """A call; `tool_index` is the index of its tool in the request, -1 if that was not declared."""

    tool_index: int
    name: str
    parameters: str


class ParsedCalls(msgspec.Struct, kw_only=True):
    """The answer of `/parse_function_call`."""

    normal_text: str
    calls: list[ParsedCall]


class SeparateReasoningRequest(msgspec.Struct, kw_only=True):
    """Body of `POST /separate_reasoning`."""

    text: str
    reasoning_parser: str | None = None
    model: str | None = None


class SeparatedReasoning(msgspec.Struct, kw_only=True):
    """The answer of `/separate_reasoning`."""

    reasoning_text: str
    text: str


def parsed_calls(request: ParseFunctionCallRequest, served: ServedModel, limits: Limits) -> ParsedCalls:
    """The calls in a text, and the rest of the text, reasoning included, unchanged.

    Raises:
        RequestError: `E-REQUEST-FIELD`, there is no such parser.
        ArgumentError: `E-TOOL-…`, a tool is wrong.
    """
    fmt = _format(request.tool_call_parser, served, "/tool_call_parser")
    message = fmt.parse(request.text, request.tools, reasoning_format="none", limits=limits)
    names = {_name(tool): index for index, tool in enumerate(request.tools or ())}
    calls = [
        ParsedCall(tool_index=names.get(call.name, -1), name=call.name, parameters=call.arguments)
        for call in message.tool_calls
    ]
    return ParsedCalls(normal_text=message.content if isinstance(message.content, str) else "", calls=calls)


def separated_reasoning(request: SeparateReasoningRequest, served: ServedModel, limits: Limits) -> SeparatedReasoning:
    """The reasoning in a text, and the rest of the text, calls included, unchanged.

    Raises:
        RequestError: `E-REQUEST-FIELD`, there is no such parser.
    """
    fmt = _format(request.reasoning_parser, served, "/reasoning_parser")
    message = fmt.parse(request.text, [], limits=limits)
    content = message.content if isinstance(message.content, str) else ""
    return SeparatedReasoning(reasoning_text=message.reasoning_content or "", text=content)


def _format(name: str | None, served: ServedModel, pointer: str) -> ChatFormat:
    if name is None:
        return served.codec.format
    try:
        return formats.get(name)
    except FormatError as error:
        raise bad_field(pointer, error.message) from error


def _name(tool: dict[str, Any]) -> object:
    inner = next((tool[kind] for kind in ("function", "custom") if isinstance(tool.get(kind), dict)), tool)
    return inner.get("name")
