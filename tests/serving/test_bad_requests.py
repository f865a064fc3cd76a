from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from starlette.testclient import TestClient

from syntagma.limits import Limits
from syntagma.serving import Settings
from tests.serving.support import CLOCK, WEATHER, body, client

CHAT = "/v1/chat/completions"


def refused(answer: Any, status: int = 400) -> dict[str, Any]:
    """The error of an answer, which is in the shape that clients read."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    (error,) = answer.json().values()
    assert set(error) == {"message", "type", "param", "code"}
    assert error["message"]
    assert error["type"] == ("rate_limit_error" if status == 429 else "invalid_request_error")
    return error  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def served() -> TestClient:
    return client("hello")


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"not json",
        b"[1, 2]",
        b'"text"',
        b"null",
        b'{"messages": [{"role": "user", "content": "\xff"}]}',
        b'{"messages": [{"role": "user", "content": "\\ud800"}]}',
        b'{"temperature": NaN, "messages": []}',
        b'{"temperature": Infinity, "messages": []}',
        b'{"temperature": 1e999, "messages": []}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
    ],
)
def test_a_body_that_is_no_request(served: TestClient, raw: bytes) -> None:
    assert refused(served.post(CHAT, content=raw))["code"] == "E-REQUEST-JSON"


def user(content: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": content}]}


CASES: list[tuple[dict[str, Any], str | None]] = [
    ({"regex": "a", "guided_choice": ["a"]}, "regex"),
    ({"response_format": {"type": "json_object"}, "grammar": "root ::= 'a'"}, "grammar"),
    ({"structured_outputs": {"json": {}, "regex": "a"}}, "structured_outputs.regex"),
    ({"structured_outputs": {"json": 3}}, "structured_outputs.json"),
    ({"structured_outputs": {"json": "{"}}, "structured_outputs.json"),
    ({"structured_outputs": {"json": {"type": "strung"}}}, "structured_outputs.json.type"),
    ({"structured_outputs": {"choice": []}}, "structured_outputs.choice"),
    ({"guided_regex": "("}, "guided_regex"),
    ({"guided_grammar": "nothing that anyone reads"}, "guided_grammar"),
    ({"ebnf": 'root ::= "a'}, "ebnf"),
    ({"grammar": "root ::= missing"}, "grammar"),
    ({"json_schema": {"$ref": "http://elsewhere/"}}, 'json_schema["$ref"]'),
    ({"structural_tag": "{"}, "structural_tag"),
    ({"structural_tag": {"type": "structural_tag"}}, "structural_tag.format"),
    ({"response_format": {"type": "yaml"}}, "response_format.type"),
    ({"prompt_logprobs": 1}, "prompt_logprobs"),
    ({"top_k": -2}, "top_k"),
    ({"min_p": 2}, "min_p"),
    ({"frequency_penalty": 3}, "frequency_penalty"),
    ({"presence_penalty": -3}, "presence_penalty"),
    ({"repetition_penalty": 0}, "repetition_penalty"),
    ({"logit_bias": {"a": 1}}, "logit_bias"),
    ({"logit_bias": {"3": 101}}, "logit_bias[3]"),
    ({"logit_bias": {"99999": 1}}, "logit_bias[99999]"),
    ({"stop_token_ids": [3, -1]}, "stop_token_ids[1]"),
    ({"allowed_token_ids": [3, 99999]}, "allowed_token_ids[1]"),
    ({"allowed_token_ids": []}, "allowed_token_ids"),
    ({"bad_words": ["a", ""]}, "bad_words[1]"),
    ({"min_tokens": 5, "max_tokens": 4}, "min_tokens"),
    ({"messages": None}, "messages"),
    ({"messages": []}, "messages"),
    ({"messages": "hi"}, "messages"),
    ({"messages": ["hi"]}, "messages[0]"),
    ({"messages": [{"role": "wizard", "content": "hi"}]}, "messages[0].role"),
    ({"messages": [{"content": "hi"}]}, "messages[0].role"),
    ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content"),
    ({"messages": [{"role": "user"}]}, "messages[0].content"),
    ({"messages": [{"role": "user", "content": None}]}, "messages[0].content"),
    (user([{"type": "image_url", "image_url": {"url": "http://127.0.0.1/x.png"}}]), "messages[0].content[0].type"),
    (user([{"type": "text", "text": "a"}, {"type": "input_audio"}]), "messages[0].content[1].type"),
    (user([{"type": "text"}]), "messages[0].content[0].text"),
    (user([{"text": "hi"}]), "messages[0].content[0].type"),
    (user(["hi"]), "messages[0].content[0]"),
    (
        {"messages": [{"role": "assistant", "tool_calls": [{"id": "1", "function": {"arguments": "{}"}}]}]},
        "messages[0].tool_calls[0].function",
    ),
    (
        {"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}]},
        "messages[0].tool_calls[0].function.arguments",
    ),
    ({"temperature": "hot"}, "temperature"),
    ({"temperature": -0.1}, "temperature"),
    ({"temperature": 2.1}, "temperature"),
    ({"top_p": 0}, "top_p"),
    ({"top_p": 1.5}, "top_p"),
    ({"n": 0}, "n"),
    ({"n": 17}, "n"),
    ({"n": 1.5}, "n"),
    ({"n": True}, "n"),
    ({"seed": "x"}, "seed"),
    ({"max_tokens": 0}, "max_tokens"),
    ({"max_tokens": -5}, "max_tokens"),
    ({"max_completion_tokens": 0}, "max_completion_tokens"),
    ({"stop": ""}, "stop"),
    ({"stop": ["a", ""]}, "stop[1]"),
    ({"stop": ["a"] * 17}, "stop"),
    ({"stop": ["a", "b" * 257]}, "stop[1]"),
    ({"stop": 5}, "stop"),
    ({"logprobs": 3}, "logprobs"),
    ({"top_logprobs": 2}, "top_logprobs"),
    ({"logprobs": True, "top_logprobs": 21}, "top_logprobs"),
    ({"logprobs": True, "top_logprobs": -1}, "top_logprobs"),
    ({"stream": "yes"}, "stream"),
    ({"stream_options": {"include_usage": 1}}, "stream_options.include_usage"),
    ({"tools": {"name": "f"}}, "tools"),
    ({"tools": [{"type": "function"}]}, "tools[0].function.name"),
    ({"tools": [{"type": "web_search"}], "tool_choice": "required"}, "tool_choice"),
    ({"tools": [{"type": "web_search"}], "tool_choice": {"type": "web_search"}}, "tool_choice.type"),
    ({"tools": [WEATHER, {"type": "function", "function": {"name": ""}}]}, "tools[1].function.name"),
    ({"tools": [CLOCK, CLOCK]}, "tools[1].function.name"),
    ({"tools": [{"type": "function", "function": {"name": "f", "parameters": 5}}]}, "tools[0].function.parameters"),
    ({"tool_choice": "required"}, "tool_choice"),
    ({"tool_choice": "sometimes", "tools": [CLOCK]}, "tool_choice"),
    ({"tool_choice": 5, "tools": [CLOCK]}, "tool_choice"),
    ({"tool_choice": {"type": "function", "function": {"name": "no"}}, "tools": [CLOCK]}, "tool_choice.function.name"),
    ({"tool_choice": {"type": "odd"}, "tools": [CLOCK]}, "tool_choice.type"),
    (
        {
            "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "odd", "tools": []}},
            "tools": [CLOCK],
        },
        "tool_choice.allowed_tools.mode",
    ),
    ({"parallel_tool_calls": "no"}, "parallel_tool_calls"),
    ({"response_format": "json"}, "response_format"),
    ({"response_format": {}}, "response_format.type"),
    ({"response_format": {"type": "xml"}}, "response_format.type"),
    ({"response_format": {"type": "structural_tag", "structures": []}}, "response_format.structures"),
    (
        {"response_format": {"type": "structural_tag", "structures": [{"begin": "<a>", "schema": {}, "end": "</a>"}]}},
        "response_format.triggers",
    ),
    ({"response_format": {"type": "json_schema"}}, "response_format.schema"),
    ({"response_format": {"type": "json_schema", "json_schema": {"schema": 5}}}, "response_format.json_schema.schema"),
    ({"response_format": {"type": "grammar"}}, "response_format.grammar"),
    ({"response_format": {"type": "grammar", "grammar": "left or right"}}, "response_format.grammar"),
    ({"response_format": {"type": "json_object", "schema": "{"}}, "response_format.schema"),
    ({"response_format": {"type": "json_object", "schema": "3"}}, "response_format.schema"),
    ({"chat_template": "{{ messages }}"}, "chat_template"),
    ({"chat_template_kwargs": []}, "chat_template_kwargs"),
    ({"chat_template_kwargs": {"messages": []}}, "chat_template_kwargs.messages"),
]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("fields", "param"), CASES, ids=[json.dumps(fields)[:60] for fields, _ in CASES])
def test_the_field_that_is_wrong_is_named(
    served: TestClient, fields: dict[str, Any], param: str | None, stream: bool
) -> None:
    request = body(**({"stream": stream} | fields))
    if request["messages"] is None:
        del request["messages"]
    assert refused(served.post(CHAT, json=request))["param"] == param


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ({"type": "object", "properties": {"a": {"type": "nonsense"}}}, ".properties.a.type"),
        ({"$ref": "#/nowhere"}, ""),
        ({"$ref": "https://example.com/schema"}, ""),
        ({"type": "object", "properties": {"a": {"minLength": -1}}}, ".properties.a"),
    ],
)
def test_a_schema_that_cannot_be_enforced_is_refused_with_its_place(
    served: TestClient, schema: dict[str, Any], pointer: str
) -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    param = refused(served.post(CHAT, json=body(response_format=wanted)))["param"]
    assert param is not None
    assert param.startswith("response_format.json_schema.schema" + pointer)
    tool = {
        "type": "function",
        "function": {"name": "f", "parameters": {"type": "object", "properties": {"x": schema}}},
    }
    param = refused(served.post(CHAT, json=body(tools=[tool], tool_choice="required", stream=True)))["param"]
    assert param is not None
    assert param.startswith("tools[0].function.parameters")


def test_a_bad_grammar_is_refused_with_its_place(served: TestClient) -> None:
    wanted = {"type": "grammar", "grammar": 'start ::= "a" |\n  missing'}
    error = refused(served.post(CHAT, json=body(response_format=wanted)))
    assert error["code"].startswith("E-GRAMMAR-")
    assert "2" in error["message"]


def test_a_template_that_refuses_the_conversation(served: TestClient) -> None:
    for stream in (False, True):
        error = refused(served.post(CHAT, json=body(**user("refuse me"), stream=stream)))
        assert "this conversation is refused" in error["message"]
        assert error["code"].startswith("E-TEMPLATE-")


def test_a_prompt_that_is_too_long() -> None:
    small = client("hello", context_length=64)
    for stream in (False, True):
        error = refused(small.post(CHAT, json=body(**user("word " * 50), stream=stream)))
        assert error["code"] == "context_length_exceeded"
        assert error["param"] == "messages"


def test_models_and_routes_that_do_not_exist(served: TestClient) -> None:
    error = refused(served.post(CHAT, json=body(model="other")), 404)
    assert (error["code"], error["param"]) == ("model_not_found", "model")
    assert refused(served.get("/v1/models/other"), 404)["code"] == "model_not_found"
    refused(served.get("/v1/nothing"), 404)
    refused(served.post("/"), 405)
    refused(served.get(CHAT), 405)
    refused(served.post("/v1/models"), 405)


def test_a_body_that_is_too_large() -> None:
    limits = msgspec.structs.replace(Limits(), server_body_bytes=1000)
    small = client("hello", settings=Settings(limits=limits))
    at_limit = json.dumps(body(**user("hi"))).encode().ljust(1000)
    assert small.post(CHAT, content=at_limit).status_code == 200
    refused(small.post(CHAT, content=at_limit + b" "), 413)


def test_limits_are_inclusive(served: TestClient) -> None:
    fields = {"n": 16, "stop": ["x" * 256] * 16, "logprobs": True, "top_logprobs": 20, "max_tokens": 1}
    assert served.post(CHAT, json=body(**fields)).status_code == 200


def test_health_and_models(served: TestClient) -> None:
    assert served.get("/health").json() == {"status": "ok"}
    listed = served.get("/v1/models").json()
    assert listed["object"] == "list"
    (card,) = listed["data"]
    assert (card["id"], card["object"]) == ("scripted", "model")
    assert served.get("/v1/models/scripted").json() == card
