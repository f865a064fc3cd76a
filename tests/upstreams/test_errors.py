"""What goes wrong at an engine is a typed error with a code of its own, in the library and over HTTP."""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

import syntagma as sg
from syntagma import upstreams
from syntagma.serving import ServedModel, create_app
from tests.upstreams.mock import PLAIN, MockEngine
from tests.upstreams.wires import CODEC, WIRES, model_of

MESSAGES = [{"role": "user", "content": "Hello"}]


@pytest.fixture
def engine() -> Iterator[MockEngine]:
    with MockEngine(WIRES["llamacpp"]) as made:
        yield made


def address(engine: MockEngine) -> str:
    return f"llamacpp:{engine.url}"


def answer(engine: MockEngine, **fields: Any) -> Any:
    served = ServedModel(upstreams.connect(address(engine), timeout=1.0), CODEC)
    return served, {"messages": MESSAGES, **fields}


REFUSALS = [
    (400, {"message": "no such sampler"}, "E-UPSTREAM-REFUSED", 400),
    (400, {"message": "too long", "type": "exceed_context_size_error"}, "E-MODEL-CONTEXT", 400),
    (400, {"message": "This model's maximum context length is 10 tokens"}, "E-MODEL-CONTEXT", 400),
    (401, {"message": "Invalid API Key"}, "E-UPSTREAM-KEY", 502),
    (404, {"message": "File Not Found"}, "E-UPSTREAM-REFUSED", 502),
    (429, "slow down", "E-UPSTREAM-BUSY", 503),
    (500, {"message": "out of memory"}, "E-UPSTREAM-FAILED", 502),
    (503, {"message": "Loading model"}, "E-UPSTREAM-BUSY", 503),
]


@pytest.mark.parametrize("refusal", REFUSALS)
@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_with_an_error(
    engine: MockEngine, refusal: tuple[int, Any, str, int], stream: bool, caplog: pytest.LogCaptureFixture
) -> None:
    status, error, code, ours = refusal
    model = model_of(address(engine))
    served = ServedModel(model.engine, model.codec)
    engine.status, engine.error = status, json.dumps({"error": error}).encode()
    with pytest.raises(sg.SyntagmaError) as raised:
        model.chat(MESSAGES)
    assert raised.value.code == code
    shown = error["message"] if isinstance(error, dict) else error
    assert shown in raised.value.message
    with TestClient(create_app(served)) as client, caplog.at_level(logging.WARNING, "syntagma"):
        response = client.post("/v1/chat/completions", json={"messages": MESSAGES, "stream": stream})
    model.close()
    assert response.status_code == ours
    body = response.json()["error"]
    assert body["code"] == {"E-MODEL-CONTEXT": "context_length_exceeded"}.get(code, code)
    # What an engine says of the request is for the client, and all else for the operator, with its address.
    assert (shown in body["message"]) == (ours == 400)
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == (ours != 400)
    assert all(shown in one and code in one and engine.url in one for one in told)
    assert str(engine.port) not in response.text


@pytest.mark.parametrize("shown", ["bad key sk-UPSTREAMSECRET", "Bearer abcdefgh.ijkl is wrong", "no hf_abcdefghijkl"])
def test_keys_that_engines_repeat_are_shown_to_nobody(
    engine: MockEngine, shown: str, caplog: pytest.LogCaptureFixture
) -> None:
    engine.status, engine.error = 400, json.dumps({"error": {"message": f"{shown} and own-secret"}}).encode()
    served = ServedModel(upstreams.connect(address(engine), api_key="own-secret"), CODEC)
    with TestClient(create_app(served)) as client, caplog.at_level(logging.DEBUG, "syntagma"):
        response = client.post("/v1/chat/completions", json={"messages": MESSAGES})
    assert response.status_code == 400
    for secret in ("UPSTREAMSECRET", "abcdefgh", "own-secret"):
        assert secret not in response.text + caplog.text


def test_an_engine_that_is_not_there() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(sg.UpstreamError) as raised:
        sg.load(f"llamacpp:http://127.0.0.1:{port}")
    assert raised.value.code == "E-UPSTREAM-CONNECT"
    assert str(port) in str(raised.value)


