"""Chooses a token id from logits: bias, penalties, temperature, truncation, seed; and log-probabilities.

A sampler gets logits after the grammar's mask: forbidden tokens have minus infinity and are never chosen.
Log-probabilities are the model's own, before mask, temperature and truncation, so they do not depend on the grammar.

The order is vLLM's: bias and allowed tokens, penalties, temperature, `min_p`, `top_k`, `top_p`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from syntagma.decoding.bitmask.numpy_rows import mask_numpy
from syntagma.entry import check_fields
from syntagma.errors import ArgumentError, MatcherError, ModelError

__all__ = ["Draw", "Drawn", "Sampler", "Sampling", "TokenLogprob", "draw", "log_softmax", "top_logprobs"]

_SEED_SPACE = 2**64
_LARGEST = 1e12
"""larger numbers are reduced to this one, so that float32 does not overflow; usual logits are below 100"""


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    """How the next token is chosen.

    Attributes:
        temperature: 0 takes the most likely token; 1 samples from the model's own distribution. At least 0.
        top_p: sample from the smallest set of tokens whose probability reaches this share; within (0, 1].
        top_k: sample from this many of the most likely tokens; 0: no bound.
        min_p: leave out tokens less probable than this share of the highest probability; within [0, 1].
        frequency_penalty: subtracted from a token's logit for each occurrence in the answer. Any finite number.
        presence_penalty: subtracted once from the logit of a token that occurs in the answer. Any finite number.
        repetition_penalty: for tokens in the prompt or answer, positive logits are divided by it and negative ones
            multiplied (Keskar et al., 2019, CTRL); 1 has no effect. Above 0.
        logit_bias: finite numbers that are added to the logits of these token ids.
        allowed_token_ids: the only tokens that may be chosen; None: all.
        seed: the same seed, prompt and grammar give the same tokens; None: a random seed. Taken modulo 2**64.

    Raises:
        ArgumentError: `E-ARGUMENT-VALUE`, a value is out of range or not finite; `pointer` names the field.
    """

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    repetition_penalty: float = 1.0
    logit_bias: Mapping[int, float] = {}
    allowed_token_ids: tuple[int, ...] | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        infinite = float("inf")
        for name, fits, wanted in (
            ("temperature", 0 <= self.temperature < infinite, "finite and at least 0"),
            ("top_p", 0 < self.top_p <= 1, "above 0 and at most 1"),
            ("top_k", self.top_k >= 0, "at least 0"),
            ("min_p", 0 <= self.min_p <= 1, "from 0 to 1"),
            ("frequency_penalty", abs(self.frequency_penalty) < infinite, "finite"),
            ("presence_penalty", abs(self.presence_penalty) < infinite, "finite"),
            ("repetition_penalty", 0 < self.repetition_penalty < infinite, "above 0 and finite"),
            ("logit_bias", all(abs(bias) < infinite for bias in self.logit_bias.values()), "a map of finite numbers"),
            ("logit_bias", all(token >= 0 for token in self.logit_bias), "a map of token ids of at least 0"),
            ("allowed_token_ids", self.allowed_token_ids != (), "a list with at least one token"),
            ("allowed_token_ids", all(token >= 0 for token in self.allowed_token_ids or ()), "ids of at least 0"),
        ):
            if not fits:
                value = getattr(self, name)
                found = f", not {value:g}" if isinstance(value, float | int) else ""
                raise ArgumentError("E-ARGUMENT-VALUE", f"must be {wanted}{found}", pointer=f"/{name}")

    @property
    def token_ids(self) -> Iterable[tuple[str, int]]:
        """Every token id in the fields, each with its JSON pointer, to be checked against a vocabulary."""
        yield from ((f"/logit_bias/{token}", token) for token in self.logit_bias)
        yield from ((f"/allowed_token_ids/{at}", token) for at, token in enumerate(self.allowed_token_ids or ()))


class TokenLogprob(msgspec.Struct, frozen=True):
    """A token and its natural log-probability."""

    token_id: int
    logprob: float


class Sampler:
    """Chooses tokens for one sequence. Keeps the random state and the token counts of the sequence.

    Args:
        sampling: how to choose.
        prompt: the token ids of the prompt; `repetition_penalty` counts them.

    Attributes:
        sampling: likewise.
        biased, bias: the tokens with a bias, int64 [n], and what is added to their logits, float32 [n].
        allowed: the only tokens that may be chosen, int64 [n]; None: all.
    """

    def __init__(self, sampling: Sampling, prompt: Iterable[int] = ()) -> None:
        self.sampling = sampling
        seed = None if sampling.seed is None else sampling.seed % _SEED_SPACE
        self._random = np.random.default_rng(seed)
        self._number: float | None = None
        self.biased = np.fromiter(sampling.logit_bias, np.int64)
        self.bias = np.fromiter(map(_bounded, sampling.logit_bias.values()), np.float32)
        allowed = sampling.allowed_token_ids
        self.allowed = None if allowed is None else np.array(allowed, np.int64)
        self._repeats = sampling.repetition_penalty != 1
        self._counts_answer = bool(sampling.frequency_penalty or sampling.presence_penalty)
        self._seen = set(prompt) if self._repeats else set()
        self._counts: Counter[int] = Counter()

    @property
    def repeated(self) -> tuple[NDArray[np.int64], np.float32]:
        """The tokens of prompt and answer that `repetition_penalty` counts, [n], and the penalty."""
        penalty = np.float32(min(max(self.sampling.repetition_penalty, 1 / _LARGEST), _LARGEST))
        return np.fromiter(self._seen, np.int64, len(self._seen)), penalty

    @property
    def counted(self) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The tokens of the answer that the other penalties count, [n], and what these subtract from their logits."""
        counts = np.fromiter(self._counts.values(), np.float32, len(self._counts))
        amounts = _bounded(self.sampling.frequency_penalty) * counts + _bounded(self.sampling.presence_penalty)
        return np.fromiter(self._counts, np.int64, len(self._counts)), amounts

    @property
    def number(self) -> float:
        """The random number of the next token, within [0, 1); the same until `spend`."""
        if self._number is None:
            self._number = self._random.random()
        return self._number

    def spend(self) -> None:
        """Let the next token have a random number of its own."""
        self._number = None

    def accept(self, token_id: int) -> None:
        """Append a token to the answer. It need not be the sampled one."""
        if self._repeats:
            self._seen.add(token_id)
        if self._counts_answer:
            self._counts[token_id] += 1

    def sample(self, logits: NDArray[np.float32]) -> int:
        """Choose a token id.

        Args:
            logits: float32, shape [vocab_size]; minus infinity for forbidden tokens. Not changed.

        Raises:
            ModelError: `E-MODEL-LOGITS`, no logit is finite, or one is not a number.
            MatcherError: `E-MATCH-DEAD`, the tokens that are allowed otherwise are none of `allowed_token_ids`.
            ArgumentError: `E-ARGUMENT-VALUE`, the vocabulary has not all tokens that `sampling` names.
        """
        sampling = self.sampling
        given, logits = logits, self._adjusted(logits)
        best = int(logits.argmax())
        if not math.isfinite(logits[best]):
            if self.allowed is not None and math.isfinite(given.max()):
                raise MatcherError("E-MATCH-DEAD", "none of the tokens that may come is one of allowed_token_ids")
            raise ModelError("E-MODEL-LOGITS", "no token can be chosen: the largest logit is not finite")
        if sampling.temperature == 0:
            return best
        # In float64, tiny temperatures do not overflow and small probabilities do not vanish in the sum.
        scaled = logits.astype(np.float64)
        scaled -= scaled[best]
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            scaled /= sampling.temperature
            # The largest logit is 0 and stays 0; the others may only underflow.
            weights = np.exp(scaled)
        weights[best] = 1.0
        if sampling.min_p > 0:
            weights[weights < sampling.min_p] = 0
        if 0 < sampling.top_k < weights.shape[0]:
            weights = _only(weights, _likeliest(weights, sampling.top_k))
        if sampling.top_p < 1:
            weights = _nucleus(weights, sampling.top_p)
        cumulative = np.cumsum(weights)
        drawn = self.number * cumulative[-1]
        self.spend()
        chosen = int(np.searchsorted(cumulative, drawn, side="right"))
        # Rounding can make the draw equal to the total, after which there is no token.
        return chosen if chosen < weights.shape[0] else best

    def _adjusted(self, logits: NDArray[np.float32]) -> NDArray[np.float32]:
        """The logits with bias, allowed tokens and penalties applied; the same array if there are none."""
        sampling = self.sampling
        if not (self.biased.size or self.allowed is not None or self._seen or self._counts):
            return logits
        logits = logits.copy()
        try:
            logits[self.biased] += self.bias
            if self.allowed is not None:
                kept = logits[self.allowed]
                logits[:] = -np.inf
                logits[self.allowed] = kept
        except IndexError:
            known = logits.shape[0]
            largest = max(token for _, token in sampling.token_ids)
            message = f"token {largest} is outside of the vocabulary of {known} tokens"
            raise ArgumentError("E-ARGUMENT-VALUE", message) from None
        if self._seen:
            seen, penalty = self.repeated
            values = logits[seen]
            logits[seen] = np.where(values > 0, values / penalty, values * penalty)
        if self._counts:
            counted, amounts = self.counted
            logits[counted] -= amounts
        return logits


