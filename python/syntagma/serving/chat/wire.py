"""The JSON of requests and answers of `/v1/chat/completions`, field by field.

Requests may have more members than are listed here: unknown ones are reported back, never refused. Answers have exactly
the fields that typed clients know, and a few that other servers have made common (`reasoning_content`,
`reasoning`, `usage.extra`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from syntagma.serving.answer_fields import AnswerFields
from syntagma.serving.logprobs import TokenLogprobEntry
from syntagma.serving.prompt_logprobs import PromptLogprobs
from syntagma.serving.usage import StreamOptions, Usage

__all__ = [
    "ChatChunk",
    "ChatCompletion",
    "ChatRequest",
    "Choice",
    "ChoiceLogprobs",
    "ChunkChoice",
    "Delta",
    "DeltaCall",
    "DeltaCustom",
    "DeltaFunction",
    "RequestMessage",
    "ResponseMessage",
]

FinishReason = Literal["stop", "length", "tool_calls", "function_call"]


class RequestMessage(msgspec.Struct, kw_only=True):
    """A message of the conversation; further fields go to the template as they are."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[dict[str, Any]] | None = None
    name: str | None = None
    tool_calls: list[dict[str, Any]] | None = None
    function_call: dict[str, Any] | None = None
    tool_call_id: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None


class ChatRequest(AnswerFields, kw_only=True):
    """Body of `POST /v1/chat/completions`."""

    messages: list[RequestMessage]
    model: str | None = None
    tools: list[dict[str, Any]] | None = None
    tool_choice: str | dict[str, Any] | None = None
    parallel_tool_calls: bool | None = None
    functions: list[dict[str, Any]] | None = None
    function_call: str | dict[str, Any] | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    n: int | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = None
    explain: bool | None = None
    include_diagnostics: bool | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    chat_template_kwargs: dict[str, Any] | None = None
    chat_template: str | None = None
    reasoning_effort: str | None = None
    documents: list[dict[str, Any]] | None = None
    add_generation_prompt: bool | None = None
    continue_final_message: bool | None = None
    separate_reasoning: bool | None = None
    include_reasoning: bool | None = None
    stream_reasoning: bool | None = None
    modalities: list[str] | None = None
    audio: Any = None
    moderation: Any = None
    web_search_options: Any = None
    metadata: Any = None
    prediction: Any = None
    prompt_cache_key: Any = None
    prompt_cache_options: Any = None
    prompt_cache_retention: Any = None
    safety_identifier: Any = None
    service_tier: Any = None
    store: Any = None
    user: str | None = None
    verbosity: Any = None


class ChoiceLogprobs(msgspec.Struct, kw_only=True):
    """Every sampled token of the choice, with reasoning and calls, without the end-of-turn token."""

    content: list[TokenLogprobEntry]
    refusal: None = None


class ResponseMessage(msgspec.Struct, kw_only=True):
    """The assistant's message."""

    role: Literal["assistant"] = "assistant"
    content: str | None
    refusal: None = None
    annotations: list[Any] = []
    reasoning_content: str | UnsetType = UNSET
    reasoning: str | UnsetType = UNSET
    tool_calls: list[dict[str, Any]] | UnsetType = UNSET
    function_call: dict[str, Any] | UnsetType = UNSET


class Choice(msgspec.Struct, kw_only=True):
    """One of `n` answers."""

    index: int
    message: ResponseMessage
    logprobs: ChoiceLogprobs | None = None
    finish_reason: FinishReason
    token_ids: list[int] | UnsetType = UNSET


class ChatCompletion(msgspec.Struct, kw_only=True):
    """A whole answer."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[Choice]
    usage: Usage
    system_fingerprint: None = None
    prompt_token_ids: Sequence[int] | UnsetType = UNSET
    prompt_logprobs: PromptLogprobs | UnsetType = UNSET


class DeltaFunction(msgspec.Struct, kw_only=True):
    """Name and arguments of a call, or the next fragment of the arguments."""

    name: str | UnsetType = UNSET
    arguments: str


class DeltaCustom(msgspec.Struct, kw_only=True):
    """Name and input of a call of a custom tool, or more of the input."""

    name: str | UnsetType = UNSET
    input: str


class DeltaCall(msgspec.Struct, kw_only=True):
    """A part of a call; `id` and `type` come with its first part."""

    index: int
    id: str | UnsetType = UNSET
    type: Literal["function", "custom"] | UnsetType = UNSET
    function: DeltaFunction | UnsetType = UNSET
    custom: DeltaCustom | UnsetType = UNSET


class Delta(msgspec.Struct, kw_only=True):
    """The new part of the message in a chunk."""

    role: Literal["assistant"] | UnsetType = UNSET
    content: str | UnsetType = UNSET
    reasoning_content: str | UnsetType = UNSET
    reasoning: str | UnsetType = UNSET
    tool_calls: list[DeltaCall] | UnsetType = UNSET
    function_call: DeltaFunction | UnsetType = UNSET


class ChunkChoice(msgspec.Struct, kw_only=True):
    """The new part of one choice in a chunk."""

    index: int
    delta: Delta
    logprobs: ChoiceLogprobs | None = None
    finish_reason: FinishReason | None = None
    token_ids: list[int] | UnsetType = UNSET


class ChatChunk(msgspec.Struct, kw_only=True):
    """One server-sent event of an answer. `usage`, if asked for, is in every chunk, and null in all but the last."""

    id: str
    object: Literal["chat.completion.chunk"] = "chat.completion.chunk"
    created: int
    model: str
    choices: list[ChunkChoice]
    usage: Usage | UnsetType | None = UNSET
    system_fingerprint: None = None
    prompt_token_ids: Sequence[int] | UnsetType = UNSET
