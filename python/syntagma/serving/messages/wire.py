"""The JSON of requests and answers of `/v1/messages`, field by field."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from syntagma.serving.answer_fields import AnswerFields

__all__ = [
    "Answer",
    "Block",
    "CountRequest",
    "InputMessage",
    "MessagesRequest",
    "OutputConfig",
    "StopReason",
    "Thinking",
    "ToolChoice",
    "ToolDefinition",
    "Usage",
]

StopReason = Literal["end_turn", "max_tokens", "stop_sequence", "tool_use"]


class InputMessage(msgspec.Struct, kw_only=True):
    """A message of the conversation; `content` is text or blocks."""

    role: Literal["user", "assistant", "system"]
    content: str | list[dict[str, Any]]


class ToolDefinition(msgspec.Struct, kw_only=True):
    """A declared tool."""

    name: str | None = None
    description: str | None = None
    input_schema: dict[str, Any] | None = None
    strict: bool | None = None
    type: str | None = None
    cache_control: Any = None


class ToolChoice(msgspec.Struct, kw_only=True):
    """Whether tools may, must or must not be called."""

    type: Literal["auto", "any", "tool", "none"]
    name: str | None = None
    disable_parallel_tool_use: bool | None = None


class Thinking(msgspec.Struct, kw_only=True):
    """Whether to reason, and for how long."""

    type: Literal["enabled", "adaptive", "disabled"]
    budget_tokens: int | None = None
    display: str | None = None


class OutputConfig(msgspec.Struct, kw_only=True):
    """The response format and the reasoning effort."""

    format: dict[str, Any] | None = None
    effort: str | None = None


class CountRequest(AnswerFields, kw_only=True):
    """Body of `POST /v1/messages/count_tokens`: the fields that it shares with `/v1/messages`.

    They include the fields of sampling and constraints that other servers have made common.
    """

    messages: list[InputMessage]
    model: str | None = None
    system: str | list[dict[str, Any]] | None = None
    tools: list[ToolDefinition] | None = None
    tool_choice: ToolChoice | None = None
    thinking: Thinking | None = None
    output_config: OutputConfig | None = None
    cache_control: Any = None


class MessagesRequest(CountRequest, kw_only=True):
    """Body of `POST /v1/messages`."""

    max_tokens: int
    stop_sequences: list[str] | None = None
    stream: bool | None = None
    metadata: Any = None
    service_tier: str | None = None
    container: Any = None
    inference_geo: Any = None
    diagnostics: Any = None
    speed: Any = None
    user_profile_id: Any = None
    workspace_id: Any = None


class Block(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A block of an answer: `text`, `thinking`, or `tool_use`."""

    type: Literal["text", "thinking", "tool_use"]
    text: str | UnsetType = UNSET
    thinking: str | UnsetType = UNSET
    signature: str | UnsetType = UNSET
    id: str | UnsetType = UNSET
    name: str | UnsetType = UNSET
    input: Any = UNSET


class Usage(msgspec.Struct, kw_only=True):
    """Tokens of prompt and answer."""

    input_tokens: int
    output_tokens: int
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0


class Answer(msgspec.Struct, kw_only=True):
    """The assistant's message."""

    id: str
    type: Literal["message"] = "message"
    role: Literal["assistant"] = "assistant"
    model: str
    content: list[Block]
    stop_reason: StopReason | None
    stop_sequence: str | None
    usage: Usage
