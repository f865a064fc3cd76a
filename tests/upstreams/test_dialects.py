"""What each engine is asked in its own words, and what it says in them."""

from __future__ import annotations

import string
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

import syntagma as sg
from syntagma.decoding.upstream import Completion, Constraint
from syntagma.serving import ServedModel, create_app
from syntagma.upstreams.llamacpp import LlamaCpp
from syntagma.upstreams.ollama import Ollama
from syntagma.upstreams.openai_completions import OpenAICompletions
from syntagma.upstreams.options import spelled
from syntagma.upstreams.sglang import SGLang
from syntagma.upstreams.vllm import VLLM
from tests.upstreams.mock import PLAIN, MockEngine, pieces
from tests.upstreams.wires import WIRES, address_of, model_of

MESSAGES = [{"role": "user", "content": "Hello"}]
HERE = "http://127.0.0.1:1"
SAMPLING: dict[str, Any] = {
    "temperature": 0.5,
    "top_p": 0.25,
    "top_k": 5,
    "min_p": 0.125,
    "frequency_penalty": 0.375,
    "presence_penalty": 0.625,
    "repetition_penalty": 1.5,
    "logit_bias": {7: 2.5},
    "seed": 11,
}


class Options(NamedTuple):
    """How an engine of one kind spells options.

    Attributes:
        kind: its class.
        under: the key of the body under which options stand, or none.
        spelled: what `SAMPLING` becomes; a missing name is an option that it lacks.
    """

    kind: type[Any]
    under: str | None
    spelled: dict[str, Any]


SAME = {name: SAMPLING[name] for name in ("temperature", "top_p", "frequency_penalty", "presence_penalty", "seed")}
CUTS = {"top_k": 5, "min_p": 0.125}
TEXT_BIAS = {"logit_bias": {"7": 2.5}}
ENGINES = {
    "llamacpp": Options(LlamaCpp, None, {**SAME, **CUTS, "repeat_penalty": 1.5, "logit_bias": [[7, 2.5]]}),
    "vllm": Options(VLLM, None, {**SAME, **CUTS, **TEXT_BIAS, "repetition_penalty": 1.5}),
    "sglang": Options(
        SGLang,
        "sampling_params",
        {**SAME, **CUTS, **TEXT_BIAS, "repetition_penalty": 1.5, "sampling_seed": 11},
    ),
    "ollama": Options(Ollama, "options", {**SAME, **CUTS, "repeat_penalty": 1.5}),
    "openai-completions": Options(OpenAICompletions, None, {**SAME, **TEXT_BIAS}),
}
ENGINES["sglang"].spelled.pop("seed")
LACKS = {
    "llamacpp": ("allowed_token_ids", "min_tokens", "stop_token_ids", "excluded"),
    "vllm": (),
    "sglang": ("allowed_token_ids", "excluded"),
    "ollama": ("logit_bias", "allowed_token_ids", "min_tokens", "ignore_eos", "stop_token_ids", "excluded"),
    "openai-completions": (
        *("top_k", "min_p", "repetition_penalty", "allowed_token_ids"),
        *("min_tokens", "ignore_eos", "stop_token_ids", "excluded"),
    ),
}
OTHERS: dict[str, Any] = {
    "allowed_token_ids": (1, 2),
    "min_tokens": 3,
    "ignore_eos": True,
    "stop_token_ids": (4,),
    "excluded": ("bad",),
}


def asked(**options: Any) -> Completion:
    sampling = {name: options.pop(name) for name in list(options) if name in (*SAMPLING, "allowed_token_ids")}
    return Completion(prompt="Hello", sampling=sg.Sampling(**sampling), **options)


def options_of(kind: str, completion: Completion) -> dict[str, Any]:
    engine = ENGINES[kind]
    body = engine.kind(HERE, model="m").request(completion).body
    return body if engine.under is None else body[engine.under]  # type: ignore[no-any-return]


@pytest.mark.parametrize("kind", ENGINES)
def test_options_are_spelled_as_the_engine_does(kind: str) -> None:
    known = {name: value for name, value in SAMPLING.items() if name not in LACKS[kind]}
    body = options_of(kind, asked(**known))
    assert {name: body.get(name) for name in ENGINES[kind].spelled} == ENGINES[kind].spelled


@pytest.mark.parametrize("kind", ENGINES)
def test_what_an_engine_lacks_is_refused_and_nothing_else(kind: str) -> None:
    for name, value in (SAMPLING | OTHERS).items():
        if name in LACKS[kind]:
            with pytest.raises(sg.UpstreamError) as raised:
                options_of(kind, asked(**{name: value}))
            assert (raised.value.code, raised.value.pointer) == ("E-UPSTREAM-OPTION", f"/{name}")
            assert raised.value.status == 400
        else:
            assert options_of(kind, asked(**{name: value})) != options_of(kind, asked())


@pytest.mark.parametrize("kind", ENGINES)
def test_defaults_of_the_engine_do_not_count(kind: str) -> None:
    body = options_of(kind, asked())
    assert (body["temperature"], body["top_p"]) == (1, 1)
    if "top_k" in ENGINES[kind].spelled:
        assert body["top_k"] == (-1 if kind == "sglang" else 0)
        assert body["min_p"] == 0
    assert "seed" not in body


def test_options_that_are_not_given_do_not_go_out() -> None:
    assert spelled(asked(), {"logit_bias": "bias", "seed": "seed", "allowed_token_ids": "only"}) == {}


