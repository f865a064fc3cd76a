"""Which tokens made each field of a message, their log-probabilities, and how much probability the grammar masked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from syntagma.events import Event
from syntagma.parsing import FieldSpan, field_spans

__all__ = ["BentStep", "FieldReport", "FieldStats", "Reading", "TokenReading", "masked_mass"]

BENT = 0.5
"""above this masked mass, a step is listed"""


class FieldStats(msgspec.Struct, frozen=True, kw_only=True):
    """The tokens of one field. Every token of an answer belongs to exactly one field. Log-probabilities are natural.

    Attributes:
        pointer: JSON pointer of the field in the message, as `syntagma.parsing.field_spans` has it.
        tokens: the number of its tokens.
        forced_tokens: how many of them were the only ones allowed, or part of a valid ending. `logprob_sum`,
            `logprob_mean` and `logprob_min` leave them out.
        shared_tokens: how many of them also hold text of another field.
        logprob_sum: sum of the log-probabilities of the tokens that were chosen; None: there are none, or they are
            unknown.
        logprob_mean: their mean.
        logprob_min: the lowest of them.
        forced_logprob_sum: sum of the log-probabilities of the forced tokens; None if the model did not compute them.
        masked_max: the largest masked mass of a step; None if it was not asked for, or without a grammar.
        masked_mean: the mean of the masked mass of its steps.
    """

    pointer: str
    tokens: int
    forced_tokens: int = 0
    shared_tokens: int = 0
    logprob_sum: float | None = None
    logprob_mean: float | None = None
    logprob_min: float | None = None
    forced_logprob_sum: float | None = None
    masked_max: float | None = None
    masked_mean: float | None = None


class BentStep(msgspec.Struct, frozen=True, kw_only=True):
    """A step at which the grammar masked more than half of the probability.

    Attributes:
        index: 0-based number of the token in the answer.
        pointer: JSON pointer of its field.
        text: the token's text; U+FFFD for bytes that are no whole character.
        logprob: natural log-probability that the model gave it.
        masked: the probability of all tokens that the grammar did not allow, from 0 to 1.
        preferred: the text of the model's likeliest token.
        preferred_logprob: its natural log-probability.
    """

    index: int
    pointer: str
    text: str
    logprob: float
    masked: float
    preferred: str
    preferred_logprob: float


class FieldReport(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of an answer and their tokens, as far as it was read.

    Attributes:
        fields: in the order in which they begin.
        bent: the steps at which the grammar masked more than half of the probability, in order.
    """

    fields: tuple[FieldStats, ...] = ()
    bent: tuple[BentStep, ...] = ()


class TokenReading(msgspec.Struct, frozen=True, kw_only=True):
    """One token of an answer.

    Attributes:
        data: its bytes.
        logprob: its natural log-probability.
        forced: whether it was the only one allowed.
        masked: see `BentStep`.
        preferred: bytes and log-probability of the likeliest token.
    """

    data: bytes
    logprob: float | None = None
    forced: bool = False
    masked: float | None = None
    preferred: tuple[bytes, float] | None = None


class Reading:
    """Collects tokens, and the events that a parser made of them."""

    def __init__(self) -> None:
        self._tokens: list[TokenReading] = []
        self._ends: list[int] = []
        self._events: list[Event] = []

    def token(self, token: TokenReading, position: int) -> None:
        """Add a token; `position` is the end of the raw text after it, in code points."""
        self._tokens.append(token)
        self._ends.append(position)

    def events(self, events: Iterable[Event]) -> None:
        """Add the parser's events for the tokens added so far."""
        self._events += events

    def report(self, raw: str, *, json_content: bool = False) -> FieldReport:
        """The report of what was added.

        Args:
            raw: all text that the parser read.
            json_content: whether the content is JSON, so that it has fields of its own.
        """
        spans = field_spans(raw, self._events, json_content=json_content)
        starts = [0, *self._ends]
        fields: dict[str, _Field] = {}
        bent: list[BentStep] = []
        at = 0
        for index, (token, start, end) in enumerate(zip(self._tokens, starts, self._ends, strict=False)):
            while at < len(spans) and spans[at].end <= start:
                at += 1
            pointer, is_shared = _field_of(spans, at, end)
            fields.setdefault(pointer, _Field()).add(token, is_shared=is_shared)
            if token.masked is not None and token.masked > BENT and token.preferred is not None:
                preferred, preferred_logprob = token.preferred
                bent.append(
                    BentStep(
                        index=index,
                        pointer=pointer,
                        text=_text(token.data),
                        logprob=-math.inf if token.logprob is None else token.logprob,
                        masked=token.masked,
                        preferred=_text(preferred),
                        preferred_logprob=preferred_logprob,
                    )
                )
        return FieldReport(fields=tuple(field.stats(pointer) for pointer, field in fields.items()), bent=tuple(bent))


class _Field:
    """Counts the tokens of one field."""

    def __init__(self) -> None:
        self._tokens = self._forced = self._shared = 0
        self._logprobs: list[float] = []
        self._forced_logprobs: list[float] = []
        self._masked: list[float] = []

    def add(self, token: TokenReading, *, is_shared: bool) -> None:
        self._tokens += 1
        self._forced += token.forced
        self._shared += is_shared
        if token.logprob is not None:
            (self._forced_logprobs if token.forced else self._logprobs).append(token.logprob)
        if token.masked is not None:
            self._masked.append(token.masked)

    def stats(self, pointer: str) -> FieldStats:
        chosen, forced, masked = self._logprobs, self._forced_logprobs, self._masked
        return FieldStats(
            pointer=pointer,
            tokens=self._tokens,
            forced_tokens=self._forced,
            shared_tokens=self._shared,
            logprob_sum=math.fsum(chosen) if chosen else None,
            logprob_mean=math.fsum(chosen) / len(chosen) if chosen else None,
            logprob_min=min(chosen, default=None),
            forced_logprob_sum=math.fsum(forced) if forced else None,
            masked_max=max(masked, default=None),
            masked_mean=math.fsum(masked) / len(masked) if masked else None,
        )


def _field_of(spans: Sequence[FieldSpan], first: int, end: int) -> tuple[str, bool]:
    """The field of a token that ends before `end`, and whether it also holds text of another.

    It is the first value of which the token holds text; without one, the innermost object, array or call. A token that
    is a part of a character counts as that character.
    """
    if first >= len(spans):
        return "", False
    last = first + 1
    while last < len(spans) and spans[last].start < end:
        last += 1
    held = spans[first:last]
    pointers = {span.pointer for span in held}
    value = next((span.pointer for span in held if span.is_value), None)
    innermost = max((span.pointer for span in held), key=lambda pointer: pointer.count("/"))
    return innermost if value is None else value, len(pointers) > 1


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def masked_mass(logprobs: NDArray[np.float64], mask: NDArray[np.int32]) -> float:
    """The probability of all tokens that a mask does not allow.

    Args:
        logprobs: natural log-probabilities of all tokens, [vocab_size].
        mask: a row of a token bitmask, int32 [words].
    """
    allowed = np.unpackbits(mask.view(np.uint8), bitorder="little", count=logprobs.shape[0])
    # Summing the masked tokens, not the allowed ones, keeps small masses exact.
    return min(1.0, float(np.exp(logprobs[allowed == 0]).sum()))
