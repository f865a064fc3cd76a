"""The events of a parser while a message streams in.

Every event has a `span`, the half-open range `(start, end)` of code points of `parser.raw` that it was read from. An
event is never revoked. Its kind and text do not depend on how the stream is split into chunks; adjacent deltas of one
kind may be split differently, but their concatenation is the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

import msgspec

__all__ = [
    "ContentDelta",
    "Event",
    "FinishReason",
    "Malformed",
    "MessageEnd",
    "ReasoningDelta",
    "Span",
    "ToolCallDelta",
    "ToolCallEnd",
    "ToolCallStart",
    "to_openai",
]

Span: TypeAlias = tuple[int, int]
FinishReason: TypeAlias = Literal["stop", "length", "tool_calls"]


class ReasoningDelta(msgspec.Struct, frozen=True, tag="reasoning_delta"):
    """A piece of reasoning."""

    text: str
    span: Span


class ContentDelta(msgspec.Struct, frozen=True, tag="content_delta"):
    """A piece of the answer."""

    text: str
    span: Span


class ToolCallStart(msgspec.Struct, frozen=True, tag="tool_call_start"):
    """The commit point of a call: its name is complete and its arguments have begun."""

    index: int
    """0-based number of the call in its message"""
    id: str
    name: str
    span: Span


class ToolCallDelta(msgspec.Struct, frozen=True, tag="tool_call_delta"):
    """A fragment of the call's arguments, as JSON text."""

    index: int
    arguments: str
    span: Span


class ToolCallEnd(msgspec.Struct, frozen=True, tag="tool_call_end"):
    """A call ended. `id` is set if the text has the id after the arguments; it then replaces the one of the start."""

    index: int
    complete: bool
    span: Span
    id: str | None = None


class Malformed(msgspec.Struct, frozen=True, tag="malformed"):
    """A deviation from the format. The text is kept, as content unless `message` says otherwise."""

    code: str
    message: str
    span: Span


class MessageEnd(msgspec.Struct, frozen=True, tag="message_end"):
    """The message ended. The reason is `tool_calls` only after a natural stop with at least one complete call."""

    finish_reason: FinishReason
    span: Span


Event: TypeAlias = ReasoningDelta | ContentDelta | ToolCallStart | ToolCallDelta | ToolCallEnd | Malformed | MessageEnd


def to_openai(events: Iterable[Event], *, reasoning_field: str = "reasoning_content") -> dict[str, Any]:
    """Events as the `delta` of a streamed answer of OpenAI's API.

    Args:
        events: consecutive events, in order.
        reasoning_field: the key for reasoning, for which there is no standard; vLLM uses `reasoning`.

    Returns:
        `content`, the reasoning and `tool_calls`, each only if it is not empty. The first part of a call has `id`,
        `type` and `name`. An id that the model writes after the arguments is not included, nor is the finish reason:
        see `StreamParser.finish_reason`.
    """
    texts = {reasoning_field: "", "content": ""}
    calls: list[dict[str, Any]] = []
    for event in events:
        match event:
            case ContentDelta(text=text):
                texts["content"] += text
            case ReasoningDelta(text=text):
                texts[reasoning_field] += text
            case ToolCallStart(index=index, id=call_id, name=name):
                function = {"name": name, "arguments": ""}
                calls.append({"index": index, "id": call_id, "type": "function", "function": function})
            case ToolCallDelta(index=index, arguments=arguments):
                if not calls or calls[-1]["index"] != index:
                    calls.append({"index": index, "function": {"arguments": ""}})
                calls[-1]["function"]["arguments"] += arguments
    delta: dict[str, Any] = {name: text for name, text in texts.items() if text}
    return {**delta, "tool_calls": calls} if calls else delta