class Draw(msgspec.Struct, kw_only=True):
    """What a sequence asks of its logits.

    Attributes:
        sampler: chooses the token.
        mask: which tokens may come, int32 [words]; None: all.
        masks: sets the logits of the others to minus infinity on the host, faster than by `mask`; None: by `mask`.
        held: tokens that may come only if nothing else may, int64 [n].
        excluded: tokens that may not come.
        given: the token, if it is chosen already.
        logprobs: how many of the likeliest tokens are told, beside the token's own log-probability; None: none of both.
        explains: whether the log-probabilities of all tokens are asked for.
    """

    sampler: Sampler
    mask: NDArray[np.int32] | None = None
    masks: Callable[[NDArray[np.float32]], None] | None = None
    held: NDArray[np.int64] = np.array([], np.int64)
    excluded: list[int] = []
    given: int | None = None
    logprobs: int | None = None
    explains: bool = False


class Drawn(NamedTuple):
    """What a sequence gets: a token, and what `Draw` asks for beside it."""

    token: int
    logprob: float | None = None
    top: Sequence[TokenLogprob] = ()
    logprobs: NDArray[np.float64] | None = None


def draw(logits: NDArray[np.float32], asked: Draw) -> Drawn | None:
    """Choose a token of one sequence.

    Args:
        logits: float32 [vocab_size]. Those of tokens that may not come become minus infinity, unless log-probabilities
            are asked for.
        asked: how.

    Returns:
        None if only excluded tokens are left.

    Raises:
        ModelError, MatcherError, ArgumentError: as `Sampler.sample`.
    """
    logprobs = None
    if asked.logprobs is not None or asked.explains:
        logprobs, logits = log_softmax(logits), logits.copy()
    token = asked.given
    if token is None:
        if asked.masks is not None:
            asked.masks(logits)
        elif asked.mask is not None:
            mask_numpy(logits[np.newaxis], asked.mask[np.newaxis], None)
        if asked.held.size:
            kept = logits[asked.held]
            logits[asked.held] = -np.inf
            if logits.max() == -np.inf:
                logits[asked.held] = kept
        if asked.excluded:
            logits[asked.excluded] = -np.inf
            if not np.isfinite(logits.max()):
                return None
        token = asked.sampler.sample(logits)
    if logprobs is None:
        return Drawn(token)
    top = top_logprobs(logprobs, asked.logprobs or 0)
    return Drawn(token, float(logprobs[token]), top, logprobs if asked.explains else None)


