"""What holds of every backend that computes several sequences together: each is what it would be alone.

A test module inherits the laws, and has a fixture `backend` that runs the shipped model.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import syntagma as sg
from syntagma.decoding.backend import BatchBackend, Logits, on_host
from syntagma.generation import Generation, GenerationOptions, Generator
from syntagma.grammars import Grammar

__all__ = ["GRAMMARS", "PROMPTS", "Alone", "BatchLaws", "Told", "told"]

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
        sampling=sg.Sampling(
            temperature=draw(st.sampled_from([0, 0, 0.7])),
            repetition_penalty=draw(st.sampled_from([1.0, 1.3])),
            seed=draw(st.integers(0, 3)),
        ),
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

    def __init__(self, model: sg.Backend) -> None:
        self.model_name, self.context_length = model.model_name, model.context_length
        self.tokenizer_info, self.open = model.tokenizer_info, model.open


class BatchLaws:
    """Inherit from it, and define `backend`."""

    tolerance = 1e-3
    """of logits"""

    def close(self, found: Logits, wanted: Logits) -> None:
        np.testing.assert_allclose(on_host(found), on_host(wanted), atol=self.tolerance)

    def test_who_computes_together(self, backend: BatchBackend) -> None:
        assert isinstance(backend, BatchBackend)
        assert Generator(backend).is_batching
        assert not Generator(Alone(backend)).is_batching

    @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(many=st.lists(rows(), min_size=1, max_size=7), data=st.data())
    def test_in_a_batch_each_writes_what_it_writes_alone(
        self, backend: BatchBackend, many: list[Any], data: st.DataObject
    ) -> None:
        one_by_one, together = Generator(Alone(backend)), Generator(backend)
        prompts, grammars, options = zip(*many, strict=True)
        alone = [told(one_by_one.start(prompt, grammar=grammar, options=one)) for prompt, grammar, one in many]
        later = data.draw(st.integers(0, len(many) - 1))  # these join when others are on their way
        running = together.start_all(prompts[later:], grammars=grammars[later:], options=options[later:])
        found: dict[int, list[int]] = {at: [] for at in range(len(many))}
        reading = {later + at: iter(one) for at, one in enumerate(running)}
        gone = data.draw(st.sets(st.integers(0, len(many) - 1), max_size=2))
        generations = {later + at: one for at, one in enumerate(running)}
        while reading or later:
            if later and data.draw(st.booleans()):
                later -= 1
                generations[later] = together.start(prompts[later], grammar=grammars[later], options=options[later])
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
        one_by_one.close()
        together.close()

    @pytest.mark.parametrize("counts", [(1, 1, 1), (3, 1, 5), (2, 2), (64, 1), (1, 80, 1, 1, 1)])
    def test_logits_of_a_batch_are_those_of_sequences_alone(
        self, backend: BatchBackend, counts: tuple[int, ...]
    ) -> None:
        random = np.random.default_rng(len(counts))
        batch = backend.open_batch()
        assert batch is not None
        sessions = {key: backend.open() for key in range(10, 10 + len(counts))}
        prompts = {key: random.integers(0, 1024, 5 * key).tolist() for key in sessions}
        for logits, (key, ids) in zip(batch.prefill(prompts), prompts.items(), strict=True):
            self.close(logits, sessions[key].prefill(ids))
        for turn in range(6):
            turned = (*counts[turn % len(counts) :], *counts[: turn % len(counts)])
            parts = {key: random.integers(0, 1024, count).tolist() for key, count in zip(sessions, turned, strict=True)}
            for logits, (key, ids) in zip(batch.extend(parts), parts.items(), strict=True):
                self.close(logits, sessions[key].extend(ids))
        batch.drop((10, 99))
        for key in list(sessions)[:0:-1]:  # one alone, the others wait
            self.close(batch.extend({key: [7]})[0], sessions[key].step(7))

    @pytest.mark.parametrize("sizes", [(1, 1, 1), (7, 40, 3), (64, 1, 90)])
    def test_a_prompt_may_be_read_in_parts(self, backend: BatchBackend, sizes: tuple[int, ...]) -> None:
        random = np.random.default_rng(len(sizes))
        batch = backend.open_batch()
        assert batch is not None
        sessions = {key: backend.open() for key in range(4)}
        others = {key: random.integers(0, 1024, 9).tolist() for key in (0, 1)}
        batch.prefill(others)
        for key, ids in others.items():
            sessions[key].prefill(ids)
        parts = [random.integers(0, 1024, size).tolist() for size in sizes]
        for part in parts:
            batch.prefill_part(2, part)
            # The others go on between the parts.
            for logits, key in zip(batch.extend({0: [5], 1: [6]}), (0, 1), strict=True):
                self.close(logits, sessions[key].step((5, 6)[key]))
        with pytest.raises(sg.ModelError):
            batch.prefill_part(2, [5] * 1025)
        with pytest.raises(sg.ModelError):
            batch.prefill({2: [5], 3: [1024]})
        last, whole = batch.prefill({2: [5, 6], 3: [7, 8]})
        self.close(last, sessions[2].prefill([*chain.from_iterable(parts), 5, 6]))
        self.close(whole, sessions[3].prefill([7, 8]))
        batch.drop((0,))
        for logits, key in zip(batch.extend({3: [1], 2: [2]}), (3, 2), strict=True):
            self.close(logits, sessions[key].step({3: 1, 2: 2}[key]))
        batch.prefill_part(9, [5])
        batch.drop((9, 1, 2, 3))
        self.close(batch.prefill({9: [6]})[0], backend.open().prefill([6]))

    def test_what_a_batch_refuses_changes_nothing(self, backend: BatchBackend) -> None:
        batch, session = backend.open_batch(), backend.open()
        assert batch is not None
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
        self.close(batch.extend({1: [8]})[0], session.step(8))
