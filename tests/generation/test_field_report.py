"""Which tokens made each field, how likely they were, and what the grammar took away: against plain sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import syntagma as sg
from syntagma.decoding import Logits, Session, allocate_token_bitmask
from syntagma.decoding.sampling import Sampling
from syntagma.generation import FieldReport, Generation
from syntagma.generation.field_report import Reading, TokenReading

pytest.importorskip("tokenizers")

TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "unit": {"enum": ["zzz", "yyy"]}},
                "required": ["city", "unit"],
                "additionalProperties": False,
            },
        },
    }
]
QUESTION = [{"role": "user", "content": "What's the weather in Oslo?"}]


class Keeping(Session):
    """A session that keeps its logits."""

    def __init__(self, inner: Session, kept: list[Logits]) -> None:
        self._inner, self._kept = inner, kept

    def prefill(self, token_ids: Sequence[int]) -> Logits:
        return self._keep(self._inner.prefill(token_ids))

    def step(self, token_id: int) -> Logits:
        return self._keep(self._inner.step(token_id))

    def _keep(self, logits: Logits) -> Logits:
        self._kept.append(logits.copy())
        return logits


class KeepingBackend:
    """A backend whose newest session's logits are in `kept`."""

    def __init__(self, inner: sg.Backend) -> None:
        self._inner = inner
        self.model_name, self.context_length = inner.model_name, inner.context_length
        self.tokenizer_info = inner.tokenizer_info
        self.kept: list[Logits] = []

    def open(self) -> Session:
        self.kept = []
        return Keeping(self._inner.open(), self.kept)


@pytest.fixture(scope="module")
def backend() -> KeepingBackend:
    return KeepingBackend(sg.load("embedded").backend)


@pytest.fixture(scope="module")
def model(backend: KeepingBackend) -> sg.Model:
    return sg.Model(backend, sg.load("embedded").codec)


def answered(
    model: sg.Model, *, tools: Any = TOOLS, given: dict[str, Any] | None = None, **options: Any
) -> tuple[sg.Turn, Generation, list[sg.Step], sg.Message]:
    turn = model.codec.prepare(QUESTION, tools=tools, **(given or {}))
    asked = {"max_tokens": 120, "explain": True, "sampling": Sampling(temperature=0), **options}
    generation = model.start(turn, sg.GenerationOptions(**asked))
    assert isinstance(generation, Generation)
    parser = turn.parser()
    steps = [step for step, _ in generation.read(parser, markers=turn.preserved_tokens) if step is not None]
    return turn, generation, steps, parser.message


def plain(logits: Logits) -> np.ndarray[Any, np.dtype[np.float64]]:
    wide = logits.astype(np.float64)
    weights = np.exp(wide - wide.max())
    shares: np.ndarray[Any, np.dtype[np.float64]] = weights / weights.sum()
    return shares


@pytest.mark.parametrize("seed", range(4))
def test_sums_are_those_of_the_logits(model: sg.Model, backend: KeepingBackend, seed: int) -> None:
    sampling = Sampling(temperature=1.5, seed=seed)
    turn, generation, steps, _ = answered(model, given={"tool_choice": "required"}, sampling=sampling)
    grammar = turn.whole_grammar
    assert grammar is not None
    matcher = sg.GrammarMatcher(model.compiler.compile(grammar))
    info = backend.tokenizer_info
    mask = allocate_token_bitmask(1, info.vocab_size)
    assert len(backend.kept) == len(steps)
    for step, logits in zip(steps, backend.kept, strict=True):
        matcher.fill_next_token_bitmask(mask)
        allowed = np.unpackbits(mask[0].view(np.uint8), bitorder="little")[: info.vocab_size].astype(bool)
        probabilities = plain(logits)
        assert step.logprob == pytest.approx(math.log(probabilities[step.token_id]), abs=1e-9)
        assert step.masked == pytest.approx(1 - probabilities[allowed].sum(), abs=1e-9)
        assert step.preferred is not None
        assert step.preferred.token_id == int(np.argmax(logits))
        assert step.forced == (allowed.sum() == 1)
        assert matcher.accept_token(step.token_id)
    report = generation.field_report
    assert sum(field.tokens for field in report.fields) == len(steps) == generation.metrics.completion_tokens
    known = [field.logprob_sum or 0 for field in report.fields] + [one.forced_logprob_sum or 0 for one in report.fields]
    assert sum(known) == pytest.approx(sum(step.logprob or 0 for step in steps))
    assert max(field.masked_max or 0 for field in report.fields) == max(step.masked or 0 for step in steps)
    bent = [index for index, step in enumerate(steps) if (step.masked or 0) > 0.5]
    assert [one.index for one in report.bent] == bent


