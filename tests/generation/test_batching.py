"""Several generations on one backend that computes them together: each is what it would be alone."""

from __future__ import annotations

import gc
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import syntagma as sg
from syntagma.decoding.backend import Batch, BatchBackend, Logits
from syntagma.embedded import EmbeddedModel, load
from syntagma.embedded.backend import EmbeddedBatch
from syntagma.generation import Generation, GenerationOptions, Generator
from syntagma.grammars import Grammar

BACKEND = load()
GRAMMARS: list[Grammar | None] = [
    None,
    Grammar.from_json_schema(
        {
            "type": "object",
            "properties": {"city": {"enum": ["Oslo", "Lima"]}, "minutes": {"type": "integer", "maximum": 90}},
            "required": ["city", "minutes"],
            "additionalProperties": False,
        },
        whitespace="compact",
    ),
    Grammar.from_json_schema({"type": "array", "items": {"type": "string", "maxLength": 9}, "maxItems": 3}),
    Grammar.from_choices(["yes", "no", "perhaps tomorrow"]),
]
PROMPTS = [
    f"<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n"
    for text in ("Hello", "Set a timer for 7 minutes", "What can you do for me today? " * 8, "7")
]
Told = tuple[list[int], str | None, str | None]


def told(generation: Generation) -> Told:
    tokens = [step.token_id for step in generation]
    return tokens, generation.finish_reason, generation.stopped_by


def asked(draw: Any) -> GenerationOptions:
    return GenerationOptions(
        sampling=sg.Sampling(temperature=0, repetition_penalty=draw(st.sampled_from([1.0, 1.3]))),
        max_tokens=draw(st.integers(1, 40)),
        stop=draw(st.sampled_from([(), ("i",), ("to", "mer")])),
        logprobs=draw(st.sampled_from([None, None, 2])),
        jump_forward=draw(st.booleans()),
        complete=draw(st.booleans()),
    )


@st.composite
def rows(draw: Any) -> tuple[str, Grammar | None, GenerationOptions]:
    return draw(st.sampled_from(PROMPTS)), draw(st.sampled_from(GRAMMARS)), asked(draw)


class Alone:
    """The same model, one sequence at a time."""

    def __init__(self, model: EmbeddedModel) -> None:
        self.model_name, self.context_length = model.model_name, model.context_length
        self.tokenizer_info, self.open = model.tokenizer_info, model.open


ALONE = Generator(Alone(BACKEND))
TOGETHER = Generator(BACKEND)


def test_who_computes_together() -> None:
    assert isinstance(BACKEND, BatchBackend)
    assert TOGETHER.is_batching
    assert not ALONE.is_batching


@settings(max_examples=60, deadline=None)
@given(many=st.lists(rows(), min_size=1, max_size=7), data=st.data())
def test_in_a_batch_each_writes_what_it_writes_alone(many: list[Any], data: st.DataObject) -> None:
    prompts, grammars, options = zip(*many, strict=True)
    alone = [told(ALONE.start(prompt, grammar=grammar, options=one)) for prompt, grammar, one in many]
    later = data.draw(st.integers(0, len(many) - 1))  # these join when others are on their way
    running = TOGETHER.start_all(prompts[later:], grammars=grammars[later:], options=options[later:])
    found: dict[int, list[int]] = {at: [] for at in range(len(many))}
    reading = {later + at: iter(one) for at, one in enumerate(running)}
    gone = data.draw(st.sets(st.integers(0, len(many) - 1), max_size=2))
    generations = {later + at: one for at, one in enumerate(running)}
    while reading or later:
        if later and data.draw(st.booleans()):
            later -= 1
            generations[later] = TOGETHER.start(prompts[later], grammar=grammars[later], options=options[later])
            reading[later] = iter(generations[later])
        for at in list(reading):
            step = next(reading[at], None)
            if step is None:
                del reading[at]
                continue
            found[at].append(step.token_id)
            if at in gone and len(found[at]) > 3:
                generations[at].cancel()
    for at, (tokens, reason, stop) in enumerate(alone):
        if at in gone and len(tokens) > 3:
            assert found[at] == tokens[:4]
        else:
            assert (found[at], generations[at].finish_reason, generations[at].stopped_by) == (tokens, reason, stop)


@pytest.mark.parametrize("counts", [(1, 1, 1), (3, 1, 5), (2, 2), (64, 1)])
def test_logits_of_a_batch_are_those_of_sequences_alone(counts: tuple[int, ...]) -> None:
    random = np.random.default_rng(len(counts))
    batch = BACKEND.open_batch()
    sessions = {key: BACKEND.open() for key in range(10, 10 + len(counts))}
    prompts = {key: random.integers(0, 1024, 5 * key).tolist() for key in sessions}
    for logits, (key, ids) in zip(batch.prefill(prompts), prompts.items(), strict=True):
        np.testing.assert_allclose(logits, sessions[key].prefill(ids), atol=1e-3)
    for _ in range(3):
        parts = {key: random.integers(0, 1024, count).tolist() for key, count in zip(sessions, counts, strict=True)}
        for logits, (key, ids) in zip(batch.extend(parts), parts.items(), strict=True):
            np.testing.assert_allclose(logits, sessions[key].extend(ids), atol=1e-3)
    batch.drop((10, 99))
    for key in list(sessions)[:0:-1]:  # one alone, the others wait
        np.testing.assert_allclose(batch.extend({key: [7]})[0], sessions[key].step(7), atol=1e-3)


def test_what_a_batch_refuses_changes_nothing() -> None:
    batch, session = BACKEND.open_batch(), BACKEND.open()
    batch.prefill({1: [5] * 9})
    session.prefill([5] * 9)
    for call, ids, code in (
        (batch.prefill, {2: [5], 3: [1024]}, "E-MODEL-TOKEN"),
        (batch.prefill, {2: [5] * 1025}, "E-MODEL-CONTEXT"),
        (batch.extend, {1: [-1]}, "E-MODEL-TOKEN"),
        (batch.extend, {1: [5] * 1016}, "E-MODEL-CONTEXT"),
    ):
        with pytest.raises(sg.ModelError) as caught:
            call(ids)
        assert caught.value.code == code
    np.testing.assert_allclose(batch.extend({1: [8]})[0], session.step(8), atol=1e-4)


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


def test_who_is_not_read_waits_and_who_is_forgotten_leaves() -> None:
    backend = Failing(BACKEND)
    generator = Generator(backend)
    options = GenerationOptions(sampling=sg.Sampling(temperature=0), max_tokens=200, ignore_eos=True)
    one, other, third = generator.start_all(PROMPTS[:3], options=options)
    assert len(told(one)[0]) == 200
    waiting = other.metrics.completion_tokens
    assert waiting < 100
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
