"""Several generations on one backend that computes them together: each is what it would be alone."""

from __future__ import annotations

import gc
import threading
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import syntagma as sg
from syntagma.decoding.backend import Batch, BatchBackend, Logits
from syntagma.embedded import EmbeddedModel, load
from syntagma.embedded.backend import EmbeddedBatch
from syntagma.generation import GenerationOptions, Generator, batching
from syntagma.grammars import Grammar
from tests.generation.batch_laws import GRAMMARS, PROMPTS, Alone, BatchLaws, Told, told

BACKEND = load()


@pytest.fixture(name="backend")
def fixture_backend() -> BatchBackend:
    return BACKEND


class TestShippedModel(BatchLaws):
    """Computed by NumPy."""


ALONE = Generator(Alone(BACKEND))
TOGETHER = Generator(BACKEND)


class _Failing(EmbeddedBatch):
    """Refuses every pass that reads a certain token; counts passes."""

    refused = -1
    passes = 0
    widest = 0

    def extend(self, token_ids: Mapping[int, Sequence[int]]) -> Sequence[Logits]:
        if any(self.refused in ids for ids in token_ids.values()):
            raise RuntimeError("the token 3")
        self.passes += 1
        self.widest = max(self.widest, len(token_ids))
        return super().extend(token_ids)


class Failing(Alone):
    def __init__(self, model: EmbeddedModel) -> None:
        super().__init__(model)
        self.batch = _Failing(model.network)

    def open_batch(self) -> Batch:
        return self.batch


def test_a_sequence_that_fails_disturbs_no_other() -> None:
    backend = Failing(BACKEND)
    backend.batch.refused = 3
    generator = Generator(backend)
    forced = sg.Sampling(temperature=0, allowed_token_ids=(3,))
    fails = GenerationOptions(sampling=forced, max_tokens=9, ignore_eos=True)
    works = GenerationOptions(sampling=sg.Sampling(temperature=0), max_tokens=9)
    first, second, third = generator.start_all(PROMPTS[:3], options=(works, fails, works))
    expected = [told(ALONE.start(prompt, options=works)) for prompt in (PROMPTS[0], PROMPTS[2])]
    assert told(first) == expected[0]
    with pytest.raises(RuntimeError, match="the token 3"):
        list(second)
    assert told(third) == expected[1]
    assert not backend.batch._keys


def test_a_prompt_that_is_refused_disturbs_no_other() -> None:
    works = GenerationOptions(sampling=sg.Sampling(temperature=0), max_tokens=9)
    running = TOGETHER.start(PROMPTS[0], options=works)
    steps = iter(running)
    found = [next(steps).token_id]
    for prompts, code in (([[5], [1024]], "E-MODEL-TOKEN"), ([[5], []], "E-MODEL-PROMPT")):
        with pytest.raises(sg.ModelError) as caught:
            TOGETHER.start_all(prompts)
        assert caught.value.code == code
    with pytest.raises(sg.GrammarError):
        TOGETHER.start_all(PROMPTS[:2], grammars=[None, Grammar.from_ebnf('start ::= "a" <|unknown|>')])
    with pytest.raises(sg.ArgumentError) as lengths:
        TOGETHER.start_all(PROMPTS[:2], grammars=[None])
    assert lengths.value.code == "E-BATCH-SIZE"
    assert [*found, *(step.token_id for step in steps)] == told(ALONE.start(PROMPTS[0], options=works))[0]


def test_one_pass_serves_all_and_forced_tokens_cost_none() -> None:
    backend = Failing(BACKEND)
    generator = Generator(backend)
    free = GenerationOptions(sampling=sg.Sampling(temperature=0), max_tokens=24, ignore_eos=True)
    many = generator.start_all([PROMPTS[0]] * 5, grammars=[None] * 4 + [GRAMMARS[1]], options=free)
    metrics = [(told(one), one.metrics)[1] for one in many]
    assert backend.batch.widest == 5
    assert backend.batch.passes <= 24
    assert [one.forward_passes for one in metrics[:4]] == [24] * 4
    assert metrics[4].forced_tokens > 5
    assert metrics[4].forward_passes <= metrics[4].completion_tokens - metrics[4].forced_tokens + 1


def test_readers_may_be_threads() -> None:
    options = GenerationOptions(sampling=sg.Sampling(temperature=0), max_tokens=30)
    expected = {
        (prompt, at): told(ALONE.start(prompt, grammar=GRAMMARS[at], options=options))
        for prompt in PROMPTS
        for at in range(len(GRAMMARS))
    }
    found: dict[tuple[str, int], Told] = {}

    def work(prompt: str, at: int) -> None:
        found[prompt, at] = told(TOGETHER.start(prompt, grammar=GRAMMARS[at], options=options))

    threads = [threading.Thread(target=work, args=one) for one in expected]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == expected


def test_who_is_not_read_waits_and_who_is_forgotten_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("syntagma.generation.sequence._AHEAD", 64)
    backend = Failing(BACKEND)
    generator = Generator(backend)
    options = GenerationOptions(sampling=sg.Sampling(temperature=0), max_tokens=200, ignore_eos=True)
    one, other, third = generator.start_all(PROMPTS[:3], options=options)
    assert len(told(one)[0]) == 200
    assert other.metrics.completion_tokens == 64
    assert len(backend.batch._keys) == 2
    assert told(other)[0] == told(ALONE.start(PROMPTS[1], options=options))[0]
    del third
    gc.collect()
    assert not backend.batch._keys


