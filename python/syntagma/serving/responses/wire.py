"""The JSON of requests and answers of `/v1/responses`, field by field."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from syntagma.serving.answer_fields import AnswerFields

__all__ = [
    "CallItem",
    "ContentPart",
    "CustomCallItem",
    "IncompleteDetails",
    "MessageItem",
    "OutputItem",
    "Reasoning",
    "ReasoningItem",
    "ReasoningPart",
    "Response",
    "ResponsesRequest",
    "Status",
    "TextOptions",
    "Usage",
]

Status = Literal["in_progress", "completed", "incomplete", "failed"]


class Reasoning(msgspec.Struct, kw_only=True):
    """How much to reason."""

    effort: str | None = None
    summary: str | None = None
    generate_summary: str | None = None


class TextOptions(msgspec.Struct, kw_only=True):
    """The shape of the answer's text."""

    format: dict[str, Any] | None = None
    verbosity: str | None = None


class StreamOptions(msgspec.Struct, kw_only=True):
    """Options of a stream."""

    include_obfuscation: bool | None = None


class ResponsesRequest(AnswerFields, kw_only=True):
    """Body of `POST /v1/responses`, with the fields of sampling and constraints that every endpoint has."""

    input: str | list[dict[str, Any]]
    model: str | None = None
    instructions: str | None = None
    previous_response_id: str | None = None
    store: bool | None = None
    tools: list[dict[str, Any]] | None = None
    tool_choice: str | dict[str, Any] | None = None
    parallel_tool_calls: bool | None = None
    text: TextOptions | None = None
    reasoning: Reasoning | None = None
    max_output_tokens: int | None = None
    top_logprobs: int | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    truncation: str | None = None
    background: bool | None = None
    conversation: Any = None
    prompt: Any = None
    max_tool_calls: int | None = None
    access_programs: Any = None
    background_options: Any = None
    context_management: Any = None
    image: Any = None
    moderation: Any = None
    include: list[str] | None = None
    metadata: dict[str, str] | None = None
    user: str | None = None
    service_tier: str | None = None
    prompt_cache_key: str | None = None
    prompt_cache_options: Any = None
    prompt_cache_retention: str | None = None
    safety_identifier: str | None = None


class ContentPart(msgspec.Struct, kw_only=True):
    """Text of the answer."""

    type: Literal["output_text"] = "output_text"
    text: str
    annotations: list[Any] = []
    logprobs: list[Any] = []


class MessageItem(msgspec.Struct, kw_only=True, tag_field="type", tag="message"):
    """A message of the assistant."""

    id: str
    role: Literal["assistant"] = "assistant"
    status: Literal["in_progress", "completed", "incomplete"] = "in_progress"
    content: list[ContentPart] = []


class ReasoningPart(msgspec.Struct, kw_only=True):
    """Text of reasoning."""

    type: Literal["reasoning_text"] = "reasoning_text"
    text: str


class ReasoningItem(msgspec.Struct, kw_only=True, tag_field="type", tag="reasoning"):
    """Reasoning of the assistant."""

    id: str
    summary: list[Any] = []
    content: list[ReasoningPart] = []
    encrypted_content: str | UnsetType = UNSET
    status: Literal["in_progress", "completed", "incomplete"] = "in_progress"


class CallItem(msgspec.Struct, kw_only=True, tag_field="type", tag="function_call"):
    """A call of a function."""

    id: str
    call_id: str
    name: str
    namespace: str | UnsetType = UNSET
    arguments: str = ""
    status: Literal["in_progress", "completed", "incomplete"] = "in_progress"


class CustomCallItem(msgspec.Struct, kw_only=True, tag_field="type", tag="custom_tool_call"):
    """A call of a custom tool."""

    id: str
    call_id: str
    name: str
    namespace: str | UnsetType = UNSET
    input: str = ""


OutputItem = MessageItem | ReasoningItem | CallItem | CustomCallItem


class InputTokens(msgspec.Struct, kw_only=True):
    """How many of the prompt's tokens came from a cache; always 0, since it is not known."""

    cached_tokens: int = 0
    cache_write_tokens: int = 0


class OutputTokens(msgspec.Struct, kw_only=True):
    """How many of the answer's tokens are reasoning."""

    reasoning_tokens: int = 0


class Usage(msgspec.Struct, kw_only=True):
    """Tokens of prompt and answer."""

    input_tokens: int
    input_tokens_details: InputTokens = msgspec.field(default_factory=InputTokens)
    output_tokens: int
    output_tokens_details: OutputTokens = msgspec.field(default_factory=OutputTokens)
    total_tokens: int


class IncompleteDetails(msgspec.Struct, kw_only=True):
    """Why an answer was cut off."""

    reason: Literal["max_output_tokens"] = "max_output_tokens"


class Response(msgspec.Struct, kw_only=True):
    """The answer, with the request's options. `store` and the penalties are not in OpenAI's types, but in those of Open
    Responses.
    """

    id: str
    object: Literal["response"] = "response"
    created_at: int
    completed_at: int | None = None
    status: Status = "in_progress"
    background: bool = False
    error: Any = None
    frequency_penalty: float = 0.0
    incomplete_details: IncompleteDetails | None = None
    instructions: str | None
    max_output_tokens: int | None
    max_tool_calls: int | None = None
    model: str
    output: list[OutputItem] = []
    parallel_tool_calls: bool
    presence_penalty: float = 0.0
    previous_response_id: str | None
    prompt_cache_key: str | None = None
    reasoning: Reasoning
    safety_identifier: str | None = None
    service_tier: Literal["default"] = "default"
    store: bool
    temperature: float
    text: dict[str, Any]
    tool_choice: str | dict[str, Any]
    tools: list[dict[str, Any]]
    top_logprobs: int
    top_p: float
    truncation: Literal["disabled"] = "disabled"
    usage: Usage | None = None
    user: str | None = None
    metadata: dict[str, str]
