from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from syntagma.decoding.sampling import Sampler, Sampling, log_softmax, top_logprobs
from syntagma.errors import ArgumentError, ModelError


def logits(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


def test_temperature_zero_takes_the_likeliest() -> None:
    sampler = Sampler(Sampling(temperature=0))
    assert [sampler.sample(logits(0.1, 3.0, 2.9)) for _ in range(20)] == [1] * 20


def test_a_refused_token_is_never_chosen() -> None:
    sampler = Sampler(Sampling(temperature=2.0, seed=1))
    refused = -math.inf
    drawn = {sampler.sample(logits(refused, 0.0, refused, 1.0, refused)) for _ in range(500)}
    assert drawn == {1, 3}


def test_the_frequencies_follow_the_distribution() -> None:
    sampler = Sampler(Sampling(seed=3))
    counts = Counter(sampler.sample(logits(math.log(0.7), math.log(0.2), math.log(0.1))) for _ in range(4000))
    assert counts[0] / 4000 == pytest.approx(0.7, abs=0.04)
    assert counts[1] / 4000 == pytest.approx(0.2, abs=0.04)
    assert counts[2] / 4000 == pytest.approx(0.1, abs=0.04)


def test_temperature_flattens_and_sharpens() -> None:
    def share(temperature: float) -> float:
        sampler = Sampler(Sampling(temperature=temperature, seed=5))
        return sum(sampler.sample(logits(0.0, 1.0)) for _ in range(2000)) / 2000

    assert share(0.2) > share(1.0) > share(5.0) > 0.5


@pytest.mark.parametrize(("top_p", "kept"), [(0.5, {0}), (0.75, {0, 1}), (0.95, {0, 1, 2}), (1.0, {0, 1, 2, 3})])
def test_the_nucleus_keeps_the_token_that_crosses_the_share(top_p: float, kept: set[int]) -> None:
    sampler = Sampler(Sampling(top_p=top_p, seed=8))
    weights = logits(*(math.log(p) for p in (0.6, 0.2, 0.15, 0.05)))
    assert {sampler.sample(weights) for _ in range(800)} == kept


def test_a_seed_repeats_and_two_seeds_differ() -> None:
    flat = np.zeros(1000, dtype=np.float32)

    def draws(seed: int) -> list[int]:
        sampler = Sampler(Sampling(seed=seed))
        return [sampler.sample(flat) for _ in range(10)]

    assert draws(4) == draws(4)
    assert draws(4) != draws(5)
    assert draws(-1) == draws(2**64 - 1)


@pytest.mark.parametrize("temperature", [1e-300, 5e-324, 1e-3, 1e300])
def test_extreme_temperatures_choose_an_allowed_token(temperature: float) -> None:
    sampler = Sampler(Sampling(temperature=temperature, seed=0))
    assert sampler.sample(logits(-math.inf, 80.0, -math.inf)) == 1
    assert sampler.sample(logits(-3e38, 3e38, 0.0)) in (0, 1, 2)


def test_nothing_to_choose_from_is_an_error() -> None:
    for bad in (logits(-math.inf, -math.inf), logits(math.nan, 0.0), logits(math.inf, 0.0)):
        with pytest.raises(ModelError) as caught:
            Sampler(Sampling()).sample(bad)
        assert caught.value.code == "E-MODEL-LOGITS"


@pytest.mark.parametrize(
    "wrong",
    [{"temperature": -0.1}, {"temperature": math.inf}, {"temperature": math.nan}, {"top_p": 0}, {"top_p": 1.01}],
)
def test_options_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ArgumentError):
        Sampling(**wrong)


def test_logits_are_not_written_to() -> None:
    given = logits(1.0, 2.0, 3.0)
    Sampler(Sampling(temperature=0.5, top_p=0.5)).sample(given)
    log_softmax(given)
    assert given.tolist() == [1.0, 2.0, 3.0]


def test_log_probabilities_sum_to_one_and_top_is_ordered() -> None:
    logprobs = log_softmax(logits(1.0, 3.0, 3.0, -50.0, 2.0))
    assert np.exp(logprobs).sum() == pytest.approx(1.0)
    top = top_logprobs(logprobs, 3)
    assert [entry.token_id for entry in top] == [1, 2, 4]
    assert top[0].logprob == pytest.approx(float(logprobs[1]))
    assert top_logprobs(logprobs, 0) == ()
    assert len(top_logprobs(logprobs, 99)) == 5
