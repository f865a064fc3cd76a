"""The one interface of an engine that samples by itself: a prompt and a constraint go out, text comes back.

A `Backend` returns logits, and masks, sampling and stop strings are ours. An `Upstream` does all of that on its own
side, often on another machine. `syntagma.generation` drives both.

It is asynchronous, since it waits rather than computes: a server holds hundreds of streams in one thread.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

import msgspec

from syntagma.decoding.sampling import Sampling
from syntagma.decoding.tokenizer_info import TokenizerInfo

__all__ = ["Completion", "Constraint", "EngineFacts", "Piece", "TextLogprob", "Upstream"]


class Constraint(msgspec.Struct, frozen=True, kw_only=True):
    """What the engine must hold its text to.

    Attributes:
        language: the notation of `source`, a key of `Grammar.exports`.
        source: the grammar: text, or plain data for `structural_tag` and `json_schema`.
    """

    language: str
    source: Any


class Completion(msgspec.Struct, frozen=True, kw_only=True):
    """One text to be written.

    Attributes:
        prompt: rendered text, in which the text of a special token stands for that token; or token ids. Nothing is to
            be added to either.
        sampling: how tokens are chosen. What engines do beyond it is switched off.
        max_tokens: tokens at most; None: as many as the context holds.
        stop: texts that end the output and do not appear in it.
        logprobs: None: none; otherwise the log-probability of each token, with so many of the likeliest.
        constraint: what the text must be, in a language of `Upstream.languages`; None: anything.
        preserved_tokens: special tokens that must appear in the output as text.
        min_tokens: no token ends the text before there are this many.
        ignore_eos: the model's own end tokens never end the text.
        stop_token_ids: further tokens that end the text.
        excluded: texts that never appear in the output.
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
    """A token that was written, with its natural log-probability.

    Attributes:
        data: its bytes; UTF-8 characters may be cut between tokens.
        logprob: as the engine counts it.
        top: bytes and log-probability of the likeliest tokens at this place, likeliest first.
    """

    data: bytes
    logprob: float
    top: tuple[tuple[bytes, float], ...] = ()


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """What is new in a stream. One piece has a finish reason; no text follows it, but counts may.

    Attributes:
        text: the text that follows; may be empty.
        tokens: how many tokens it is, where the engine reports them; they count where no piece has `completion_tokens`.
        logprobs: of the tokens that are new, if asked for.
        finish_reason: `stop`: the model ended its turn, or a stop string came; `length`: the tokens ran out.
        prompt_tokens: tokens of the prompt, where the engine reports them.
        completion_tokens: tokens written so far, where the engine reports them.
    """

    text: str = ""
    tokens: int = 0
    logprobs: tuple[TextLogprob, ...] = ()
    finish_reason: Literal["stop", "length"] | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class EngineFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What an engine says of itself; None, or empty, where it does not say.

    Attributes:
        model_name: the model that it runs.
        chat_template: the template's source.
        bos_token: the text that the template knows under this name.
        eos_token: the same.
        context_length: tokens of prompt and answer together.
    """

    model_name: str
    chat_template: str | None = None
    bos_token: str = ""
    eos_token: str = ""
    context_length: int | None = None


@runtime_checkable
class Upstream(Protocol):
    """An engine that writes text. Threads and event loops may share it."""

    @property
    def address(self) -> str:
        """Where it is, for messages to the operator."""
        ...

    @property
    def model_name(self) -> str:
        """The name under which its model is served; known for certain once `describe` was asked."""
        ...

    @property
    def languages(self) -> tuple[str, ...]:
        """The keys of `Grammar.exports` that it can enforce, the best first; empty: it enforces nothing."""
        ...

    @property
    def tokenizer_info(self) -> TokenizerInfo | None:
        """The vocabulary, for engines that take token ids and whose vocabulary is known; None: prompts are text."""
        ...

    def holds(self, constraint: Constraint) -> bool:
        """Whether it can enforce all of a constraint in one of its languages."""
        ...

    async def describe(self) -> EngineFacts:
        """What it says of itself.

        Raises:
            UpstreamError: it cannot be asked.
        """
        ...

    def stream(self, asked: Completion) -> AsyncGenerator[Piece, None]:
        """Write a text. An iterator that is closed, or whose task is cancelled, stops the engine.

        Raises:
            UpstreamError: `E-UPSTREAM-…`, from the iterator. `again` is true only before the first piece.
        """
        ...

    async def check(self) -> None:
        """Whether it would answer now.

        Raises:
            UpstreamError: it would not.
        """
        ...

    async def close(self) -> None:
        """Give its connections back."""
        ...
