"""`/v1/responses`: OpenAI's responses over the same requests and events."""

from __future__ import annotations

import json
from typing import Any

import pytest
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter
from starlette.testclient import TestClient

from syntagma.serving import Settings, create_app
from syntagma.testing import ScriptedBackend
from tests.serving.support import client, model

URL = "/v1/responses"
WEATHER = {
    "type": "function",
    "name": "weather",
    "parameters": {
        "type": "object",
        "properties": {"city": {"enum": ["Oslo", "Lima"]}},
        "required": ["city"],
        "additionalProperties": False,
    },
    "strict": True,
}
CALL = '<call>{"name": "weather", "arguments": {"city": "Lima"}}</call>'
SCRIPT = "<note>well</note>Let me see." + CALL + CALL


def body(**fields: Any) -> dict[str, Any]:
    return {"model": "scripted", "input": "hi", "temperature": 0, **fields}


def ask(script: str, **fields: Any) -> Response:
    answer = client(script).post(URL, json=body(**fields))
    assert answer.status_code == 200, answer.text
    return Response.model_validate_json(answer.content, strict=True)


def events(script: str, **fields: Any) -> list[Any]:
    """The events of a streamed answer, as the client's own types read them."""
    answer = client(script).post(URL, json=body(stream=True, **fields))
    assert answer.status_code == 200, answer.text
    read: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
    found = []
    for event in answer.text.split("\n\n")[:-1]:
        name, data = event.split("\n")
        found.append(read.validate_json(data.removeprefix("data: ")))
        assert name == f"event: {found[-1].type}"
    assert [event.sequence_number for event in found] == list(range(len(found)))
    return found


def shown(response: Response) -> list[tuple[str, str]]:
    """The kind of each item, and its text or arguments."""
    found = []
    for item in response.output:
        data = item.to_dict()
        content: Any = data.get("content")
        found.append((str(data["type"]), content[0]["text"] if content else str(data.get("arguments"))))
    return found


def test_items_come_in_the_order_in_which_they_are_written() -> None:
    response = ask(SCRIPT, tools=[WEATHER])
    assert shown(response) == [
        ("reasoning", "well"),
        ("message", "Let me see."),
        ("function_call", '{"city": "Lima"}'),
        ("function_call", '{"city": "Lima"}'),
    ]
    assert response.status == "completed"
    assert response.usage is not None
    assert response.usage.total_tokens == response.usage.input_tokens + response.usage.output_tokens
    assert response.usage.output_tokens_details.reasoning_tokens == len("well")
    assert len({item.id for item in response.output}) == 4


def test_a_stream_adds_up_to_the_whole() -> None:
    found = events(SCRIPT, tools=[WEATHER])
    whole = ask(SCRIPT, tools=[WEATHER])
    kinds = [event.type for event in found]
    assert kinds[:2] == ["response.created", "response.in_progress"]
    assert kinds[-1] == "response.completed"
    last = found[-1].response
    assert shown(last) == shown(whole)
    assert last.usage == whole.usage
    texts: dict[int, str] = {}
    for event in found:
        if event.type.endswith(".delta"):
            texts[event.output_index] = texts.get(event.output_index, "") + event.delta
        if event.type == "response.output_item.done":
            assert event.item == last.output[event.output_index]
            assert texts[event.output_index] == shown(last)[event.output_index][1]
    assert kinds.count("response.output_item.added") == kinds.count("response.output_item.done") == 4
    assert found[0].response.output == []


def test_a_cut_answer_is_incomplete() -> None:
    response = ask("hello", max_output_tokens=3)
    assert response.status == "incomplete"
    assert response.incomplete_details is not None
    assert response.incomplete_details.reason == "max_output_tokens"
    assert events("hello", max_output_tokens=3)[-1].type == "response.incomplete"


