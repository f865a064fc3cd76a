"""The JSON of requests and answers of `/v1/completions`, field by field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from syntagma.serving.answer_fields import AnswerFields
from syntagma.serving.prompt_logprobs import PromptLogprobs
from syntagma.serving.usage import StreamOptions, Usage

__all__ = ["Choice", "Completion", "CompletionRequest", "Logprobs"]


class CompletionRequest(AnswerFields, kw_only=True):
    """Body of `POST /v1/completions`."""

    prompt: str | list[str | int | list[int]]
    model: str | None = None
    max_tokens: int | None = None
    n: int | None = None
    best_of: int | None = None
    echo: bool | None = None
    suffix: str | None = None
    logprobs: int | None = None
    explain: bool | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    user: str | None = None


class Logprobs(msgspec.Struct, kw_only=True):
    """The tokens of a text: texts, log-probabilities, the likeliest at each position, and offsets in code points."""

    tokens: list[str] = []
    token_logprobs: list[float | None] = []
    top_logprobs: list[dict[str, float] | None] = []
    text_offset: list[int] = []


class Choice(msgspec.Struct, kw_only=True):
    """One of `n` texts, or a part of it."""

    index: int
    text: str
    logprobs: Logprobs | None = None
    finish_reason: Literal["stop", "length"] | None = None
    token_ids: list[int] | UnsetType = UNSET
    prompt_token_ids: Sequence[int] | UnsetType = UNSET
    prompt_logprobs: PromptLogprobs | UnsetType = UNSET


class Completion(msgspec.Struct, kw_only=True):
    """A whole answer, or a chunk. `usage`, if asked for, is in every chunk, and null in all but the last."""

    id: str
    object: Literal["text_completion"] = "text_completion"
    created: int
    model: str
    choices: list[Choice]
    usage: Usage | UnsetType | None = UNSET
    system_fingerprint: None = None
