"""What an engine would be asked for, answers made of its tokens, and texts that are read."""

from __future__ import annotations

from typing import Any

import pytest

from tests.serving.support import CALL, WEATHER, body, client

RENDER, DERENDER = "/v1/chat/completions/render", "/v1/chat/completions/derender"


def test_a_chat_is_rendered_to_tokens_and_parameters() -> None:
    served = client()
    asked = body(tools=[WEATHER], tool_choice="required", max_tokens=7, stop=["x"], bad_words=["y"], stream=True)
    made = served.post(RENDER, json=asked).json()
    assert made["prompt"] == served.post("/apply-template", json=asked).json()["prompt"]
    assert made["token_ids"] == served.post("/tokenize", json=asked).json()["tokens"]
    parameters = made["sampling_params"]
    assert (parameters["max_tokens"], parameters["bad_words"], made["stream"]) == (7, ["y"], True)
    assert "x" in parameters["stop"]
    assert "weather" in str(parameters["structured_outputs"])
    assert "prompt" not in parameters


def test_a_constraint_that_no_engine_takes_is_refused() -> None:
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "y"}]
    answer = client().post(RENDER, json=body(messages=messages, continue_final_message=True, regex="yes"))
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "regex"


def ids(text: str) -> list[int]:
    tokens: list[int] = client().post("/tokenize", json={"prompt": text}).json()["tokens"]
    return tokens


def test_tokens_are_read_as_the_answer_to_their_request() -> None:
    choices = [
        {"token_ids": ids(f"<note>so</note>{CALL}<end>"), "index": 0, "finish_reason": "stop"},
        {"token_ids": ids("cut"), "index": 1, "finish_reason": "length"},
    ]
    asked = {
        "generate_response": {"request_id": "r1", "choices": choices},
        "prompt_tokens": 12,
        "chat_request": body(tools=[WEATHER]),
    }
    answer = client().post(DERENDER, json=asked).json()
    assert answer["id"] == "r1"
    first, second = answer["choices"]
    assert first["message"]["reasoning_content"] == "so"
    assert first["message"]["tool_calls"][0]["function"]["name"] == "weather"
    assert (first["finish_reason"], second["finish_reason"]) == ("tool_calls", "length")
    assert second["message"]["content"] == "cut"
    assert answer["usage"]["prompt_tokens"] == 12
    assert answer["usage"]["completion_tokens"] == sum(len(choice["token_ids"]) for choice in choices)  # type: ignore[arg-type]
    del asked["chat_request"]
    plain = client().post(DERENDER, json=asked).json()["choices"][0]["message"]
    assert plain["content"] == CALL


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"stream": True}, "stream"),
        ({"generate_response": {"choices": []}}, "generate_response.choices"),
        ({"generate_response": {"choices": [{"token_ids": []}]}}, "generate_response.choices[0].token_ids"),
        ({"generate_response": {"choices": [{"token_ids": [1, -1]}]}}, "generate_response.choices[0].token_ids[1]"),
    ],
)
def test_what_is_wrong_with_tokens_is_named(change: dict[str, Any], param: str) -> None:
    answer = client().post(DERENDER, json={"generate_response": {"choices": [{"token_ids": [65]}]}, **change})
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == param


def test_calls_of_a_text_are_found() -> None:
    text = f"<note>hm</note>Look: {CALL}"
    found = client().post("/parse_function_call", json={"text": text, "tools": [WEATHER]}).json()
    assert found["normal_text"].startswith("<note>hm</note>Look:")
    assert found["calls"] == [
        {"tool_index": 0, "name": "weather", "parameters": '{"city": "Oslo", "days": 2}'},
    ]
    written = '<tool_call>\n{"name": "other", "arguments": {}}\n</tool_call>'
    other = client().post("/parse_function_call", json={"text": written, "tool_call_parser": "qwen25"}).json()
    assert other["calls"] == [{"tool_index": -1, "name": "other", "parameters": "{}"}]


def test_reasoning_of_a_text_is_separated() -> None:
    found = client().post("/separate_reasoning", json={"text": f"<note>hm</note>so {CALL}"}).json()
    assert found == {"reasoning_text": "hm", "text": f"so {CALL}"}
    refused = client().post("/separate_reasoning", json={"text": "", "reasoning_parser": "unheard-of"})
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "reasoning_parser")