def test_a_constraint_that_bends_the_model_shows_at_its_field(model: sg.Model) -> None:
    _, generation, _, message = answered(model, given={"tool_choice": "required"})
    assert '"unit": "' in message.tool_calls[0].arguments
    fields = {field.pointer: field for field in generation.field_report.fields}
    unit = fields["/tool_calls/0/arguments/unit"]
    assert unit.masked_max is not None
    assert unit.masked_max > 0.9
    # The model wants to be done after the city: the token that ends it is the city's.
    assert {one.pointer for one in generation.field_report.bent} == {
        "/tool_calls/0/arguments/unit",
        "/tool_calls/0/arguments/city",
    }
    assert fields["/tool_calls/0/name"].masked_max == pytest.approx(0, abs=0.1)


def test_without_being_asked_nothing_is_told(model: sg.Model) -> None:
    _, generation, steps, _ = answered(model, explain=False)
    assert generation.field_report == FieldReport()
    assert all(step.logprob is None and step.masked is None and step.preferred is None for step in steps)


def test_log_probabilities_alone_tell_fields_without_masses(model: sg.Model) -> None:
    _, generation, steps, _ = answered(model, explain=False, logprobs=0, given={"tool_choice": "required"})
    fields = generation.field_report.fields
    assert sum(field.tokens for field in fields) == len(steps)
    assert all(field.masked_max is None for field in fields)
    assert generation.field_report.bent == ()


def test_values_of_json_answers_are_fields(model: sg.Model) -> None:
    schema = TOOLS[0]["function"]["parameters"]
    asked = {"type": "json_schema", "json_schema": {"name": "a", "schema": schema}}
    _, generation, _, _ = answered(model, tools=None, given={"response_format": asked})
    assert {"/content/city", "/content/unit"} < {field.pointer for field in generation.field_report.fields}


def test_a_text_that_is_brought_to_its_end_tells_what_that_took(model: sg.Model) -> None:
    _, generation, steps, _ = answered(model, given={"tool_choice": "required"}, max_tokens=28)
    assert generation.metrics.completed == 1
    last = steps[-1]
    assert last.forced
    assert last.masked == pytest.approx(-math.expm1(last.logprob or 0))


def token(data: bytes, logprob: float = -1.0, **rest: Any) -> TokenReading:
    return TokenReading(data=data, logprob=logprob, **rest)


def report(pieces: list[bytes]) -> FieldReport:
    parser = sg.formats.get("qwen25").parser(None, id_seed="")
    reading = Reading()
    for piece in pieces:
        events = parser.feed(piece)
        reading.token(token(piece), parser.position)
        reading.events(events)
    reading.events(parser.finish())
    return reading.report(parser.raw)


def test_a_token_with_text_of_two_fields_counts_for_the_first_value() -> None:
    told = report(
        [b'Hm<tool_call>\n{"name": "f", "arg', b'uments": {"a": "x', b'y", "b": 1', b"2}}", b"\n</tool_call>"]
    )
    found = {field.pointer: (field.tokens, field.shared_tokens) for field in told.fields}
    assert found == {
        "/content": (1, 1),
        "/tool_calls/0/arguments/a": (2, 2),
        "/tool_calls/0/arguments/b": (1, 1),
        "": (1, 0),
    }


def test_a_character_that_is_cut_belongs_to_its_field() -> None:
    told = report([b"a", b"\xe6", b"\x9d", b"\xb1", b"z"])
    assert [(field.pointer, field.tokens, field.shared_tokens) for field in told.fields] == [("/content", 5, 0)]


def test_whitespace_and_markers_belong_to_what_holds_them() -> None:
    told = report([b'<tool_call>\n{"name": "', b"f", b'", "arguments": ', b"{", b'"a"', b": ", b"1", b"}", b"}"])
    found = {field.pointer: field.tokens for field in told.fields}
    assert found == {
        "/tool_calls/0": 2,
        "/tool_calls/0/name": 1,
        "/tool_calls/0/arguments": 4,
        "/tool_calls/0/arguments/a": 1,
        "": 1,
    }
