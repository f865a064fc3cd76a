"""What the grammar forces is taken without asking the model, and stays legal."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import syntagma as sg
from syntagma.decoding import Logits, Session
from syntagma.generation import Generation

pytest.importorskip("tokenizers")

SCHEMAS: list[dict[str, Any]] = [
    {
        "type": "object",
        "properties": {
            "minutes": {"type": "integer", "minimum": 1, "maximum": 90},
            "label": {"type": "string", "maxLength": 20},
            "loud": {"type": "boolean"},
        },
        "required": ["minutes", "label", "loud"],
        "additionalProperties": False,
    },
    {
        "type": "object",
        "properties": {
            "location": {
                "type": "object",
                "properties": {"city": {"enum": ["Oslo", "San José", "東京"]}, "country": {"const": "don't know"}},
                "required": ["city", "country"],
                "additionalProperties": False,
            },
            "temperatures": {"type": "array", "items": {"type": "number"}, "minItems": 1, "maxItems": 2},
        },
        "required": ["location", "temperatures"],
        "additionalProperties": False,
    },
    {"enum": ["confirmed", "confused", {"none of them": None}]},
]
COMPACT = [sg.Grammar.from_json_schema(schema, whitespace="compact") for schema in SCHEMAS]
FREE = [sg.Grammar.from_json_schema(schema) for schema in SCHEMAS]
PROMPT = "<|im_start|>user\nSet a timer for 7 minutes<|im_end|>\n<|im_start|>assistant\n"


class Counting(Session):
    """A session that keeps what each pass read."""

    def __init__(self, inner: Session, passes: list[list[int]]) -> None:
        self._inner, self._passes = inner, passes

    def prefill(self, token_ids: Sequence[int]) -> Logits:
        self._passes.append(list(token_ids))
        return self._inner.prefill(token_ids)

    def step(self, token_id: int) -> Logits:
        self._passes.append([token_id])
        return self._inner.step(token_id)

    def extend(self, token_ids: Sequence[int]) -> Logits:
        self._passes.append(list(token_ids))
        return self._inner.extend(token_ids)


class CountingBackend:
    """A backend whose sessions keep what they read; `passes` is what the newest one did."""

    def __init__(self, inner: sg.Backend) -> None:
        self._inner = inner
        self.model_name, self.context_length = inner.model_name, inner.context_length
        self.tokenizer_info = inner.tokenizer_info
        self.passes: list[list[int]] = []

    def open(self) -> Session:
        self.passes = []
        return Counting(self._inner.open(), self.passes)


@pytest.fixture(scope="module")
def backend() -> CountingBackend:
    return CountingBackend(sg.load("embedded").backend)


@pytest.fixture(scope="module")
def generator(backend: CountingBackend) -> sg.Generator:
    return sg.Generator(backend)


def asked(*, temperature: float = 0.0, seed: int = 0, **given: Any) -> sg.GenerationOptions:
    return sg.GenerationOptions(sampling=sg.Sampling(temperature=temperature, seed=seed), **given)


def read(generation: Generation) -> tuple[str, list[int]]:
    steps = list(generation)
    return b"".join(step.data for step in steps if not step.end).decode(), [step.token_id for step in steps]


@pytest.mark.parametrize("temperature", [0.0, 1.0, 5.0])
@pytest.mark.parametrize("number", range(len(SCHEMAS)))
def test_texts_are_those_of_the_grammar_and_passes_are_saved(
    generator: sg.Generator, backend: CountingBackend, number: int, temperature: float
) -> None:
    saved = 0
    for grammar in (COMPACT[number], FREE[number]):
        for seed in range(6):
            generation = generator.start(PROMPT, grammar=grammar, options=asked(temperature=temperature, seed=seed))
            text, ids = read(generation)
            assert grammar.accepts(text), text
            metrics = generation.metrics
            assert metrics.completion_tokens == len(ids)
            assert metrics.forward_passes == len(backend.passes)
            # The first token costs no pass of its own beside the prompt's; nor does any that is forced.
            assert metrics.forward_passes <= 1 + metrics.completion_tokens - metrics.forced_tokens
            read_by_model = [token for one in backend.passes[1:] for token in one]
            assert read_by_model == ids[: len(read_by_model)]
            saved += metrics.completion_tokens - metrics.forward_passes
    assert saved > 12


def test_what_is_forced_is_as_the_tokenizer_writes_it(generator: sg.Generator) -> None:
    grammar = sg.Grammar.literal('{"location": "San José", "minutes": 12345} and so on')
    info = generator.backend.tokenizer_info
    text, ids = read(generator.start(PROMPT, grammar=grammar, options=asked(temperature=5.0)))
    assert text == '{"location": "San José", "minutes": 12345} and so on'
    whole = info.encode(text, trusted=())
    same = next((at for at, (a, b) in enumerate(zip(ids, whole, strict=False)) if a != b), len(whole))
    assert same > len(whole) // 2


def test_without_jumps_the_model_is_asked_for_every_token(generator: sg.Generator) -> None:
    for grammar in COMPACT:
        for options in (
            asked(jump_forward=False),
            asked(logprobs=0),
            sg.GenerationOptions(sampling=sg.Sampling(temperature=0, logit_bias={5: 1.0})),
            sg.GenerationOptions(sampling=sg.Sampling(temperature=0, allowed_token_ids=tuple(range(1024)))),
        ):
            generation = generator.start(PROMPT, grammar=grammar, options=options)
            text, ids = read(generation)
            assert grammar.accepts(text)
            metrics = generation.metrics
            assert (metrics.forced_tokens, metrics.forward_passes) == (0, len(ids))
    free = generator.start(PROMPT, options=asked(max_tokens=9))
    assert len(list(free)) == free.metrics.forward_passes == 9


def test_a_forced_token_has_no_choice() -> None:
    """Bytes leave one tokenisation, so that jumps change nothing at all."""
    script = '{"minutes":7,"label":"tea","loud":true}'
    plain = sg.Generator(sg.testing.ScriptedBackend(script))
    texts = [read(plain.start("q", grammar=COMPACT[0], options=asked(jump_forward=jump)))[0] for jump in (True, False)]
    assert texts == [script, script]
    generation = plain.start("q", grammar=COMPACT[0], options=asked())
    list(generation)
    # `{"minutes":`, `,"label":"`, `,"loud":`, `rue` and `}`, less the comma behind the number; then the end.
    assert generation.metrics.forced_tokens > 30
    assert generation.metrics.forward_passes < 12


@pytest.mark.parametrize("limit", range(8, 60, 3))
def test_texts_are_complete_at_any_limit(generator: sg.Generator, limit: int) -> None:
    for seed in range(3):
        options = asked(temperature=1.0, seed=seed, max_tokens=limit)
        generation = generator.start(PROMPT, grammar=COMPACT[0], options=options)
        text, ids = read(generation)
        assert len(ids) <= limit
        # The shortest text as the tokenizer writes it; fewer tokens may do.
        if limit >= len(generator.backend.tokenizer_info.encode('{"minutes":1,"label":"","loud":true}')):
            assert set(json.loads(text)) == {"minutes", "label", "loud"}


def test_a_stop_string_within_what_is_forced(generator: sg.Generator) -> None:
    generation = generator.start(PROMPT, grammar=COMPACT[0], options=asked(stop=("nutes",)))
    assert (read(generation)[0], generation.stopped_by) == ('{"mi', "nutes")
    # The matcher is clean for whoever takes it next.
    assert COMPACT[0].accepts(read(generator.start(PROMPT, grammar=COMPACT[0], options=asked()))[0])


def test_bounds_on_parts_hold(backend: CountingBackend) -> None:
    model = sg.Model(backend, sg.load("embedded").codec)
    schema = {"name": "a", "schema": SCHEMAS[0]}
    for tokens in (0, 3, 10):
        message = model.chat(
            [{"role": "user", "content": "Set a timer for 7 minutes"}],
            response_format={"type": "json_schema", "json_schema": schema},
            template_kwargs={"enable_thinking": True},
            budgets=sg.Budgets(reasoning_tokens=tokens),
            seed=tokens,
        )
        assert isinstance(message.content, str)
        assert set(json.loads(message.content)) == {"minutes", "label", "loud"}
        info = backend.tokenizer_info
        assert len(info.encode(message.reasoning_content or "", trusted=())) <= tokens + 2


class Silent(sg.testing.ScriptedBackend):
    """A backend that finds every token equally likely, and whose vocabulary cannot encode."""

    def __init__(self) -> None:
        super().__init__("")
        tokens = [b"a", b"b", b"c", b"ab", b"abc", b"<end>"]
        self.tokenizer_info = sg.TokenizerInfo.from_tokens(tokens, eos_token_ids=[5])

    def open(self) -> Session:
        return Even()


class Even(Session):
    def prefill(self, token_ids: Sequence[int]) -> Logits:  # noqa: ARG002
        return np.zeros(6, np.float32)

    def step(self, token_id: int) -> Logits:  # noqa: ARG002
        return np.zeros(6, np.float32)


def test_a_vocabulary_that_cannot_encode_has_no_forced_text() -> None:
    generation = sg.Generator(Silent()).start([0], grammar=sg.Grammar.literal("abcabc"), options=asked())
    text, ids = read(generation)
    assert text == "abcabc"
    # Where one token alone is left, it is forced all the same: the end.
    assert generation.metrics.forced_tokens >= 1
    assert generation.metrics.forward_passes < len(ids)