def _bounded(value: float) -> float:
    return min(max(value, -_LARGEST), _LARGEST)


def _likeliest(values: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """The `count` tokens of the largest values, in any order; of equal ones, the first."""
    # Selecting is cheaper than sorting: that would dominate the step.
    least = np.partition(values, -count)[-count]
    larger = np.flatnonzero(values > least)
    return np.concatenate([larger, np.flatnonzero(values == least)[: count - len(larger)]])


def _only(weights: NDArray[np.float64], kept: NDArray[np.int64]) -> NDArray[np.float64]:
    """The weights of some tokens; 0 for all others."""
    narrowed = np.zeros_like(weights)
    narrowed[kept] = weights[kept]
    return narrowed


def _nucleus(weights: NDArray[np.float64], top_p: float) -> NDArray[np.float64]:
    order = np.argsort(-weights, kind="stable")
    cumulative = np.cumsum(weights[order])
    # The token that reaches the share is kept, so the set is never empty.
    kept = int(np.searchsorted(cumulative, top_p * cumulative[-1], side="left")) + 1
    return _only(weights, order[:kept])


def log_softmax(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    """Natural log-probabilities of all tokens, float64, shape [vocab_size]."""
    shifted = logits.astype(np.float64)
    shifted -= shifted.max()
    shifted -= np.log(np.exp(shifted).sum())
    return shifted


def top_logprobs(logprobs: NDArray[np.float64], count: int) -> Sequence[TokenLogprob]:
    """The `count` most likely tokens, in descending order; ties by token id."""
    count = min(count, logprobs.shape[0])
    if count <= 0:
        return ()
    ordered = sorted(_likeliest(logprobs, count).tolist(), key=lambda token: (-logprobs[token], token))
    return tuple(TokenLogprob(token, float(logprobs[token])) for token in ordered)
