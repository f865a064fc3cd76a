"""What Open Responses asks of every implementation of `/v1/responses`, in cases of our own.

Its published cases are a text, a stream, a system prompt, a call of a tool, whole and streamed, the result of a call,
several turns, an answer that goes on from a stored one, an image and a file. The model here reads text only, so that
the last two are refused. See https://www.openresponses.org.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.serving.support import client
from tests.serving.test_responses import CALL, URL, WEATHER, body, events

# The members that the specification requires of a response, whatever was asked.
MEMBERS = frozenset(
    [
        "id",
        "object",
        "created_at",
        "completed_at",
        "status",
        "incomplete_details",
        "model",
        "previous_response_id",
        "instructions",
        "output",
        "error",
        "tools",
        "tool_choice",
        "truncation",
        "parallel_tool_calls",
        "text",
        "top_p",
        "presence_penalty",
        "frequency_penalty",
        "top_logprobs",
        "temperature",
        "reasoning",
        "usage",
        "max_output_tokens",
        "max_tool_calls",
        "store",
        "background",
        "service_tier",
        "metadata",
        "safety_identifier",
        "prompt_cache_key",
    ]
)
ITEM = {
    "message": {"type", "id", "status", "role", "content"},
    "function_call": {"type", "id", "call_id", "name", "arguments", "status"},
    "reasoning": {"type", "id", "summary"},
}


def checked(response: dict[str, Any], *, status: str = "completed") -> dict[str, Any]:
    """A response that has what every response must have."""
    assert set(response) >= MEMBERS, MEMBERS - set(response)
    assert (response["object"], response["status"], response["error"]) == ("response", status, None)
    assert response["completed_at"] >= response["created_at"] > 0
    for item in response["output"]:
        assert set(item) >= ITEM[item["type"]], item
    for tool in response["tools"]:
        assert set(tool) >= {"type", "name", "description", "parameters", "strict"}
    usage = response["usage"]
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]
    assert usage["input_tokens_details"]["cached_tokens"] >= 0
    assert usage["output_tokens_details"]["reasoning_tokens"] >= 0
    return response


def ask(script: Any, **fields: Any) -> dict[str, Any]:
    answer = client(script).post(URL, json=body(**fields))
    assert answer.status_code == 200, answer.text
    return checked(answer.json())


def text_of(response: dict[str, Any]) -> str:
    (item,) = response["output"]
    (part,) = item["content"]
    assert part["type"] == "output_text"
    return str(part["text"])


def prompt_of(**fields: Any) -> str:
    """The prompt of a request, which this model says again."""
    return text_of(ask(lambda prompt: prompt.translate({ord("<"): "[", ord(">"): "]"}), **fields))


def test_a_text() -> None:
    assert text_of(ask("Three words here.", input=[{"type": "message", "role": "user", "content": "Say it."}]))


@pytest.mark.parametrize("script", ["Hello there.", "<note>well</note>Hello." + CALL])
def test_a_stream(script: str) -> None:
    found = events(script, tools=[WEATHER])
    kinds = [event.type for event in found]
    assert kinds[:2] == ["response.created", "response.in_progress"]
    assert kinds[-1] == "response.completed"
    assert kinds.count("response.output_item.added") == kinds.count("response.output_item.done")
    last = checked(found[-1].response.to_dict())
    added = [event.item.id for event in found if event.type == "response.output_item.added"]
    assert added == [item["id"] for item in last["output"]]
    for index, item in enumerate(last["output"]):
        deltas = [event.delta for event in found if hasattr(event, "delta") and event.output_index == index]
        parts = item.get("content") or [{"text": item.get("arguments")}]
        assert "".join(deltas) == parts[0]["text"]


@pytest.mark.parametrize("role", ["system", "developer"])
def test_a_system_prompt(role: str) -> None:
    told = prompt_of(input=[{"role": role, "content": "Talk as a pirate."}, {"role": "user", "content": "Hi."}])
    assert "Talk as a pirate." in told
    assert told.index("pirate") < told.index("Hi.")


def test_a_call() -> None:
    response = ask(CALL, tools=[WEATHER], input="How is it in Lima?")
    (call,) = response["output"]
    assert (call["type"], call["name"]) == ("function_call", "weather")
    assert json.loads(call["arguments"]) == {"city": "Lima"}
    assert call["call_id"]


def test_a_streamed_call() -> None:
    found = events(CALL, tools=[WEATHER])
    done = [event for event in found if event.type == "response.function_call_arguments.done"]
    assert [json.loads(event.arguments) for event in done] == [{"city": "Lima"}]


def test_the_result_of_a_call_is_read() -> None:
    (call,) = ask(CALL, tools=[WEATHER], input="How is it in Lima?")["output"]
    result = {"type": "function_call_output", "call_id": call["call_id"], "output": "drizzle"}
    told = prompt_of(tools=[WEATHER], input=[{"role": "user", "content": "How is it in Lima?"}, call, result])
    assert told.index('"weather"') < told.index("drizzle")


def test_several_turns() -> None:
    turns = [("user", "I am Ada."), ("assistant", "Hello, Ada."), ("user", "Who am I?")]
    told = prompt_of(input=[{"type": "message", "role": role, "content": text} for role, text in turns])
    places = [told.index(text) for _, text in turns]
    assert places == sorted(places)


def test_an_answer_that_goes_on_from_a_stored_one() -> None:
    app = client("Noted.")
    first = checked(app.post(URL, json=body(input="I am Ada.")).json())
    second = checked(app.post(URL, json=body(input="Who am I?", previous_response_id=first["id"])).json())
    assert second["previous_response_id"] == first["id"]
    assert second["usage"]["input_tokens"] > first["usage"]["input_tokens"]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="},
        {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="},
    ],
)
def test_what_is_no_text_is_refused_by_name(part: dict[str, Any]) -> None:
    content = [{"type": "input_text", "text": "What is this?"}, part]
    answer = client("hello").post(URL, json=body(input=[{"role": "user", "content": content}]))
    error = answer.json()["error"]
    assert (answer.status_code, error["param"]) == (400, "input[0].content[1].type")
    assert part["type"] in error["message"]


def test_a_cut_answer_says_why() -> None:
    answer = client("A long answer.").post(URL, json=body(max_output_tokens=3))
    response = answer.json()
    assert set(response) >= MEMBERS
    assert (response["status"], response["incomplete_details"]) == ("incomplete", {"reason": "max_output_tokens"})
