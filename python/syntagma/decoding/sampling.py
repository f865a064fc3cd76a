"""From logits to one token id: temperature, nucleus, seed and log-probabilities.

A sampler sees logits after the grammar's mask (refused tokens are minus infinity) and never picks a refused one.
Log-probabilities are those of the model itself, before mask, temperature and nucleus: they tell what the model
believed, not how little the grammar left over.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from syntagma.entry import check_fields
from syntagma.errors import ArgumentError, ModelError

__all__ = ["Sampler", "Sampling", "TokenLogprob", "log_softmax", "top_logprobs"]

_SEED_SPACE = 2**64


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    """How the next token is chosen.

    Attributes:
        temperature: 0 takes the likeliest token; 1 samples from the model's own distribution. At least 0.
        top_p: sample from the smallest set of tokens whose probability reaches this share; within (0, 1].
        seed: the same seed, prompt and grammar give the same tokens; None draws a fresh one. Taken modulo 2**64.

    Raises:
        ArgumentError: `E-ARGUMENT-VALUE`, out of range or not finite.
    """

    temperature: float = 1.0
    top_p: float = 1.0
    seed: int | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        if not 0 <= self.temperature < float("inf"):
            raise ArgumentError("E-ARGUMENT-VALUE", f"temperature is a number from 0 up, not {self.temperature}")
        if not 0 < self.top_p <= 1:
            raise ArgumentError("E-ARGUMENT-VALUE", f"top_p is above 0 and at most 1, not {self.top_p}")


class TokenLogprob(msgspec.Struct, frozen=True):
    """A token and its natural log-probability."""

    token_id: int
    logprob: float


class Sampler:
    """Chooses tokens for one sequence; holds the random state of that sequence."""

    def __init__(self, sampling: Sampling) -> None:
        self._sampling = sampling
        seed = None if sampling.seed is None else sampling.seed % _SEED_SPACE
        self._random = np.random.default_rng(seed)

    def sample(self, logits: NDArray[np.float32]) -> int:
        """Choose a token id.

        Args:
            logits: float32, shape [vocab_size]; minus infinity where a token is not allowed. Not written to.

        Raises:
            ModelError: `E-MODEL-LOGITS`, no logit is finite, or one is not a number.
        """
        best = int(np.argmax(logits))
        if not np.isfinite(logits[best]):
            raise ModelError("E-MODEL-LOGITS", "no token can be chosen: the likeliest logit is not finite")
        if self._sampling.temperature == 0:
            return best
        # Float64 keeps tiny temperatures from overflowing and small probabilities from vanishing in the sum.
        scaled = logits.astype(np.float64)
        scaled -= scaled[best]
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            scaled /= self._sampling.temperature
            # Zero over a subnormal temperature stays zero; only the others may leave the range, downwards.
            weights = np.exp(scaled)
        weights[best] = 1.0
        if self._sampling.top_p < 1:
            weights = _nucleus(weights, self._sampling.top_p)
        cumulative = np.cumsum(weights)
        drawn = self._random.random() * cumulative[-1]
        chosen = int(np.searchsorted(cumulative, drawn, side="right"))
        # Rounding can lift the draw to the total itself, and no token follows it.
        return chosen if chosen < weights.shape[0] else best


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
