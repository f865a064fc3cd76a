"""The interface of engines that sample by themselves: prompt and constraint in, text out.

A `Backend` returns logits; Syntagma applies masks, sampling and stop strings. An `Upstream` does all of that itself,
often on another machine. `syntagma.generation` drives both.

The interface is asynchronous, because an upstream mostly waits: one thread serves hundreds of streams.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

import msgspec

from syntagma.decoding.sampling import Sampling
from syntagma.decoding.tokenizer_info import TokenizerInfo

__all__ = ["Completion", "Constraint", "EngineFacts", "Piece", "TextLogprob", "TokenizingUpstream", "Upstream"]


class Constraint(msgspec.Struct, frozen=True, kw_only=True):
    """A grammar that the engine's text must match.

    Attributes:
        language: the notation of `source`, a key of `Grammar.exports`.
        source: the grammar: text, or plain data for `structural_tag` and `json_schema`.
    """

    language: str
    source: Any


class Completion(msgspec.Struct, frozen=True, kw_only=True):
    """The request for one text.

    Attributes:
        prompt: rendered text, in which the text of a special token means this token; or token ids. The engine must add
            nothing to it.
        sampling: how tokens are chosen. Further sampling options of an engine are switched off.
        max_tokens: largest number of tokens; None: the rest of the context.
        stop: texts that end the output and are not part of it.
        logprobs: how many of the most likely tokens to return with each token's log-probability; None: no
            log-probabilities.
        constraint: the constraint, in a language of `Upstream.languages`; None: none.
        preserved_tokens: special tokens whose text must be kept in the output.
        min_tokens: smallest number of tokens before the text may end.
        ignore_eos: the model's own end tokens do not end the text.
        stop_token_ids: further tokens that end the text.
        excluded: texts that must not occur in the output.
    """

    prompt: str | Sequence[int]
    sampling: Sampling = Sampling()
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    logprobs: int | None = None
    constraint: Constraint | None = None
    preserved_tokens: tuple[str, ...] = ()
    min_tokens: int = 0
    ignore_eos: bool = False
    stop_token_ids: tuple[int, ...] = ()
    excluded: tuple[str, ...] = ()


class TextLogprob(msgspec.Struct, frozen=True, kw_only=True):
    """A token of the output, with its natural log-probability.

    Attributes:
        data: the token's bytes. A UTF-8 character may be cut between tokens.
        logprob: the log-probability that the engine reports.
        top: bytes and log-probabilities of the most likely tokens at this place, in descending order.
    """

    data: bytes
    logprob: float
    top: tuple[tuple[bytes, float], ...] = ()


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """The new part of a stream. One piece has a finish reason; counts may follow it, but no text.

    Attributes:
        text: the new text; may be empty.
        tokens: its number of tokens, if the engine reports it. It is used if no piece has `completion_tokens`.
        logprobs: the log-probabilities of the new tokens, if requested.
        finish_reason: `stop`: the model ended its turn, or a stop string occurred; `length`: `max_tokens` or the
            context is used up.
        prompt_tokens: tokens of the prompt, if the engine reports them.
        completion_tokens: tokens of the output so far, if the engine reports them.
    """

    text: str = ""
    tokens: int = 0
    logprobs: tuple[TextLogprob, ...] = ()
    finish_reason: Literal["stop", "length"] | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class EngineFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts that an engine reports about itself; None or empty if it does not report them.

    Attributes:
        model_name: the name of its model.
        chat_template: the Jinja text of the chat template.
        bos_token: the template's variable of this name.
        eos_token: the template's variable of this name.
        context_length: the largest number of tokens of prompt and answer together.
    """

    model_name: str
    chat_template: str | None = None
    bos_token: str = ""
    eos_token: str = ""
    context_length: int | None = None


@runtime_checkable
class Upstream(Protocol):
    """An engine that generates text. Safe for several threads and event loops."""

    @property
    def address(self) -> str:
        """The engine's address, for messages to the operator."""
        ...

    @property
    def model_name(self) -> str:
        """The name under which its model is served. It is final only after `describe` has returned."""
        ...

    @property
    def languages(self) -> tuple[str, ...]:
        """The keys of `Grammar.exports` that it can enforce, best first; empty: it enforces no grammars."""
        ...

    @property
    def tokenizer_info(self) -> TokenizerInfo | None:
        """The vocabulary, if the engine takes token ids and its vocabulary is known; None: prompts are text."""
        ...

    def holds(self, constraint: Constraint) -> bool:
        """Whether it can enforce a constraint in one of its languages completely."""
        ...

    async def describe(self) -> EngineFacts:
        """Ask the engine for facts about itself.

        Raises:
            UpstreamError: the engine cannot be reached, or its answer is unusable.
        """
        ...

    def stream(self, asked: Completion) -> AsyncGenerator[Piece, None]:
        """Generate a text. Closing the iterator, or cancelling its task, stops the engine.

        Raises:
            UpstreamError: `E-UPSTREAM-…`, raised by the iterator. `again` is true only before the first piece.
        """
        ...

    async def check(self) -> None:
        """Check that the engine can answer now.

        Raises:
            UpstreamError: it cannot.
        """
        ...

    async def close(self) -> None:
        """Close its connections."""
        ...


@runtime_checkable
class TokenizingUpstream(Upstream, Protocol):
    """An engine that tells the tokens of a text."""

    async def tokenize(self, text: str) -> list[int] | None:
        """The engine's token ids of a text, in which the text of a special token means this token; None: it tells none.

        Raises:
            UpstreamError: the engine cannot be reached, or its answer is unusable.
        """
        ...
