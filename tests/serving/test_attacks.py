"""Requests that are made to freeze a server, or to fill it."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any
from unittest import mock

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntagma.codec import ChatCodec
from syntagma.decoding import TokenizerInfo
from syntagma.errors import RequestError
from syntagma.formats import ChatFormat
from syntagma.limits import Limits
from syntagma.serving import ServedModel, Settings, create_app, event_stream
from syntagma.serving import body as body_module
from syntagma.serving.body import check_values
from syntagma.serving.chat import ChatDialect
from syntagma.templates import ChatTemplate
from syntagma.testing import ScriptedBackend
from tests.serving.support import FORMAT, TEMPLATE, body, client, model
from tests.serving.test_life import PATIENCE, Caller, run

PATH = "/v1/chat/completions"


def limited(**bounds: Any) -> Settings:
    return Settings(parallel=1, limits=msgspec.structs.replace(Limits(), **bounds))


def says(text: str, **fields: Any) -> dict[str, Any]:
    return body(messages=[{"role": "user", "content": text}], **fields)


def test_a_client_that_reads_nothing_gives_its_place_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "_GRACE_S", 0.0)

    def script(prompt: str) -> str:
        # A generation that is not stopped outlives the test.
        return "x" * 10**6 if "endless" in prompt else "short"

    async def scene() -> None:
        served = model(script, context_length=10**9)
        app = create_app(served, limited(server_streams=1, server_write_seconds=0.1))
        deaf = Caller(app, PATH, says("endless", stream=True))
        deaf.reads = False
        await deaf.run()
        answered = await Caller(app, PATH, body()).run()
        assert json.loads(answered.received)["choices"][0]["message"]["content"] == "short"

    run(scene)


def test_half_a_body_is_not_waited_for() -> None:
    async def scene() -> None:
        app = create_app(model("hello"), limited(server_body_seconds=0.1, server_streams=1))
        for path in (PATH, "/v1/messages", "/v1/messages/count_tokens", "/tokenize"):
            half = Caller(app, path, body())
            half.sent = 20
            await half.run()
            assert half.status == 408, path
            assert half.headers[b"connection"] == b"close"
        assert (await Caller(app, PATH, body()).run()).status == 200

    run(scene)


def test_bodies_that_are_large_together_are_refused_until_some_are_gone() -> None:
    async def scene() -> None:
        app = create_app(model("hello"), limited(server_bodies_bytes=3000))
        half = Caller(app, PATH, says("x" * 2500))
        half.sent = 2000
        task = asyncio.ensure_future(half.run())
        await asyncio.sleep(0)
        refused = await Caller(app, PATH, says("x" * 1500)).run()
        assert refused.status == 429
        assert (await Caller(app, PATH, body()).run()).status == 200
        half.leave.set()
        await task
        # Bodies that were answered, refused or cut off are counted no more.
        for _ in range(3):
            assert (await Caller(app, PATH, says("x" * 1500)).run()).status == 200

    run(scene)


def test_a_body_that_is_announced_as_too_large_is_not_read() -> None:
    served = client()
    answer = served.post(PATH, content=b"{}", headers={"content-length": "9" * 30})
    assert answer.status_code == 413
    assert served.post(PATH, content=b" " * (8 << 20) + b"{}").status_code == 413


def test_what_cannot_fit_is_refused_before_it_is_encoded() -> None:
    encoded: list[str] = []

    def encode(text: str) -> list[int]:
        encoded.append(text)
        return list(text.encode())

    tokens = [bytes([byte]) for byte in range(256)] + [b"<end>", b"x" * 16]
    backend = ScriptedBackend("hello", context_length=1024)
    plain = TokenizerInfo.from_tokens(tokens, eos_token_ids=[256])
    backend.tokenizer_info = plain.with_encoder(encode)
    served = ServedModel(backend, ChatCodec.from_format(ChatFormat.from_toml(FORMAT), ChatTemplate(TEMPLATE)))

    async def scene() -> None:
        app = create_app(served)
        for stream in (False, True):
            long = await Caller(app, PATH, says("x" * 1024 * 16, stream=stream)).run()
            assert long.status == 400
            assert json.loads(long.received)["error"]["code"] == "context_length_exceeded"
        assert not any(len(text) > 1024 for text in encoded)
        # Where its size does not tell, the prompt is encoded.
        longer = await Caller(app, PATH, says("y" * 2000)).run()
        assert longer.status == 400
        assert any(len(text) > 1024 for text in encoded)

    run(scene)


def test_others_are_answered_while_a_request_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    reached, go_on = threading.Event(), threading.Event()
    read = ChatDialect.read

    def slow(self: ChatDialect, data: bytes, settings: Settings) -> Any:
        if b"slowly" in data:
            reached.set()
            assert go_on.wait(PATIENCE)
        return read(self, data, settings)

    monkeypatch.setattr(ChatDialect, "read", slow)

    async def scene() -> None:
        app = create_app(model("hello"))
        long = says("slowly" + "x" * (1 << 20))
        tasks = [asyncio.ensure_future(Caller(app, PATH, long).run()) for _ in range(4)]
        await asyncio.to_thread(reached.wait, PATIENCE)
        # However many long ones are read, short ones do not wait for them.
        for _ in range(4):
            assert (await Caller(app, PATH, body()).run()).status == 200
        go_on.set()
        assert {(await task).status for task in tasks} == {400}

    run(scene)


def test_a_request_that_is_read_can_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    reached, go_on = threading.Event(), threading.Event()
    read = ChatDialect.read

    def slow(self: ChatDialect, data: bytes, settings: Settings) -> Any:
        reached.set()
        assert go_on.wait(PATIENCE)
        return read(self, data, settings)

    monkeypatch.setattr(ChatDialect, "read", slow)

    async def scene() -> None:
        app = create_app(model("hello"), limited(server_streams=1))
        leaving = Caller(app, PATH, body())
        task = asyncio.ensure_future(leaving.run())
        await asyncio.to_thread(reached.wait, PATIENCE)
        leaving.leave.set()
        await task
        go_on.set()
        assert (await Caller(app, PATH, body()).run()).status == 200

    run(scene)


@pytest.mark.parametrize(
    "fields",
    [
        {"messages": [{"role": "user", "content": ""}] * 50_000},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": ""}] * 100_000}]},
        {"n": 17},
        {"n": 10**30},
        {"logprobs": True, "top_logprobs": 21},
        {"stop": ["x"] * 17},
        {"stop": ["x" * 257]},
        {"bad_words": ["x"] * 17},
        {"logit_bias": {str(token): 1 for token in range(100_000)}},
        {"stop_token_ids": list(range(100_000))},
        {"allowed_token_ids": list(range(100_000))},
        {"tools": [{"type": "function", "function": {"name": f"f{number}"}} for number in range(1_001)]},
        {"response_format": {"type": "regex", "regex": "(a?){1000}a{1000}" * 40}, "max_tokens": 1},
        {"response_format": {"type": "regex", "regex": "(((a{1000}){1000}){1000}){1000}"}},
        {"response_format": {"type": "regex", "regex": "(" * 5_000 + ")" * 5_000}},
        {"chat_template_kwargs": {"opened": {"a": [[[]]] * 10_000}}, "max_tokens": 1},
    ],
)
def test_many_of_anything_is_refused_or_answered(fields: dict[str, Any]) -> None:
    served = client("hello")
    answer = served.post(PATH, json=body(**fields))
    assert answer.status_code in (200, 400), answer.text[:300]
    assert served.post(PATH, json=body()).status_code == 200


@pytest.mark.parametrize("opener", ["[", '{"a":', '{"messages":['])
def test_a_body_that_nests_deeply_is_refused(opener: str) -> None:
    assert client().post(PATH, content=opener * 200_000).status_code == 400


@pytest.mark.parametrize("keyword", ["items", "not", "additionalProperties", "allOf"])
def test_a_schema_that_nests_deeply_is_refused(keyword: str) -> None:
    depth = 5_000
    opener, closer = (f'{{"{keyword}":[', "]}") if keyword == "allOf" else (f'{{"{keyword}":', "}")
    schema = opener * depth + "true" + closer * depth
    sent = json.dumps(body(response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": 0}}))
    answer = client().post(PATH, content=sent.replace('"schema": 0', f'"schema": {schema}'))
    assert answer.status_code == 400, answer.text[:300]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('[]{},:"\\\\ aé\n', max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('[{,"\\\\', max_size=3), inner, max_size=4),
    max_leaves=30,
)


def counted(value: Any) -> tuple[int, int]:
    """Objects and arrays, and commas between what stands in them."""
    if not isinstance(value, dict | list):
        return 0, 0
    inside = [counted(one) for one in (value.values() if isinstance(value, dict) else value)]
    return 1 + sum(one for one, _ in inside), max(len(value) - 1, 0) + sum(one for _, one in inside)


@given(JSON, st.booleans(), st.integers(1, 9))
def test_values_are_counted_before_they_are_made(value: Any, ascii_only: bool, piece: int) -> None:
    data = json.dumps(value, ensure_ascii=ascii_only).encode()
    containers, values = counted(value)
    with mock.patch.object(body_module, "_PIECE", piece):
        exact = msgspec.structs.replace(Limits(), server_body_containers=containers, server_body_values=values)
        check_values(data, exact)
        for less in ({"server_body_containers": containers - 1}, {"server_body_values": values - 1}):
            if min(less.values()) >= 0:
                with pytest.raises(RequestError, match="are allowed"):
                    check_values(data, msgspec.structs.replace(exact, **less))


@pytest.mark.parametrize("path", [PATH, "/v1/messages", "/tokenize"])
def test_a_body_of_very_many_values_is_refused(path: str) -> None:
    served = client()
    for value in ("[]", "{}", '{"role":"user","content":""}', "0"):
        answer = served.post(path, content='{"messages":[' + ",".join([value] * 1_000_002) + "]}")
        assert answer.status_code in (400, 413)
    text = "[a], {b}, " * 200_000
    assert served.post(path, json={"messages": [{"role": "user", "content": text}]}).status_code in (200, 400)
