"""The options of a generation, and what it reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from syntagma.decoding.sampling import Sampling, TokenLogprob
from syntagma.decoding.upstream import TextLogprob
from syntagma.entry import check_fields
from syntagma.errors import ArgumentError
from syntagma.events import Event
from syntagma.generation.field_report import FieldReport

__all__ = ["GenerationOptions", "Metrics", "Step", "Written"]


class GenerationOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of one generation.

    Attributes:
        sampling: temperature, nucleus (`top_p`), seed and the like.
        max_tokens: tokens to sample at most, the end-of-turn token included; None: as many as the context holds.
        stop: texts that end the output and never appear in it. They are looked for in the raw text, reasoning and
            calls included.
        logprobs: each step has the chosen token's natural log-probability, and those of so many of the likeliest
            tokens. They are the model's own, before mask and temperature. None: they are not computed.
        min_tokens: no token ends the text before there are this many, unless a grammar leaves nothing else.
        ignore_eos: the model's own end tokens never end the text, unless a grammar leaves nothing else.
        stop_token_ids: further tokens that end the text, like the model's own.
        excluded: texts that never appear in the output, however they are cut into tokens. A text that the grammar
            requires, or that is part of a valid ending, appears all the same.
        complete: whether a text with a grammar is closed with its valid ending before the tokens run out, whatever the
            model prefers. If not, or if the limit is too low for any text of the grammar, it is cut off.
        jump_forward: whether text that the grammar forces is taken without asking the model, as the tokens that the
            tokenizer makes of it; the model reads it together with the next token. With log-probabilities, `explain`,
            `logit_bias` or `allowed_token_ids`, the model computes every token.
        explain: whether each step has its log-probability, the probability that the grammar masked, and the model's
            likeliest token. It costs a pass over the logits for each token.
    """

    sampling: Sampling = Sampling()
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    logprobs: int | None = None
    complete: bool = True
    jump_forward: bool = True
    min_tokens: int = 0
    ignore_eos: bool = False
    stop_token_ids: tuple[int, ...] = ()
    excluded: tuple[str, ...] = ()
    explain: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        if self.max_tokens is not None and self.max_tokens < 1:
            raise ArgumentError("E-ARGUMENT-VALUE", f"must be at least 1, not {self.max_tokens}", pointer="/max_tokens")
        if self.logprobs is not None and self.logprobs < 0:
            raise ArgumentError("E-ARGUMENT-VALUE", f"must be at least 0, not {self.logprobs}", pointer="/logprobs")
        if not 0 <= self.min_tokens <= (self.min_tokens if self.max_tokens is None else self.max_tokens):
            message = f"must be from 0 to max_tokens, not {self.min_tokens}"
            raise ArgumentError("E-ARGUMENT-VALUE", message, pointer="/min_tokens")
        if "" in self.excluded:
            raise ArgumentError("E-ARGUMENT-VALUE", "must hold no empty text", pointer="/excluded")


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One sampled token.

    Attributes:
        token_id: the token.
        data: its bytes; UTF-8 characters may be cut between steps.
        cut: whether a stop string begins inside the token; `data` is then what stands before it.
        end: whether it ended the turn (an end-of-sequence token).
        logprob: natural log-probability, or None if not asked for.
        top_logprobs: the likeliest tokens at this place, likeliest first.
        forced: whether the grammar allowed this token only, or it is part of a valid ending.
        masked: the probability that the model gave to tokens which the grammar did not allow, from 0 to 1; in a valid
            ending, to all other tokens. None without a grammar, or if not asked for.
        preferred: the model's likeliest token before the mask; None if not asked for.
    """

    token_id: int
    data: bytes
    cut: bool = False
    end: bool = False
    logprob: float | None = None
    top_logprobs: Sequence[TokenLogprob] = ()
    forced: bool = False
    masked: float | None = None
    preferred: TokenLogprob | None = None


class Metrics(msgspec.Struct, frozen=True, kw_only=True):
    """Time and tokens of one generation, or of several together. Times are wall-clock seconds.

    Attributes:
        prompt_tokens: tokens of the prompt.
        completion_tokens: tokens of the answer, the end-of-turn token included.
        forced_tokens: how many of them the model did not compute: the grammar allowed one token only, or they are part
            of a valid ending.
        forward_passes: passes of the model, the prompt included; without forced tokens, as many as there are tokens;
            0 for a running engine.
        grammar_init_s: reading the schema, compiling the grammar and making the matcher, beside the reading of the
            prompt; over several choices the sum.
        grammar_per_token_s: filling the bitmask and accepting the token, the average over tokens; over several choices
            the average.
        prefill_s: reading the prompt.
        decode_s: all steps, with masks and sampling, without the reader's time.
        completed: answers that were closed with a valid ending because their tokens ran out.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    forced_tokens: int = 0
    forward_passes: int = 0
    grammar_init_s: float = 0.0
    grammar_per_token_s: float = 0.0
    prefill_s: float = 0.0
    decode_s: float = 0.0
    completed: int = 0

    @classmethod
    def of_choices(cls, choices: Iterable[Metrics]) -> Metrics:
        """The metrics of `n` choices for one prompt: the prompt counts once, initialisation is summed, the per-token
        time averaged.
        """
        every = list(choices)
        if not every:
            return cls()
        return cls(
            prompt_tokens=every[0].prompt_tokens,
            completion_tokens=sum(one.completion_tokens for one in every),
            forced_tokens=sum(one.forced_tokens for one in every),
            forward_passes=sum(one.forward_passes for one in every),
            grammar_init_s=sum(one.grammar_init_s for one in every),
            grammar_per_token_s=sum(one.grammar_per_token_s for one in every) / len(every),
            prefill_s=sum(one.prefill_s for one in every),
            decode_s=sum(one.decode_s for one in every),
            completed=sum(one.completed for one in every),
        )


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of an answer.

    Attributes:
        events: the parser's events for it.
        logprobs: of the new tokens, if asked for.
        token_ids: of the new tokens, one that ends the turn included; empty if the engine does not give them.
        metrics: time and tokens so far; with the first piece, if the engine gives them, and with the last.
        stopped_by: the stop string that ended the answer; with the last piece, if it was found.
        fields: the fields of the message and their tokens; with the last piece, if log-probabilities or `explain` were
            asked for.
    """

    events: Sequence[Event] = ()
    logprobs: Sequence[TextLogprob] = ()
    token_ids: tuple[int, ...] = ()
    metrics: Metrics | None = None
    stopped_by: str | None = None
    fields: FieldReport | None = None
