"""From logits to one token id: penalties, temperature, what is left out, seed and log-probabilities.

A sampler sees logits after the grammar's mask (refused tokens are minus infinity) and never picks a refused one.
Log-probabilities are those of the model itself, before mask, temperature and nucleus: they tell what the model
believed, not how little the grammar left over.

The order is that of vLLM: bias and allowed tokens, penalties, temperature, `min_p`, `top_k`, `top_p`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from syntagma.entry import check_fields
from syntagma.errors import ArgumentError, ModelError

__all__ = ["Sampler", "Sampling", "TokenLogprob", "log_softmax", "top_logprobs"]

_SEED_SPACE = 2**64
_LARGEST = 1e12
"""what numbers that are larger count as, so that float32 does not overflow; logits are some tens"""


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    """How the next token is chosen.

    Attributes:
        temperature: 0 takes the likeliest token; 1 samples from the model's own distribution. At least 0.
        top_p: sample from the smallest set of tokens whose probability reaches this share; within (0, 1].
        top_k: sample from this many of the likeliest tokens; 0 is no bound.
        min_p: leave out tokens less probable than this share of the likeliest one's probability; within [0, 1].
        frequency_penalty: taken from a token's logit for each time that the answer has it. Any finite number.
        presence_penalty: taken once from the logit of a token that the answer has. Any finite number.
        repetition_penalty: the logit of a token that prompt or answer has is divided by it where positive, and
            multiplied where negative (Keskar et al., 2019, CTRL); 1 changes nothing. Above 0.
        logit_bias: added to the logits of these token ids. Finite numbers.
        allowed_token_ids: no other token is chosen; None: any may be.
        seed: the same seed, prompt and grammar give the same tokens; None draws a fresh one. Taken modulo 2**64.

    Raises:
        ArgumentError: `E-ARGUMENT-VALUE`, out of range or not finite; the pointer names the field.
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
            ("temperature", 0 <= self.temperature < infinite, "a number from 0 up"),
            ("top_p", 0 < self.top_p <= 1, "above 0 and at most 1"),
            ("top_k", self.top_k >= 0, "a number from 0 up"),
            ("min_p", 0 <= self.min_p <= 1, "from 0 to 1"),
            ("frequency_penalty", abs(self.frequency_penalty) < infinite, "finite"),
            ("presence_penalty", abs(self.presence_penalty) < infinite, "finite"),
            ("repetition_penalty", 0 < self.repetition_penalty < infinite, "above 0 and finite"),
            ("logit_bias", all(abs(bias) < infinite for bias in self.logit_bias.values()), "finite numbers"),
            ("logit_bias", all(token >= 0 for token in self.logit_bias), "by token ids, which are numbers from 0 up"),
            ("allowed_token_ids", self.allowed_token_ids != (), "at least one token"),
            ("allowed_token_ids", all(token >= 0 for token in self.allowed_token_ids or ()), "numbers from 0 up"),
        ):
            if not fits:
                value = getattr(self, name)
                found = f", not {value:g}" if isinstance(value, float | int) else ""
                raise ArgumentError("E-ARGUMENT-VALUE", f"must be {wanted}{found}", pointer=f"/{name}")

    @property
    def token_ids(self) -> Iterable[tuple[str, int]]:
        """Every token id that it names, with its pointer, for those who check them against a vocabulary."""
        yield from ((f"/logit_bias/{token}", token) for token in self.logit_bias)
        yield from ((f"/allowed_token_ids/{at}", token) for at, token in enumerate(self.allowed_token_ids or ()))


class TokenLogprob(msgspec.Struct, frozen=True):
    """A token and its natural log-probability."""

    token_id: int
    logprob: float


