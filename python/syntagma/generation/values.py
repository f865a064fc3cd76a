"""What a generation is asked for, and what it reports."""

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
    """What one generation is asked for.

    Attributes:
        sampling: temperature, nucleus and seed.
        max_tokens: tokens to sample at most, the end-of-turn token included; None: as many as the context holds.
        stop: texts that end the output and never appear in it. They are looked for in the raw text, reasoning and
            calls included.
        logprobs: None computes none; otherwise each step has the chosen token's log-probability and this many of the
            likeliest tokens. They are the model's own, before mask and temperature.
        min_tokens: no token ends the text before there are this many, unless a grammar leaves nothing else.
        ignore_eos: the model's own end tokens never end the text, unless a grammar leaves nothing else.
        stop_token_ids: further tokens that end the text, like the model's own.
        excluded: texts that never appear in the output, however they are cut into tokens. One that a grammar demands,
            or with which a text is brought to its legal end, appears all the same.
        complete: whether a text with a grammar is brought to a legal end before the tokens run out, by the fewest
            tokens and whatever the model wants. Where not, and where the limit is too low for any legal text, it is
            cut off.
        jump_forward: whether text that the grammar forces is taken without asking the model, as the tokens that the
            tokenizer makes of it; the model reads it together with the next token. Where log-probabilities,
            `explain`, `logit_bias` or `allowed_token_ids` are asked for, the model is asked for every token.
        explain: whether each step has its log-probability and tells how much probability the grammar took away, and
            which token the model held for the likeliest. It costs a pass over the logits for each token.
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
        cut: a stop string begins inside the token; `data` is what stands before it.
        end: it ended the turn (an end-of-sequence token).
        logprob: natural log-probability, or None if not asked for.
        top_logprobs: the likeliest tokens at this place, likeliest first.
        forced: the grammar allowed this token only, or the text was brought to its legal end with it.
        masked: the probability that the model gave to tokens which the grammar did not allow, from 0 to 1; where the
            text was brought to its legal end, to all other tokens. None without a grammar, or if not asked for.
        preferred: the token that the model held for the likeliest, before the mask; None if not asked for.
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
    """What one generation, or several together, took. Times are wall-clock seconds.

    Attributes:
        prompt_tokens: tokens of the prompt.
        completion_tokens: tokens of the answer, the end-of-turn token included.
        forced_tokens: those of them for which the model was not asked: the grammar left one way on, or the text was
            brought to its legal end.
        forward_passes: how often the model computed, the prompt included; with no forced tokens as often as there are
            tokens, and for an engine elsewhere 0.
        grammar_init_s: reading the schema, compiling the grammar and making the matcher, beside the reading of the
            prompt; over several choices the sum.
        grammar_per_token_s: bitmask and acceptance alone, average of a token; over several choices the average.
        prefill_s: reading the prompt.
        decode_s: all steps, masks and sampling included, the consumer's time not.
        completed: answers that were brought to a legal end because their tokens ran out.
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
    """What came with one piece of an answer.

    Attributes:
        events: what the parser made of it.
        logprobs: of the tokens that are new, if asked for.
        token_ids: of the tokens that are new, one that ends the turn included; none where the engine does not tell.
        metrics: what it took so far; with the first piece, where the engine tells, and with the last.
        stopped_by: the stop string that ended the answer; with the last piece, if it was seen.
        fields: what the fields of the message are made of; with the last piece, if log-probabilities, or `explain`,
            were asked for.
    """

    events: Sequence[Event] = ()
    logprobs: Sequence[TextLogprob] = ()
    token_ids: tuple[int, ...] = ()
    metrics: Metrics | None = None
    stopped_by: str | None = None
    fields: FieldReport | None = None
