"""What a parser reports while a message streams in.

Every event has a `span`: a half-open range `(start, end)` of code points of `parser.raw` that it was read from. An
event is never taken back, and its kind and text never depend on how the stream was cut into chunks (adjacent deltas
of the same kind may be cut differently; their concatenation is the same).
"""

from __future__ import annotations

from typing import Literal, TypeAlias

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
]

Span: TypeAlias = tuple[int, int]
FinishReason: TypeAlias = Literal["stop", "length", "tool_calls"]


class ReasoningDelta(msgspec.Struct, frozen=True, tag="reasoning_delta"):
    """More reasoning text."""

    text: str
    span: Span


class ContentDelta(msgspec.Struct, frozen=True, tag="content_delta"):
    """More text of the answer."""

    text: str
    span: Span


class ToolCallStart(msgspec.Struct, frozen=True, tag="tool_call_start"):
    """A call is committed: its name is complete and its arguments have begun."""

    index: int
    """ordinal of the call in its message, from 0"""
    id: str
    name: str
    span: Span


class ToolCallDelta(msgspec.Struct, frozen=True, tag="tool_call_delta"):
    """A fragment of the call's arguments, as JSON text."""

    index: int
    arguments: str
    span: Span


class ToolCallEnd(msgspec.Struct, frozen=True, tag="tool_call_end"):
    """A call ended. `id` is set when the wire gave the id only after the arguments; it then replaces the first one."""

    index: int
    complete: bool
    span: Span
    id: str | None = None


class Malformed(msgspec.Struct, frozen=True, tag="malformed"):
    """Something was odd. The text it concerns is kept (as content, unless the message says otherwise)."""

    code: str
    message: str
    span: Span


class MessageEnd(msgspec.Struct, frozen=True, tag="message_end"):
    """The message is over. `tool_calls` only after a natural stop with at least one complete call."""

    finish_reason: FinishReason
    span: Span


Event: TypeAlias = ReasoningDelta | ContentDelta | ToolCallStart | ToolCallDelta | ToolCallEnd | Malformed | MessageEnd
