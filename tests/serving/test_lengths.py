"""Answers and prompts that are too long, as clients are told of them."""

from __future__ import annotations

import pytest

from syntagma.serving import Settings
from tests.serving.support import WEATHER, body, client

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
LONG = '{"a": "' + "x" * 100


@pytest.mark.parametrize(("on_length", "reason"), [("length", "length"), ("stop", "stop")])
def test_an_answer_that_is_brought_to_its_end_says_so(on_length: str, reason: str) -> None:
    served = client(LONG, settings=Settings(on_length=on_length))  # type: ignore[arg-type]
    answer = served.post("/v1/chat/completions", json=body(json_schema=SCHEMA, max_tokens=20)).json()
    assert answer["choices"][0]["message"]["content"].endswith('"}')
    assert answer["choices"][0]["finish_reason"] == reason
    assert answer["usage"]["extra"]["completed"] == 1
    cut = served.post("/v1/chat/completions", json=body(max_tokens=20)).json()
    assert cut["choices"][0]["finish_reason"] == "length"
    assert "completed" not in cut["usage"]["extra"]
    message = served.post(
        "/v1/messages",
        json={
            "max_tokens": 20,
            "messages": body()["messages"],
            "temperature": 0,
            "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
        },
    ).json()
    assert message["stop_reason"] == ("max_tokens" if reason == "length" else "end_turn")


def test_a_call_that_is_brought_to_its_end_is_a_call() -> None:
    served = client('<call>{"name": "weather", "arguments": {' + " " * 300, settings=Settings(on_length="stop"))
    asked = body(tools=[WEATHER], tool_choice="required", max_tokens=70)
    choice = served.post("/v1/chat/completions", json=asked).json()["choices"][0]
    assert choice["message"]["tool_calls"]
    assert choice["finish_reason"] == "tool_calls"


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/completions", "/v1/responses", "/v1/messages"])
@pytest.mark.parametrize("text", ["a" * 100, "a" * 5000])
def test_a_prompt_that_is_too_long_is_said_in_the_words_that_clients_know(path: str, text: str) -> None:
    conversation = [{"role": "user", "content": text}]
    asked = {"prompt": text} if path == "/v1/completions" else {"messages": conversation, "max_tokens": 5}
    if path == "/v1/responses":
        asked = {"input": text}
    answer = client(context_length=64).post(path, json=asked)
    assert answer.status_code == 400
    error = answer.json()["error"]
    # Anthropic's clients and LangChain look for the first, litellm and OpenAI's for the second.
    assert "prompt is too long" in error["message"]
    assert "this model's maximum context length is 64 tokens" in error["message"]
    if "messages" not in path:
        assert error["code"] == "context_length_exceeded"
    else:
        assert error["type"] == "invalid_request_error"
