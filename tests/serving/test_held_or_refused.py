"""A constraint is held or refused, in every endpoint, and never dropped; what nothing reads is named."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from syntagma.serving.constraint_fields import ConstraintFields, StructuredOutputs
from syntagma.serving.sampling_fields import SamplingFields
from tests.serving.support import NO_REASONING, body, client

SCHEMA = {"enum": ["yes", "no"]}
TAG = {"type": "structural_tag", "format": {"type": "or", "elements": [{"type": "const_string", "value": "yes"}]}}
LARK = 'start: "yes" | "no"'
GBNF = 'root ::= "yes" | "no"'
EBNF = 'start ::= "yes" | "no" ;'
ALLOWED = ("yes", "no", '"yes"', '"no"')

# Every field that holds the answer to a shape → a value that allows nothing but these answers.
FIELDS: dict[str, Any] = {
    "response_format": {"type": "choice", "choice": ["yes", "no"]},
    "guided_json": SCHEMA,
    "guided_regex": "yes|no",
    "guided_choice": ["yes", "no"],
    "guided_grammar": GBNF,
    "json_schema": json.dumps(SCHEMA),
    "regex": "yes|no",
    "ebnf": EBNF,
    "grammar": GBNF,
    "structural_tag": TAG,
}
STRUCTURED: dict[str, Any] = {
    "json": SCHEMA,
    "regex": "yes|no",
    "choice": ["yes", "no"],
    "grammar": LARK,
    "structural_tag": json.dumps(TAG),
}
FORMATS: list[dict[str, Any]] = [
    {"type": "json_schema", "json_schema": {"name": "r", "schema": SCHEMA, "strict": True}},
    {"type": "json_schema", "schema": json.dumps(SCHEMA)},
    {"type": "regex", "regex": "yes|no"},
    {"type": "choice", "choice": ["yes", "no"]},
    {"type": "grammar", "grammar": LARK},
    {"type": "grammar", "syntax": "gbnf", "grammar": GBNF},
    {"type": "grammar", "grammar": {"syntax": "ebnf", "definition": EBNF}},
    TAG,
]
ASKS: list[dict[str, Any]] = [
    *({name: value} for name, value in FIELDS.items()),
    *({"structured_outputs": {name: value}} for name, value in STRUCTURED.items()),
    *({"response_format": one} for one in FORMATS),
]
MESSAGES = [{"role": "user", "content": "hi"}]
ENDPOINTS: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"messages": MESSAGES},
    "/v1/completions": {"prompt": "hi"},
    "/v1/responses": {"input": "hi", "store": False},
    "/v1/messages": {"messages": MESSAGES, "max_tokens": 64},
}


def text_of(path: str, answer: dict[str, Any]) -> str:
    match path:
        case "/v1/chat/completions":
            found = answer["choices"][0]["message"]["content"]
        case "/v1/completions":
            found = answer["choices"][0]["text"]
        case "/v1/responses":
            found = "".join(item["content"][0]["text"] for item in answer["output"])
        case _:
            found = "".join(block["text"] for block in answer["content"])
    return str(found)


def test_every_field_is_among_those_that_are_tried() -> None:
    sampling = {field.name for field in msgspec.structs.fields(SamplingFields)}
    constraints = {field.name for field in msgspec.structs.fields(ConstraintFields)} - sampling
    assert constraints == {*FIELDS, "structured_outputs"}
    assert {field.name for field in msgspec.structs.fields(StructuredOutputs)} == {*STRUCTURED, "json_object"}


@pytest.mark.parametrize("path", ENDPOINTS)
@pytest.mark.parametrize("asked", ASKS, ids=lambda asked: json.dumps(asked)[:60])
def test_what_the_answer_must_be_is_held(path: str, asked: dict[str, Any]) -> None:
    answer = client("Certainly!", spec=NO_REASONING).post(path, json={**ENDPOINTS[path], "temperature": 0, **asked})
    assert answer.status_code == 200, answer.text
    assert text_of(path, answer.json()) in ALLOWED
    assert "x-syntagma-ignored" not in answer.headers


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    path=st.sampled_from(sorted(ENDPOINTS)),
    first=st.sampled_from(ASKS),
    second=st.sampled_from(ASKS),
    broken=st.sampled_from(["", "(", {"type": "varchar"}, 3, [], {"type": "unheard-of"}]),
    name=st.sampled_from([*FIELDS, *STRUCTURED]),
)
def test_whatever_is_asked_is_held_or_refused(
    path: str, first: dict[str, Any], second: dict[str, Any], broken: Any, name: str
) -> None:
    """Two constraints at once, and constraints that are none."""
    served = client("Certainly!", spec=NO_REASONING)
    wrong = {name: broken} if name in FIELDS else {"structured_outputs": {name: broken}}
    for asked in ({**first, **second}, wrong):
        answer = served.post(path, json={**ENDPOINTS[path], "temperature": 0, "max_tokens": 64, **asked})
        if answer.status_code == 200:
            assert asked is not wrong or text_of(path, answer.json()) != "Certainly!"
            assert asked is wrong or text_of(path, answer.json()) in ALLOWED
        else:
            assert answer.status_code == 400
            error = answer.json()["error"]
            named = error.get("param") or error["message"]
            assert any(field in named for field in asked), error


@pytest.mark.parametrize("path", ENDPOINTS)
def test_an_unknown_type_lists_those_that_are_known(path: str) -> None:
    answer = client().post(path, json={**ENDPOINTS[path], "response_format": {"type": "xml"}})
    assert answer.status_code == 400
    message = answer.json()["error"]["message"]
    assert all(kind in message for kind in ("text", "json_object", "json_schema", "regex", "choice", "grammar"))


@pytest.mark.parametrize(
    ("path", "own"),
    [
        ("/v1/responses", {"text": {"format": {"type": "regex", "regex": "yes"}}}),
        ("/v1/messages", {"output_config": {"format": {"type": "regex", "regex": "yes"}}}),
    ],
)
def test_an_endpoint_s_own_field_and_a_shared_one_are_two(path: str, own: dict[str, Any]) -> None:
    asked = {**ENDPOINTS[path], "temperature": 0, **own}
    assert text_of(path, client("Well", spec=NO_REASONING).post(path, json=asked).json()) == "yes"
    answer = client("Well", spec=NO_REASONING).post(path, json={**asked, "guided_regex": "no"})
    assert answer.status_code == 400
    assert "guided_regex" in answer.text


FUNCTION = {"name": "f", "parameters": {"type": "varchar"}, "strict": True}


@pytest.mark.parametrize(
    ("path", "tool", "param"),
    [
        ("/v1/chat/completions", {"type": "function", "function": FUNCTION}, "tools[0].function.parameters.type"),
        ("/v1/responses", {"type": "function", **FUNCTION}, "tools[0].parameters.type"),
        (
            "/v1/messages",
            {"name": "f", "input_schema": {"type": "varchar"}, "strict": True},
            "tools[0].input_schema.type",
        ),
        ("/v1/chat/completions", {"type": "function", "function": {"name": "f", "parameters": 3}}, "tools[0]"),
        ("/v1/responses", {"type": "function", "name": "f", "parameters": []}, "tools[0].parameters"),
        ("/v1/responses", {"type": "function"}, "tools[0].name"),
        ("/v1/messages", {"name": "f", "input_schema": 3}, "tools[0].input_schema"),
        ("/v1/messages", {"input_schema": {}}, "tools[0]"),
    ],
)
def test_a_tool_that_is_none_is_refused_by_name(path: str, tool: dict[str, Any], param: str) -> None:
    answer = client().post(path, json={**ENDPOINTS[path], "tools": [tool]})
    assert answer.status_code == 400, answer.text
    error = answer.json()["error"]
    assert param in (error.get("param") or error["message"])


@pytest.mark.parametrize("path", ENDPOINTS)
def test_what_nothing_reads_is_named_at_any_depth(path: str) -> None:
    inner = {"structured_outputs": {"regex": "yes", "odd": 1}}
    answer = client().post(path, json={**ENDPOINTS[path], **inner, "unheard_of": {"a": 1}})
    assert answer.status_code == 200
    named = answer.headers["x-syntagma-ignored"].split(", ")
    assert set(named) == {"structured_outputs.odd", "unheard_of"}


def test_what_nothing_reads_of_tools_is_named() -> None:
    tool = {"type": "function", "name": "f", "parameters": {"type": "object"}, "odd": 1}
    answer = client("x").post("/v1/responses", json={**ENDPOINTS["/v1/responses"], "tools": [tool]})
    assert answer.headers["x-syntagma-ignored"] == "tools[0].odd"
    own = {"name": "f", "input_schema": {}, "odd": 1}
    answer = client("x").post("/v1/messages", json={**ENDPOINTS["/v1/messages"], "tools": [own]})
    assert answer.headers["x-syntagma-ignored"] == "tools[0].odd"


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages"])
def test_tokens_that_no_answer_of_the_shape_has_are_the_request_s_fault(path: str) -> None:
    asked = body(regex="ab", allowed_token_ids=[ord("c")], max_tokens=9)
    answer = client("ab").post(path, json=asked)
    assert answer.status_code == 400, answer.text
    assert answer.headers["x-syntagma-error"] == "E-MATCH-DEAD"
    assert "allowed_token_ids" in answer.json()["error"]["message"]
