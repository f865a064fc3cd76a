"""The one request and the one stream of events under every endpoint.

An endpoint's dialect is a reader that makes an `InnerRequest` of a body, and a writer that makes bytes of what happens.
Between the two nothing knows which endpoint was asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from syntagma.decoding.upstream import TextLogprob
from syntagma.events import Event, FinishReason
from syntagma.generation import FieldReport, GenerationOptions, Metrics
from syntagma.messages import Message
from syntagma.request import ResolvedRequest
from syntagma.serving.prompt_logprobs import PromptLogprobs

__all__ = ["Began", "Ended", "Happening", "InnerRequest", "Wrote"]


class InnerRequest(msgspec.Struct, frozen=True, kw_only=True):
    """An answer that was asked for, read and checked.

    Attributes:
        model: the model's name; None: the only one.
        messages: the conversation as the codec takes it: text parts joined, further fields of a message kept.
        resolved: what the answer must be.
        options: for the first choice; choice i has the seed plus i.
        n: how many answers.
        documents: for templates that quote documents.
        add_generation_prompt: open the assistant's turn at the end of the prompt.
        continue_final_message: let the model go on with the final message.
        final_message: the pointer of its text in the request.
        return_token_ids: the client wants the ids of all tokens.
        prompt_logprobs: so many of the likeliest tokens are wanted for each place of the prompt; None: none, nor the
            log-probability of what stands there.
        places: where in the request things stand that stand elsewhere in chat completions; see `pointers.placed`.
        stream_reasoning: hand reasoning out as it comes, not in one piece.
        prompt: the prompt itself, in place of a conversation; the answer is then plain text. None: there is none.
        thinking: whether the model is to reason, where its template has a switch for it; None: nothing is said.
    """

    model: str | None
    messages: list[dict[str, Any]]
    resolved: ResolvedRequest
    options: GenerationOptions
    n: int = 1
    documents: list[dict[str, Any]] | None = None
    add_generation_prompt: bool = True
    continue_final_message: bool = False
    final_message: str = "/messages"
    return_token_ids: bool = False
    prompt_logprobs: int | None = None
    places: Mapping[str, str] = {}
    stream_reasoning: bool = True
    prompt: str | tuple[int, ...] | None = None
    thinking: bool | None = None


class Began(msgspec.Struct, frozen=True):
    """The engine has begun to write a choice.

    Attributes:
        index: which one.
        prompt_tokens: tokens of the prompt; 0 where the engine does not tell before its end.
        prompt_ids: their ids, if they are wanted.
        prompt_logprobs: what the model makes of each, if that is wanted; of the first one, nothing.
    """

    index: int
    prompt_tokens: int = 0
    prompt_ids: Sequence[int] | None = None
    prompt_logprobs: PromptLogprobs | None = None


class Wrote(msgspec.Struct, frozen=True):
    """A choice goes on; `token_ids` are those of the new tokens, where the engine tells."""

    index: int
    events: Sequence[Event]
    logprobs: Sequence[TextLogprob]
    token_ids: Sequence[int] = ()


class Ended(msgspec.Struct, frozen=True):
    """A choice is whole.

    Attributes:
        index: which one.
        finish_reason: as the parser says.
        message: all of it.
        metrics: what it took.
        stopped_by: the stop string of the request that ended it, if it was seen.
        fields: what the fields of the message are made of, if that was asked for.
    """

    index: int
    finish_reason: FinishReason
    message: Message
    metrics: Metrics
    stopped_by: str | None = None
    fields: FieldReport | None = None


Happening: TypeAlias = Began | Wrote | Ended