def test_an_engine_that_goes_away(engine: MockEngine) -> None:
    served, body = answer(engine)
    engine.__exit__()
    with TestClient(create_app(served)) as client:
        response = client.post("/v1/chat/completions", json=body)
    assert (response.status_code, response.json()["error"]["code"]) == (503, "E-UPSTREAM-CONNECT")
    engine.__enter__()


@pytest.mark.parametrize("lines", [0, 2])
def test_a_stream_that_breaks_off(engine: MockEngine, lines: int) -> None:
    model = model_of(address(engine))
    engine.drop_after = lines
    with pytest.raises(sg.UpstreamError) as raised:
        model.chat(MESSAGES)
    assert raised.value.code == "E-UPSTREAM-BROKEN"
    assert raised.value.again == (lines == 0)
    with TestClient(create_app(ServedModel(model.engine, model.codec))) as client:
        response = client.post("/v1/chat/completions", json={"messages": MESSAGES, "stream": True})
        counted = client.get("/metrics").text
    if lines:
        assert response.status_code == 200
        assert 'request_errors_total{code="E-UPSTREAM-BROKEN",route="/v1/chat/completions"} 1.0' in counted
        last = response.text.rstrip().split("\n\n")[-1]
        assert json.loads(last.removeprefix("data: "))["error"]["code"] == "E-UPSTREAM-BROKEN"
    else:
        assert (response.status_code, response.json()["error"]["code"]) == (502, "E-UPSTREAM-BROKEN")
    model.close()


def test_a_stream_that_ends_without_an_end(engine: MockEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of(address(engine))
    wire = WIRES["llamacpp"]
    monkeypatch.setattr(type(wire), "lines", lambda *_: iter([b'data: {"content": "a", "stop": false}\n\n']))
    with pytest.raises(sg.UpstreamError) as raised:
        model.chat(MESSAGES)
    assert raised.value.code == "E-UPSTREAM-BROKEN"
    model.close()


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"data: {no json\n\n", "E-UPSTREAM-ANSWER"),
        (b'data: {"other": 1}\n\n', "E-UPSTREAM-ANSWER"),
        (b'data: {"error": {"message": "out of memory"}}\n\n', "E-UPSTREAM-FAILED"),
    ],
)
def test_a_stream_that_is_not_understood(
    engine: MockEngine, monkeypatch: pytest.MonkeyPatch, line: bytes, code: str
) -> None:
    model = model_of(address(engine))
    monkeypatch.setattr(type(WIRES["llamacpp"]), "lines", lambda *_: iter([line]))
    with pytest.raises(sg.UpstreamError) as raised:
        model.chat(MESSAGES)
    assert raised.value.code == code
    model.close()


def test_an_engine_that_is_silent(engine: MockEngine) -> None:
    served, body = answer(engine)
    engine.silent = True
    with TestClient(create_app(served)) as client:
        response = client.post("/v1/chat/completions", json=body)
    assert (response.status_code, response.json()["error"]["code"]) == (504, "E-UPSTREAM-TIMEOUT")


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("odd:http://127.0.0.1:1", "E-UPSTREAM-KIND"),
        ("llamacpp:ftp://127.0.0.1:1", "E-UPSTREAM-URL"),
        ("llamacpp:http://", "E-UPSTREAM-URL"),
    ],
)
def test_an_address_that_is_none(source: str, code: str) -> None:
    with pytest.raises(sg.UpstreamError) as raised:
        sg.load(source)
    assert raised.value.code == code


def test_an_engine_that_does_not_tell_its_template(engine: MockEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    props = {**engine.wire.facts["/props"], "chat_template": ""}
    monkeypatch.setitem(engine.wire.facts, "/props", props)
    with pytest.raises(sg.UpstreamError) as raised:
        sg.load(address(engine))
    assert raised.value.code == "E-UPSTREAM-TEMPLATE"
    assert "--chat-template" in (raised.value.hint or "")


def test_a_connection_that_the_engine_closes_while_it_is_idle_is_opened_anew(engine: MockEngine) -> None:
    model = model_of(address(engine))
    engine.closes_after_each = True
    for _ in range(4):
        assert model.chat(MESSAGES).content == PLAIN
    assert len(engine.bodies) == 4
    model.close()