class Sampler:
    """Chooses tokens for one sequence; holds the random state of that sequence, and what penalties need of it.

    Args:
        sampling: how to choose.
        prompt: the token ids of the prompt; `repetition_penalty` counts them.
    """

    def __init__(self, sampling: Sampling, prompt: Iterable[int] = ()) -> None:
        self._sampling = sampling
        seed = None if sampling.seed is None else sampling.seed % _SEED_SPACE
        self._random = np.random.default_rng(seed)
        self._biased = np.fromiter(sampling.logit_bias, np.int64)
        self._bias = np.fromiter(map(_bounded, sampling.logit_bias.values()), np.float32)
        allowed = sampling.allowed_token_ids
        self._allowed = None if allowed is None else np.array(allowed, np.int64)
        self._repeats = sampling.repetition_penalty != 1
        self._counts_answer = bool(sampling.frequency_penalty or sampling.presence_penalty)
        self._seen = set(prompt) if self._repeats else set()
        self._counts: Counter[int] = Counter()

    def accept(self, token_id: int) -> None:
        """The answer goes on with this token, which need not be the one that was sampled."""
        if self._repeats:
            self._seen.add(token_id)
        if self._counts_answer:
            self._counts[token_id] += 1

    def sample(self, logits: NDArray[np.float32]) -> int:
        """Choose a token id.

        Args:
            logits: float32, shape [vocab_size]; minus infinity where a token is not allowed. Not written to.

        Raises:
            ModelError: `E-MODEL-LOGITS`, no logit is finite, or one is not a number; or the tokens that are allowed
                otherwise are none of `allowed_token_ids`.
            ArgumentError: `E-ARGUMENT-VALUE`, the vocabulary has not all tokens that `sampling` names.
        """
        sampling = self._sampling
        logits = self._adjusted(logits)
        best = int(np.argmax(logits))
        if not np.isfinite(logits[best]):
            raise ModelError("E-MODEL-LOGITS", "no token can be chosen: the likeliest logit is not finite")
        if sampling.temperature == 0:
            return best
        # Float64 keeps tiny temperatures from overflowing and small probabilities from vanishing in the sum.
        scaled = logits.astype(np.float64)
        scaled -= scaled[best]
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            scaled /= sampling.temperature
            # Zero over a subnormal temperature stays zero; only the others may leave the range, downwards.
            weights = np.exp(scaled)
        weights[best] = 1.0
        if sampling.min_p > 0:
            weights[weights < sampling.min_p] = 0
        if 0 < sampling.top_k < weights.shape[0]:
            weights = _likeliest(weights, sampling.top_k)
        if sampling.top_p < 1:
            weights = _nucleus(weights, sampling.top_p)
        cumulative = np.cumsum(weights)
        drawn = self._random.random() * cumulative[-1]
        chosen = int(np.searchsorted(cumulative, drawn, side="right"))
        # Rounding can lift the draw to the total itself, and no token follows it.
        return chosen if chosen < weights.shape[0] else best

    def _adjusted(self, logits: NDArray[np.float32]) -> NDArray[np.float32]:
        """The logits with bias, allowed tokens and penalties; the same array where there are none."""
        sampling = self._sampling
        if not (self._biased.size or self._allowed is not None or self._seen or self._counts):
            return logits
        logits = logits.copy()
        try:
            logits[self._biased] += self._bias
            if self._allowed is not None:
                kept = logits[self._allowed]
                logits[:] = -np.inf
                logits[self._allowed] = kept
        except IndexError:
            known = logits.shape[0]
            message = f"the vocabulary has {known} tokens, and no {max(token for _, token in sampling.token_ids)}"
            raise ArgumentError("E-ARGUMENT-VALUE", message) from None
        if self._seen:
            seen = np.fromiter(self._seen, np.int64, len(self._seen))
            penalty = np.float32(min(max(sampling.repetition_penalty, 1 / _LARGEST), _LARGEST))
            values = logits[seen]
            logits[seen] = np.where(values > 0, values / penalty, values * penalty)
        if self._counts:
            counted = np.fromiter(self._counts, np.int64, len(self._counts))
            counts = np.fromiter(self._counts.values(), np.float32, len(self._counts))
            logits[counted] -= _bounded(sampling.frequency_penalty) * counts + _bounded(sampling.presence_penalty)
        return logits


def _bounded(value: float) -> float:
    return min(max(value, -_LARGEST), _LARGEST)


def _likeliest(weights: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """The weights of exactly `count` tokens, the likeliest."""
    kept = np.argpartition(-weights, count - 1)[:count]
    narrowed = np.zeros_like(weights)
    narrowed[kept] = weights[kept]
    return narrowed


def _nucleus(weights: NDArray[np.float64], top_p: float) -> NDArray[np.float64]:
    order = np.argsort(-weights, kind="stable")
    cumulative = np.cumsum(weights[order])
    # The token that crosses the share is kept, so the set is never empty.
    kept = int(np.searchsorted(cumulative, top_p * cumulative[-1], side="left")) + 1
    narrowed = np.zeros_like(weights)
    narrowed[order[:kept]] = weights[order[:kept]]
    return narrowed


def log_softmax(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    """Natural log-probabilities of all tokens, float64, shape [vocab_size]."""
    shifted = logits.astype(np.float64)
    shifted -= shifted.max()
    shifted -= np.log(np.exp(shifted).sum())
    return shifted


def top_logprobs(logprobs: NDArray[np.float64], count: int) -> Sequence[TokenLogprob]:
    """The `count` likeliest tokens, likeliest first; ties by token id."""
    count = min(count, logprobs.shape[0])
    if count <= 0:
        return ()
    # A partial selection first: sorting a whole vocabulary for twenty tokens would dominate the step.
    chosen: NDArray[Any] = np.argpartition(-logprobs, count - 1)[:count]
    ordered = sorted(chosen.tolist(), key=lambda token: (-logprobs[token], token))
    return tuple(TokenLogprob(token, float(logprobs[token])) for token in ordered)