def test_a_conversation_goes_on_from_a_stored_answer() -> None:
    served = model(SCRIPT)
    app = TestClient(create_app(served))
    first = app.post(URL, json=body(tools=[WEATHER], instructions="be kind")).json()
    assert app.get(f"{URL}/{first['id']}").json() == first
    outputs = [
        {"type": "function_call_output", "call_id": item["call_id"], "output": "rain"}
        for item in first["output"]
        if item["type"] == "function_call"
    ]
    second = app.post(URL, json=body(tools=[WEATHER], previous_response_id=first["id"], input=outputs)).json()
    assert second["previous_response_id"] == first["id"]
    assert isinstance(served.engine, ScriptedBackend)
    by_store = served.engine.prompts[-1]
    # The same conversation, sent in full.
    items = [{"role": "user", "content": "hi"}, *first["output"], *outputs]
    assert app.post(URL, json=body(tools=[WEATHER], input=items)).status_code == 200
    assert served.engine.prompts[-1] == by_store
    assert "be kind" not in by_store
    assert "<assistant>Let me see.<call>" in by_store
    assert app.delete(f"{URL}/{first['id']}").json()["deleted"] is True
    for answer in (
        app.get(f"{URL}/{first['id']}"),
        app.delete(f"{URL}/{first['id']}"),
        app.post(URL, json=body(previous_response_id=first["id"])),
    ):
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "E-REQUEST-RESPONSE")


def test_the_store_is_bounded() -> None:
    app = client("hello", settings=Settings(stored_bytes=6000))
    ids = [app.post(URL, json=body()).json()["id"] for _ in range(20)]
    kept = [app.get(f"{URL}/{one}").status_code == 200 for one in ids]
    assert 0 < sum(kept) < 20
    assert kept == sorted(kept)
    unkept = app.post(URL, json=body(store=False)).json()["id"]
    assert app.get(f"{URL}/{unkept}").status_code == 404


def test_answers_are_held_to_a_schema() -> None:
    shape = {"type": "json_schema", "name": "answer", "schema": {"enum": ["yes", "no"]}, "strict": True}
    response = ask("hello", text={"format": shape})
    assert json.loads(response.output_text) in ("yes", "no")


@pytest.mark.parametrize(
    ("choice", "kind"),
    [
        ("required", "function_call"),
        ({"type": "function", "name": "weather"}, "function_call"),
        (
            {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "weather"}]},
            "function_call",
        ),
        ("none", "message"),
    ],
)
def test_tool_choices(choice: Any, kind: str) -> None:
    assert ask("hello", tools=[WEATHER], tool_choice=choice).output[0].type == kind


def test_log_probabilities() -> None:
    response = ask("hello", top_logprobs=2)
    part = response.output[0].to_dict()["content"][0]  # type: ignore[index]
    assert [one["token"] for one in part["logprobs"]] == list("hello")  # type: ignore[index]
    assert all(len(one["top_logprobs"]) == 2 for one in part["logprobs"])  # type: ignore[index]


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"input": []}, "input"),
        ({"input": [{"type": "web_search_call"}]}, "input"),
        ({"input": [{"type": "compaction", "encrypted_content": "x"}]}, "input[0].type"),
        ({"input": [{"role": "robot", "content": "x"}]}, "input[0].role"),
        ({"input": [{"role": "user", "content": [{"type": "input_image"}]}]}, "input[0].content[0].type"),
        ({"input": [{"type": "function_call_output", "output": "x"}]}, "input[0].call_id"),
        ({"input": [{"type": "function_call", "call_id": "1", "name": "x"}]}, "input[0].arguments"),
        ({"tools": [{"type": "web_search"}], "tool_choice": "required"}, "tool_choice"),
        ({"tools": [{"type": "web_search"}], "tool_choice": {"type": "web_search"}}, "tool_choice.type"),
        ({"tool_choice": {"type": "mcp"}}, "tool_choice.type"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"text": {"format": {"type": "json_schema"}}}, "text.format.schema"),
        ({"max_output_tokens": 0}, "max_output_tokens"),
        ({"top_logprobs": 21}, "top_logprobs"),
        ({"background": True}, "background"),
        ({"conversation": "x"}, "conversation"),
        ({"truncation": "auto"}, "truncation"),
        ({"temperature": 9}, "temperature"),
    ],
)
@pytest.mark.parametrize("streams", [False, True])
def test_what_is_wrong_is_named(fields: dict[str, Any], param: str, streams: bool) -> None:
    answer = client("hello").post(URL, json=body(stream=streams, **fields))
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["param"] == param
