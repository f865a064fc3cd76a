"""What goes out to an engine, and what comes of constraints that it cannot hold."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from typing import Any, ClassVar

import pytest
from starlette.testclient import TestClient

import syntagma as sg
from syntagma import upstreams
from syntagma.decoding.upstream import Upstream
from syntagma.serving import ServedModel, create_app
from syntagma.upstreams import registry
from syntagma.upstreams.llamacpp import LlamaCpp
from tests.upstreams.cases import SCHEMA, TOOLS
from tests.upstreams.mock import PLAIN, TOKEN, MockEngine
from tests.upstreams.wires import CODEC, WIRES, model_of

MESSAGES = [{"role": "user", "content": "Hello"}]
FORMAT = {"type": "json_schema", "json_schema": {"name": "r", "schema": SCHEMA}}
CALL = '<tool_call>\n{"name": "set_timer", "arguments": {"minutes": 7}}\n</tool_call>'


class HoldsNothing(LlamaCpp):
    """An engine without grammars."""

    languages: ClassVar[tuple[str, ...]] = ()


@pytest.fixture
def engine() -> Iterator[MockEngine]:
    with MockEngine(WIRES["llamacpp"]) as made:
        yield made


@pytest.fixture
def model(engine: MockEngine) -> Iterator[sg.Model]:
    made = model_of(f"llamacpp:{engine.url}")
    yield made
    made.close()


def unheld(engine: MockEngine, model: sg.Model, policy: Any) -> tuple[sg.Model, TestClient]:
    upstream: Upstream = HoldsNothing(engine.url)
    served = ServedModel(upstream, model.codec, unheld=policy)
    return served.model, TestClient(create_app(served))


def test_a_request_to_llamacpp(engine: MockEngine, model: sg.Model) -> None:
    model.chat(MESSAGES, tools=TOOLS, tool_choice="required", temperature=0.5, top_p=0.9, seed=2**32 + 4, stop=["zz"])
    (body,) = engine.bodies
    turn = model.codec.prepare(MESSAGES, tools=TOOLS, tool_choice="required")
    assert body["prompt"] == turn.prompt
    assert (body["temperature"], body["top_p"]) == (0.5, 0.9)
    assert body["seed"] == 5
    assert body["n_predict"] == -1
    # A grammar ends by itself; what ends a turn without one may stand in a string of an argument.
    assert body["stop"] == ["zz"]
    assert {"<tool_call>", "<|im_start|>"} <= set(body["preserved_tokens"])
    assert turn.grammar is not None
    assert body["grammar"] == turn.grammar.to_gbnf().text
    # Nothing but what was asked for bends the model's distribution.
    assert (body["top_k"], body["min_p"], body["repeat_penalty"]) == (0, 0, 1)


def test_free_text_ends_at_stop_strings(engine: MockEngine, model: sg.Model) -> None:
    model.chat(MESSAGES, stop=["zz"])
    assert set(engine.bodies[-1]["stop"]) == {"zz", *model.codec.format.stop_strings}


def test_what_ends_a_turn_may_stand_in_a_held_answer(model: sg.Model) -> None:
    (end, *_) = model.codec.format.stop_strings
    schema = {"type": "object", "properties": {"text": {"enum": [f"a{end}b"]}}, "required": ["text"]}
    shape = {"type": "json_schema", "json_schema": {"name": "r", "schema": schema}}
    message = model.chat(MESSAGES, response_format=shape)
    assert json.loads(str(message.content)) == {"text": f"a{end}b"}


def test_the_engine_adds_its_first_token_where_the_template_has_written_it(
    engine: MockEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    template = "{{ bos_token }}" + engine.wire.facts["/props"]["chat_template"]
    props = {**engine.wire.facts["/props"], "chat_template": template}
    monkeypatch.setitem(engine.wire.facts, "/props", props)
    for added, begins in (([], "<s><|im_start|>"), ([1], "<|im_start|>")):
        monkeypatch.setitem(engine.wire.facts, "/tokenize", {"tokens": added})
        model = sg.load(f"llamacpp:{engine.url}")
        model.chat(MESSAGES)
        assert engine.bodies[-1]["prompt"].startswith(begins)
        model.close()


def test_a_key_goes_out(engine: MockEngine) -> None:
    model = model_of(f"llamacpp:{engine.url}", api_key="secret")
    model.chat(MESSAGES)
    assert engine.headers[-1]["authorization"] == "Bearer secret"
    model.close()


def test_the_model_has_the_same_interface(model: sg.Model) -> None:
    assert model.chat(MESSAGES).content == PLAIN
    events = list(model.stream(MESSAGES))
    assert "".join(one.text for one in events if isinstance(one, sg.events.ContentDelta)) == PLAIN
    assert len(events) > len(PLAIN) // TOKEN
    assert isinstance(events[-1], sg.events.MessageEnd)
    (call,) = model.chat(MESSAGES, tools=TOOLS, tool_choice="set_timer").tool_calls
    assert call.name == "set_timer"
    with pytest.raises(sg.ArgumentError) as raised:
        _ = model.generator
    assert raised.value.code == "E-ARGUMENT-ENGINE"


def test_closing_an_iterator_stops_the_engine(engine: MockEngine, model: sg.Model) -> None:
    engine.endless = True
    events: Any = model.stream(MESSAGES)
    next(events)
    events.close()
    assert wait_until(lambda: engine.left == 1)


def wait_until(holds: Any, seconds: float = 1.0) -> bool:
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.01)
    return bool(holds())


@pytest.mark.parametrize("cut", range(1, 9))
def test_a_stop_string_never_appears(model: sg.Model, cut: int) -> None:
    # The mock does not look at `stop`, as an engine with fewer stop strings would not.
    stop = PLAIN[9 : 9 + cut]
    assert model.chat(MESSAGES, stop=[stop]).content == PLAIN[: PLAIN.index(stop)].rstrip()


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"response_format": FORMAT}, "response_format.json_schema.schema"),
        ({"tools": TOOLS, "tool_choice": "required"}, "tool_choice"),
        ({"tools": TOOLS, "parallel_tool_calls": False}, "tools"),
    ],
)
def test_a_constraint_that_the_engine_lacks_is_refused(
    engine: MockEngine, model: sg.Model, fields: dict[str, Any], param: str
) -> None:
    _, client = unheld(engine, model, "refuse")
    with client:
        response = client.post("/v1/chat/completions", json={"messages": MESSAGES, **fields})
    assert response.status_code == 400
    error = response.json()["error"]
    assert (error["code"], error["param"]) == ("E-UPSTREAM-CONSTRAINT", param)
    assert not engine.bodies


def test_a_budget_is_refused(model: sg.Model) -> None:
    with TestClient(create_app(ServedModel(model.engine, model.codec))) as client:
        response = client.post("/v1/chat/completions", json={"messages": MESSAGES, "thinking_token_budget": 5})
    assert response.status_code == 400
    assert response.json()["error"]["param"] == "thinking_token_budget"


def test_what_only_the_server_asks_for_is_not_refused(engine: MockEngine, model: sg.Model) -> None:
    engine.texts = [CALL]
    _, client = unheld(engine, model, "refuse")
    with client:
        response = client.post("/v1/chat/completions", json={"messages": MESSAGES, "tools": TOOLS})
    assert response.json()["choices"][0]["finish_reason"] == "tool_calls"
    assert "grammar" not in engine.bodies[-1]


@pytest.mark.parametrize("stream", [False, True])
def test_a_constraint_is_checked_afterwards_and_asked_for_again(
    engine: MockEngine, model: sg.Model, stream: bool
) -> None:
    engine.texts = ['{"who": "Otto", "n": 3}', "Ida", '{"who": "Ida", "n": 3}']
    _, client = unheld(engine, model, "check")
    asked = {"messages": MESSAGES, "response_format": FORMAT, "seed": 1, "stream": stream}
    with client:
        response = client.post("/v1/chat/completions", json=asked)
    assert response.status_code == 200
    assert "Otto" not in response.text
    assert "Ida" in response.text
    assert [body["seed"] for body in engine.bodies] == [1, 2, 3]


@pytest.mark.parametrize("stream", [False, True])
def test_a_constraint_that_no_text_keeps_is_an_error(engine: MockEngine, model: sg.Model, stream: bool) -> None:
    engine.texts = ["no"]
    _, client = unheld(engine, model, "check")
    asked = {"messages": MESSAGES, "tools": TOOLS, "tool_choice": "required", "stream": stream}
    with client:
        response = client.post("/v1/chat/completions", json=asked)
    assert (response.status_code, response.json()["error"]["code"]) == (502, "E-UPSTREAM-UNHELD")
    assert len(engine.bodies) == 3


def test_an_answer_that_is_checked_may_be_cut(engine: MockEngine, model: sg.Model) -> None:
    checked, _ = unheld(engine, model, "check")
    engine.texts = [CALL]
    message = checked.chat(MESSAGES, tools=TOOLS, tool_choice="required", max_tokens=15)
    assert message.incomplete
    engine.texts = ["Hello there"]
    with pytest.raises(sg.UpstreamError):
        checked.chat(MESSAGES, tools=TOOLS, tool_choice="required", max_tokens=2)
    checked.close()


def test_calls_are_read_where_nothing_is_held(engine: MockEngine, model: sg.Model) -> None:
    engine.texts = [CALL]
    free, _ = unheld(engine, model, "refuse")
    (call,) = free.chat(MESSAGES, tools=TOOLS, enforce="off").tool_calls
    assert json.loads(call.arguments) == {"minutes": 7}
    free.close()


def test_the_registry_names_what_there_is() -> None:
    assert {name.partition(" ")[0] for name in WIRES} <= set(upstreams.names())
    assert upstreams.is_address("llamacpp:http://127.0.0.1:8080")
    assert not upstreams.is_address("C:\\models\\a.gguf")
    assert not upstreams.is_address("embedded")
    assert not upstreams.is_address("http://127.0.0.1:8080")


@pytest.mark.parametrize("kind", ["ollama", "openai-completions"])
def test_engines_without_grammars_are_checked_if_that_is_wanted(kind: str) -> None:
    with MockEngine(WIRES[kind], texts=["I will.", CALL]) as engine:
        name = {"ollama": "tiny:latest"}.get(kind, "tiny")
        model = sg.Model(upstreams.connect(f"{kind}:{engine.url}#{name}"), CODEC, unheld="check")
        (call,) = model.chat(MESSAGES, tools=TOOLS, tool_choice="required").tool_calls
        assert call.name == "set_timer"
        assert len(engine.bodies) == 2
        model.close()


def test_packages_add_kinds(monkeypatch: pytest.MonkeyPatch, engine: MockEngine) -> None:
    added = EntryPoint(name="mine", value=f"{__name__}:HoldsNothing", group="syntagma.upstreams")
    monkeypatch.setattr(registry, "entry_points", lambda group: [added] if group == added.group else [])
    registry._plugins.cache_clear()
    try:
        assert "mine" in upstreams.names()
        made = upstreams.connect(f"mine:{engine.url}", timeout=1.0)
        assert isinstance(made, HoldsNothing)
    finally:
        registry._plugins.cache_clear()


@pytest.mark.parametrize(
    ("policy", "prefix", "code"),
    [
        ("refuse", '{"who": "I', "E-UPSTREAM-CONSTRAINT"),
        ("refuse", "Well", "E-REQUEST-PREFIX"),
        ("check", "Well", "E-REQUEST-PREFIX"),
        ("check", '{"who": "I', None),
    ],
)
def test_an_answer_with_a_shape_goes_on_only_where_it_is_checked(
    engine: MockEngine, model: sg.Model, policy: Any, prefix: str, code: str | None
) -> None:
    engine.texts = ['da", "n": 3}']
    messages = [*MESSAGES, {"role": "assistant", "content": prefix}]
    asked = {"messages": messages, "continue_final_message": True, "response_format": FORMAT}
    with TestClient(create_app(ServedModel(model.engine, model.codec, unheld=policy))) as client:
        response = client.post("/v1/chat/completions", json=asked)
    answer = response.json()
    if code is None:
        assert answer["choices"][0]["message"]["content"] == 'da", "n": 3}'
        assert "grammar" not in engine.bodies[-1]
    else:
        assert (response.status_code, answer["error"]["code"]) == (400, code)
        assert not engine.bodies


@pytest.mark.parametrize("field", ["return_token_ids", "prompt_logprobs"])
def test_what_only_a_model_here_can_tell_is_refused(engine: MockEngine, model: sg.Model, field: str) -> None:
    with TestClient(create_app(ServedModel(model.engine, model.codec))) as client:
        response = client.post(
            "/v1/chat/completions", json={"messages": MESSAGES, field: 1 if "log" in field else True}
        )
    assert (response.status_code, response.json()["error"]["param"]) == (400, field)
    assert not engine.bodies