def test_several_are_read_by_hand() -> None:
    options = GenerationOptions(sampling=sg.Sampling(temperature=0), max_tokens=12)
    many = TOGETHER.start_all(PROMPTS, options=options)
    found: list[list[int]] = [[] for _ in many]
    reading = dict(enumerate(map(iter, many)))
    while reading:
        TOGETHER.step()
        for at in list(reading):
            while at in reading and many[at].is_ready:
                step = next(reading[at], None)
                if step is None:
                    del reading[at]
                else:
                    found[at].append(step.token_id)
    assert found == [told(ALONE.start(prompt, options=options))[0] for prompt in PROMPTS]


@settings(max_examples=25, deadline=None)
@given(
    at=st.integers(0, len(GRAMMARS) - 1),
    prompt=st.sampled_from(PROMPTS),
    stop=st.sampled_from([(), ("i",), ("to", "mer"), ("ee",)]),
    ignore_eos=st.booleans(),
    rounds=st.integers(0, 9),
)
def test_what_is_read_together_is_what_is_read_one_by_one(
    at: int, prompt: str, stop: tuple[str, ...], ignore_eos: bool, rounds: int
) -> None:
    options = GenerationOptions(
        sampling=sg.Sampling(temperature=0), max_tokens=40, stop=stop, ignore_eos=ignore_eos and GRAMMARS[at] is None
    )
    fmt = sg.ChatFormat.from_toml("")
    markers = fmt.preserved_tokens
    single, together = (sg.StreamParser(fmt, id_seed="1") for _ in range(2))
    one = ALONE.start(prompt, grammar=GRAMMARS[at], options=options)
    steps = [step for step, _ in one.read(single, markers=markers) if step is not None]
    other = TOGETHER.start(prompt, grammar=GRAMMARS[at], options=options)
    found, ends = [], 0
    for made, _ in other.read_together(together, markers=markers):
        assert not ends
        found += made
        ends += not made
        for _ in range(rounds):
            TOGETHER.step()
    assert ends == 1
    assert found == steps
    assert together.message == single.message
    assert together.raw == single.raw
    assert (other.finish_reason, other.stopped_by) == (one.finish_reason, one.stopped_by)


class _Parts(EmbeddedBatch):
    """Reads prompts in small parts; keeps in which order everything is read."""

    prompt_tokens_at_once = 10

    def __init__(self, model: EmbeddedModel) -> None:
        super().__init__(model.network)
        self.read: list[tuple[str, int]] = []

    def prefill_part(self, key: int, token_ids: Sequence[int]) -> None:
        if 3 in token_ids:
            raise RuntimeError("the token 3")
        self.read.append(("part", len(token_ids)))
        EmbeddedBatch.prefill(self, {key: token_ids})

    def prefill(self, token_ids: Mapping[int, Sequence[int]]) -> Sequence[Logits]:
        self.read.append(("prompts", sum(map(len, token_ids.values()))))
        return super().prefill(token_ids)

    def extend(self, token_ids: Mapping[int, Sequence[int]]) -> Sequence[Logits]:
        self.read.append(("step", len(token_ids)))
        return super().extend(token_ids)


class InParts(Alone):
    def __init__(self, model: EmbeddedModel) -> None:
        super().__init__(model)
        self.batch = _Parts(model)

    def open_batch(self) -> Batch:
        return self.batch


@pytest.mark.parametrize("others_wait", [False, True])
def test_others_go_on_between_the_parts_of_a_long_prompt_unless_they_can_wait(
    monkeypatch: pytest.MonkeyPatch, others_wait: bool
) -> None:
    monkeypatch.setattr(batching, "_PROMPTS_S", 60.0 if others_wait else 0.0)
    backend = InParts(BACKEND)
    generator = Generator(backend)
    options = GenerationOptions(sampling=sg.Sampling(temperature=0), max_tokens=40, ignore_eos=True)
    long = [5 + at % 900 for at in range(45)]
    first = generator.start([5, 6, 7], options=options)
    steps = iter(first)
    found = [next(steps).token_id]
    backend.batch.read.clear()
    second = generator.start(long, options=options)
    parts = [("part", 10)] * 4 if others_wait else [("part", 10), ("step", 1)] * 4
    assert backend.batch.read == [*parts, ("prompts", 5), ("step", 1)]
    assert second.metrics.forward_passes == 5
    found += [step.token_id for step in steps]
    assert found == told(ALONE.start([5, 6, 7], options=options))[0]
    assert told(second) == told(ALONE.start(long, options=options))
    assert not backend.batch._keys


def test_prompts_that_fit_together_are_read_together() -> None:
    backend = InParts(BACKEND)
    options = GenerationOptions(sampling=sg.Sampling(temperature=0), max_tokens=5, ignore_eos=True)
    prompts = [[5, 6, 7], [8] * 6, [9] * 12, [7] * 2]
    started = Generator(backend).start_all(prompts, options=options)
    assert [told(one) for one in started] == [told(ALONE.start(prompt, options=options)) for prompt in prompts]
    read = [one for one in backend.batch.read if one[0] != "step"]
    assert read == [("prompts", 9), ("part", 10), ("prompts", 4)]


def test_a_long_prompt_that_is_given_up_or_fails_leaves_nothing() -> None:
    backend = InParts(BACKEND)
    generator = Generator(backend)
    options = GenerationOptions(sampling=sg.Sampling(temperature=0), max_tokens=5)
    running = generator.start([5, 6, 7], options=options)
    with pytest.raises(RuntimeError, match="the token 3"):
        generator.start([5] * 15 + [3] + [5] * 15, options=options)
    assert told(running) == told(ALONE.start([5, 6, 7], options=options))
    assert not backend.batch._keys
