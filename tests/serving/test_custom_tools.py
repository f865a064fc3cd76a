"""Custom tools and the older `functions`: how calls come in and go out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from syntagma.conversion.custom_calls import InputText
from tests.serving.support import CALL, WEATHER, body, client, stream

GRAMMAR = {"type": "grammar", "syntax": "lark", "definition": 'start: "SELECT \\"" /[a-zü]+/ "\\"\\n"'}
FLAT = {"type": "custom", "name": "sql", "description": "Asks.", "format": GRAMMAR}
NESTED = {
    "type": "custom",
    "custom": {
        "name": "sql",
        "format": {"type": "grammar", "grammar": {key: GRAMMAR[key] for key in ("syntax", "definition")}},
    },
}
TEXT = 'SELECT "ü"\n'
WRITTEN = '<call>{"name": "sql", "arguments": {"input": "SELECT \\"ü\\"\\n"}}</call>'
OTHER = '<call>{"name": "sql", "arguments": {"input": "DROP"}}</call>'


def test_a_chat_calls_a_custom_tool() -> None:
    fields = {"tools": [WEATHER, NESTED], "tool_choice": {"type": "custom", "custom": {"name": "sql"}}}
    answer = client(WRITTEN).post("/v1/chat/completions", json=body(**fields))
    choice = answer.json()["choices"][0]
    (call,) = choice["message"]["tool_calls"]
    assert (call["type"], call["custom"]) == ("custom", {"name": "sql", "input": TEXT})
    assert choice["finish_reason"] == "tool_calls"
    parts = [part for chunk in stream(WRITTEN, **fields) for part in chunk["choices"][0]["delta"].get("tool_calls", [])]
    assert (parts[0]["type"], parts[0]["custom"]) == ("custom", {"name": "sql", "input": ""})
    assert "".join(part["custom"]["input"] for part in parts) == TEXT
    assert all("function" not in part for part in parts)


@pytest.mark.parametrize("choice", ["auto", "required"])
def test_what_the_model_would_rather_write_is_held(choice: str) -> None:
    answer = client(OTHER).post("/v1/chat/completions", json=body(tools=[NESTED], tool_choice=choice))
    for call in answer.json()["choices"][0]["message"].get("tool_calls", []):
        assert call["custom"]["input"].startswith('SELECT "')


def test_calls_of_custom_tools_come_back_in_the_conversation() -> None:
    call = {"id": "c1", "type": "custom", "custom": {"name": "sql", "input": TEXT}}
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "3 rows"},
    ]
    answer = client("done").post("/apply-template", json=body(messages=messages, tools=[NESTED]))
    assert answer.status_code == 200, answer.text
    assert WRITTEN in answer.json()["prompt"]
    call["custom"] = {"name": "sql"}
    refused = client("done").post("/v1/chat/completions", json=body(messages=messages))
    assert refused.json()["error"]["param"] == "messages[1].tool_calls[0].custom.input"


def test_a_response_calls_a_custom_tool() -> None:
    served = client(WRITTEN)
    asked: dict[str, Any] = {"input": "hi", "tools": [FLAT], "tool_choice": {"type": "custom", "name": "sql"}}
    answer = served.post("/v1/responses", json=asked).json()
    (item,) = answer["output"]
    assert (item["type"], item["name"], item["input"]) == ("custom_tool_call", "sql", TEXT)
    events = _events(served, {**asked, "stream": True})
    deltas = [event["delta"] for event in events if event["type"] == "response.custom_tool_call_input.delta"]
    assert "".join(deltas) == TEXT
    assert next(event for event in events if event["type"].endswith("input.done"))["input"] == TEXT
    assert not any("function_call" in event["type"] for event in events)
    output = {"type": "custom_tool_call_output", "call_id": item["call_id"], "output": "3 rows"}
    for given in (
        {"input": [output], "previous_response_id": answer["id"]},
        {"input": [{"type": "message", "role": "user", "content": "hi"}, item, output]},
    ):
        assert served.post("/v1/responses", json={**given, "tools": [FLAT]}).status_code == 200


def _events(served: TestClient, asked: dict[str, Any]) -> list[dict[str, Any]]:
    lines = served.post("/v1/responses", json=asked).text.splitlines()
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


@pytest.mark.parametrize(
    ("path", "tool", "param"),
    [
        ("/v1/chat/completions", NESTED, "tools[0].custom.format.grammar.definition"),
        ("/v1/responses", FLAT, "tools[0].format.definition"),
    ],
)
def test_an_error_in_the_grammar_names_its_field(path: str, tool: dict[str, Any], param: str) -> None:
    broken = json.loads(json.dumps(tool).replace("start: ", "start: missing "))
    asked = body(tools=[broken]) if "chat" in path else {"input": "hi", "tools": [broken]}
    answer = client("").post(path, json=asked)
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == param


@pytest.mark.parametrize("cut", range(1, 4))
def test_the_text_is_the_same_however_its_json_is_cut(cut: int) -> None:
    text = 'a"\\\n\U0001f600é\ud83d end'
    arguments = ' { "input" : ' + json.dumps(text) + " } "
    reader = InputText()
    read = "".join(reader.feed(arguments[at : at + cut]) for at in range(0, len(arguments), cut))
    assert read == text.replace("\ud83d", "\ufffd")
    assert InputText().feed('{"other": 1}') == ""


def test_functions_and_function_call_are_tools_of_old() -> None:
    fields = {"functions": [WEATHER["function"]], "function_call": {"name": "weather"}}
    choice = client(CALL).post("/v1/chat/completions", json=body(**fields)).json()["choices"][0]
    assert choice["finish_reason"] == "function_call"
    assert choice["message"]["function_call"] == {"name": "weather", "arguments": '{"city": "Oslo", "days": 2}'}
    assert "tool_calls" not in choice["message"]
    chunks = stream(CALL, **fields)
    parts = [part for chunk in chunks if (part := chunk["choices"][0]["delta"].get("function_call"))]
    assert parts[0] == {"name": "weather", "arguments": ""}
    assert "".join(part["arguments"] for part in parts) == '{"city": "Oslo", "days": 2}'
    assert chunks[-1]["choices"][0]["finish_reason"] == "function_call"


def test_a_conversation_with_functions_is_rendered_as_one_with_tools() -> None:
    call = {"name": "weather", "arguments": '{"city": "Oslo"}'}
    old = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "function_call": call},
        {"role": "function", "name": "weather", "content": "rain"},
    ]
    new = [
        old[0],
        {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "type": "function", "function": call}]},
        {"role": "tool", "tool_call_id": "a", "content": "rain"},
    ]
    prompts = [client("").post("/apply-template", json=body(messages=one)).json()["prompt"] for one in (old, new)]
    assert prompts[0] == prompts[1]


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"functions": [{}]}, "functions[0].name"),
        ({"functions": [WEATHER["function"]], "function_call": "required"}, "function_call"),
        ({"functions": [WEATHER["function"]], "function_call": {"name": "x"}}, "function_call.name"),
        ({"functions": [], "tools": []}, "functions"),
        (
            {"functions": [{"name": "f", "parameters": {"type": "varchar"}}], "function_call": {"name": "f"}},
            "functions[0].parameters.type",
        ),
    ],
)
def test_what_is_wrong_with_functions_is_named(fields: dict[str, Any], param: str) -> None:
    answer = client("").post("/v1/chat/completions", json=body(**fields))
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == param
