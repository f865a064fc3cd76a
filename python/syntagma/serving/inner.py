"""The request and the stream of updates that all endpoints share.

An endpoint's dialect is a reader that makes an `InnerRequest` from a body, and a writer that makes bytes from
updates. Nothing between the two knows which endpoint was asked.
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
from syntagma.serving.prompt_logprobs import EchoedToken, PromptLogprobs

__all__ = ["Began", "Echo", "Ended", "InnerRequest", "Update", "Wrote"]


class InnerRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request for an answer, read and checked.

    Attributes:
        model: the model's name; None: the only model.
        messages: the conversation as the codec takes it: text parts are joined, further fields of a message kept.
        resolved: tools, tool choice, response format and budgets.
        options: for the first choice; choice i has the seed plus i.
        n: the number of choices.
        documents: for templates that quote documents.
        add_generation_prompt: whether to open the assistant's turn at the end of the prompt.
        continue_final_message: whether the model continues the final message.
        final_message: the pointer of that message's text in the request.
        return_token_ids: whether the client asks for the ids of all tokens.
        prompt_logprobs: give log-probabilities for each token of the prompt: its own, and those of so many of the
            likeliest tokens. None: give none.
        places: pointers in chat completions → pointers in this request; see `pointers.placed`.
        stream_reasoning: whether reasoning is sent as it comes, rather than in one piece.
        unknown_as_content: whether the text of a call of an undeclared tool is content.
        prompt: the prompt, text or token ids, in place of a conversation; the answer is then plain text. None: the
            prompt is rendered from `messages`.
        more_prompts: further prompts, likewise; their choices come after those of `prompt`.
        echo: whether the prompt comes back before each choice.
        budget_may_fall: the pointer of a budget that engines without budgets may leave out; None: they refuse it.
        thinking: whether the model is to reason, if its template has a switch for it; None: the request does not say.
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
    unknown_as_content: bool = False
    prompt: str | tuple[int, ...] | None = None
    more_prompts: tuple[str | tuple[int, ...], ...] = ()
    echo: bool = False
    budget_may_fall: str | None = None
    thinking: bool | None = None


class Echo(msgspec.Struct, frozen=True):
    """A prompt that comes back before its answer: its text, and its tokens if log-probabilities are asked for."""

    text: str
    tokens: tuple[EchoedToken, ...] = ()


class Began(msgspec.Struct, frozen=True):
    """The engine has begun to write a choice.

    Attributes:
        index: index of the choice.
        prompt_tokens: tokens of the prompt; 0 if the engine does not give their number before its end.
        prompt_ids: their ids, if asked for.
        prompt_logprobs: their log-probabilities, if asked for; none for the first token.
        echo: the prompt, if it is to come back.
    """

    index: int
    prompt_tokens: int = 0
    prompt_ids: Sequence[int] | None = None
    prompt_logprobs: PromptLogprobs | None = None
    echo: Echo | None = None


class Wrote(msgspec.Struct, frozen=True):
    """A choice goes on; `token_ids` are those of the new tokens, if the engine gives them."""

    index: int
    events: Sequence[Event]
    logprobs: Sequence[TextLogprob]
    token_ids: Sequence[int] = ()


class Ended(msgspec.Struct, frozen=True):
    """A choice is complete.

    Attributes:
        index: index of the choice.
        finish_reason: the parser's.
        message: the whole message.
        metrics: its time and tokens.
        stopped_by: the stop string of the request that ended it, if one was found.
        fields: the fields of the message and their tokens, if asked for.
        reasoning_tokens: tokens of the answer with which reasoning came.
    """

    index: int
    finish_reason: FinishReason
    message: Message
    metrics: Metrics
    stopped_by: str | None = None
    fields: FieldReport | None = None
    reasoning_tokens: int = 0


Update: TypeAlias = Began | Wrote | Ended
