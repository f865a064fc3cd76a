from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntagma.decoding.sampling import Sampler, Sampling, log_softmax, top_logprobs
from syntagma.errors import ArgumentError, MatcherError, ModelError


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
    [
        {"temperature": -0.1},
        {"temperature": math.inf},
        {"temperature": math.nan},
        {"top_p": 0},
        {"top_p": 1.01},
        {"top_k": -1},
        {"min_p": -0.1},
        {"min_p": 1.1},
        {"frequency_penalty": math.inf},
        {"presence_penalty": math.nan},
        {"repetition_penalty": 0},
        {"logit_bias": {1: math.inf}},
        {"logit_bias": {-1: 1.0}},
        {"allowed_token_ids": ()},
        {"allowed_token_ids": (3, -1)},
    ],
)
def test_options_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError) as caught:
        Sampling(**wrong)
    assert caught.value.pointer == f"/{next(iter(wrong))}"


SIX = logits(*(math.log(p) for p in (0.4, 0.3, 0.15, 0.1, 0.04, 0.01)))


def drawn(sampler: Sampler, weights: np.ndarray = SIX) -> set[int]:
    return {sampler.sample(weights) for _ in range(1200)}


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        ({"top_k": 2}, {0, 1}),
        ({"top_k": 6}, {0, 1, 2, 3, 4, 5}),
        ({"top_k": 99}, {0, 1, 2, 3, 4, 5}),
        ({"min_p": 0.3}, {0, 1, 2}),
        ({"min_p": 1.0}, {0}),
        ({"top_k": 3, "top_p": 0.5}, {0, 1}),
        ({"allowed_token_ids": (5, 2)}, {2, 5}),
        ({"logit_bias": {0: -100, 1: -100, 5: 100}}, {5}),
        ({"temperature": 0, "logit_bias": {3: 10}}, {3}),
        ({"temperature": 0, "allowed_token_ids": (4, 5)}, {4}),
    ],
)
def test_what_is_left_to_choose_from(asked: dict[str, Any], kept: set[int]) -> None:
    assert drawn(Sampler(Sampling(seed=2, **asked))) == kept


def test_a_refused_token_stays_refused_whatever_its_bias() -> None:
    masked = logits(0.0, -math.inf, 0.0)
    asked = Sampling(seed=1, logit_bias={1: 100}, repetition_penalty=0.5, presence_penalty=-9)
    sampler = Sampler(asked, prompt=[1])
    sampler.accept(1)
    assert drawn(sampler, masked) == {0, 2}
    with pytest.raises(MatcherError, match="allowed_token_ids") as refused:
        Sampler(Sampling(allowed_token_ids=(1,))).sample(masked)
    assert refused.value.code == "E-MATCH-DEAD"


def test_penalties_are_those_of_the_formula() -> None:
    plain = logits(2.0, 1.9, -1.0, -1.1)

    def best(sampler: Sampler, *accepted: int) -> int:
        for token in accepted:
            sampler.accept(token)
        return sampler.sample(plain)

    def greedy(**asked: float) -> Sampling:
        return Sampling(temperature=0, **asked)

    # 2.0 - n * 0.04 is below 1.9 from the third time on; presence counts once, however often.
    assert [best(Sampler(greedy(frequency_penalty=0.04)), *[0] * n) for n in range(5)] == [0, 0, 0, 1, 1]
    assert [best(Sampler(greedy(presence_penalty=0.04)), *[0] * n) for n in range(5)] == [0] * 5
    assert [best(Sampler(greedy(presence_penalty=0.2)), *[0] * n) for n in range(3)] == [0, 1, 1]
    assert best(Sampler(greedy(frequency_penalty=-0.2)), 1) == 1
    # The prompt counts for repetition alone: 2.0 / 1.1 < 1.9, and -1.0 * 1.2 < -1.1.
    assert best(Sampler(greedy(repetition_penalty=1.1), prompt=[0])) == 1
    assert best(Sampler(greedy(frequency_penalty=1.0, presence_penalty=1.0), prompt=[0])) == 0
    only_low = Sampling(temperature=0, repetition_penalty=1.2, allowed_token_ids=(2, 3))
    assert best(Sampler(only_low), 2) == 3


@given(
    numbers=st.lists(st.floats(-1.7e308, 1.7e308, allow_nan=False), min_size=3, max_size=3),
    penalty=st.floats(5e-324, 1.7e308),
    accepted=st.lists(st.integers(0, 3), max_size=5),
)
def test_no_number_is_too_large_to_choose(numbers: list[float], penalty: float, accepted: list[int]) -> None:
    bias, frequency, presence = numbers
    asked = Sampling(
        seed=1,
        logit_bias={0: bias, 1: -bias},
        repetition_penalty=penalty,
        frequency_penalty=frequency,
        presence_penalty=presence,
    )
    sampler = Sampler(asked, prompt=[0])
    for token in accepted:
        sampler.accept(token)
    assert sampler.sample(logits(2.0, -2.0, -math.inf, 0.0)) in (0, 1, 3)


def test_tokens_that_the_vocabulary_lacks_are_named() -> None:
    for asked in ({"logit_bias": {6: 1.0}}, {"allowed_token_ids": (0, 6)}):
        with pytest.raises(ArgumentError, match="token 6 is outside"):
            Sampler(Sampling(**asked)).sample(SIX)  # type: ignore[arg-type]


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