@pytest.mark.parametrize("kind", ["llamacpp", "vllm", "sglang"])
def test_prompts_may_be_token_ids(kind: str) -> None:
    body = ENGINES[kind].kind(HERE, model="m").request(Completion(prompt=[1, 2, 3])).body
    assert body["input_ids" if kind == "sglang" else "prompt"] == [1, 2, 3]


class Served(NamedTuple):
    engine: MockEngine
    client: TestClient


@pytest.fixture(params=WIRES)
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    with MockEngine(WIRES[request.param]) as engine:
        # Asking for what the engine says of itself is part of getting to know how it streams.
        model = model_of(address_of(request.param, engine.url), described=True)
        with TestClient(create_app(ServedModel(model.engine, model.codec))) as client:
            yield Served(engine, client)


@pytest.mark.parametrize("stream", [False, True])
def test_log_probabilities(served: Served, stream: bool) -> None:
    body = {"messages": MESSAGES, "logprobs": True, "top_logprobs": 1, "stream": stream}
    answer = served.client.post("/v1/chat/completions", json=body)
    assert answer.status_code == 200, answer.text
    tokens, _ = pieces(PLAIN, None)
    if stream:
        assert answer.text.count('"logprob":-0.5') == 2 * len(tokens)
        return
    entries = answer.json()["choices"][0]["logprobs"]["content"]
    assert [entry["token"] for entry in entries] == tokens
    for entry in entries:
        assert entry["logprob"] == -0.5
        assert bytes(entry["bytes"]).decode() == entry["token"]
        (top,) = entry["top_logprobs"]
        assert (top["token"], top["logprob"]) == (entry["token"], -0.5)


def test_usage_is_what_the_engine_counts(served: Served) -> None:
    usage = served.client.post("/v1/chat/completions", json={"messages": MESSAGES}).json()["usage"]
    tokens, _ = pieces(PLAIN, None)
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (7, len(tokens))


def test_several_answers(served: Served) -> None:
    body = {"messages": MESSAGES, "n": 3}
    answer = served.client.post("/v1/chat/completions", json=body).json()
    assert [choice["message"]["content"] for choice in answer["choices"]] == [PLAIN] * 3
    assert answer["usage"]["completion_tokens"] == 3 * len(pieces(PLAIN, None)[0])


@pytest.mark.parametrize("kind", ["ollama", "openai-completions"])
def test_one_of_several_models_must_be_named(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wire = WIRES[kind]
    for path, facts in {
        "/api/tags": {"models": [{"name": "a"}, {"name": "b"}]},
        "/v1/models": {"data": [{"id": "a"}, {"id": "b"}]},
    }.items():
        if path in wire.facts:
            monkeypatch.setitem(wire.facts, path, facts)
    with MockEngine(wire) as engine:
        with pytest.raises(sg.UpstreamError) as raised:
            model_of(address_of(kind, engine.url), described=True)
        assert raised.value.code == "E-UPSTREAM-MODEL"
        assert "#a" in (raised.value.hint or "")
        model = model_of(address_of(kind, engine.url) + "#b", described=True)
        assert model.engine.model_name == "b"
        assert model.engine.address == engine.url


HELD = st.recursive(
    st.sampled_from(
        [
            {"type": "string"},
            {"type": "string", "minLength": 1, "maxLength": 4},
            {"type": "integer", "minimum": 0, "maximum": 9},
            {"enum": ["a", 1, None]},
            {"const": True},
            {"type": ["number", "null"]},
        ]
    ),
    lambda inner: st.one_of(
        inner.map(lambda one: {"type": "array", "items": one, "maxItems": 3}),
        st.lists(inner, min_size=1, max_size=3).map(lambda many: {"anyOf": many, "title": "t"}),
        st.dictionaries(st.sampled_from(string.ascii_letters), inner, max_size=3).map(
            lambda parts: {"type": "object", "properties": parts, "additionalProperties": False}
        ),
    ),
    max_leaves=6,
)
UNHELD = st.sampled_from(
    [
        {"type": "string", "pattern": "a+"},
        {"type": "number", "minimum": 3},
        {"not": {"type": "null"}},
        {"oneOf": [{"type": "string"}, {"type": "string"}]},
        {"type": "array", "uniqueItems": True},
        False,
    ]
)


def holds(schema: Any) -> bool:
    return Ollama(HERE).holds(Constraint(language="json_schema", source=schema))


@given(HELD)
def test_ollama_is_given_schemas_that_it_holds(schema: Any) -> None:
    assert holds(schema)
    assert sg.Grammar.from_json_schema(schema).check("").continuation


@given(HELD, UNHELD, st.sampled_from(["items", "anyOf", "properties", "$defs"]))
def test_a_keyword_that_ollama_does_not_hold_is_found_anywhere(schema: Any, unheld: Any, key: str) -> None:
    inside: Any = {"items": unheld, "anyOf": [unheld], "properties": {"zz": unheld}, "$defs": {"zz": unheld}}[key]
    assert not holds({"anyOf": [schema, {key: inside}]})


def test_a_number_of_tokens_above_the_context_is_as_many_as_there_can_be() -> None:
    with MockEngine(WIRES["vllm"]) as engine:
        model = model_of(f"vllm:{engine.url}", described=True)
        model.chat(MESSAGES, max_tokens=10**6)
        model.chat(MESSAGES, max_tokens=5)
        model.chat(MESSAGES)
        assert [body["max_tokens"] for body in engine.bodies] == [1024, 5, None]
        model.close()
