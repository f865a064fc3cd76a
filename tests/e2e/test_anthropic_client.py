"""Anthropic's client against a real server on the shipped model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from anthropic import Anthropic, BadRequestError, NotFoundError

from syntagma import backends
from syntagma.serving import ServedModel, Settings, create_app
from tests.serving.live import listening

TOOL: Any = {
    "name": "get_weather",
    "description": "Get the weather of a city",
    "input_schema": {
        "type": "object",
        "properties": {"city": {"type": "string", "maxLength": 20}, "unit": {"enum": ["celsius", "fahrenheit"]}},
        "required": ["city", "unit"],
        "additionalProperties": False,
    },
}
NAME = "syntagma-2m"
USER: Any = [{"role": "user", "content": "What is the weather in Lisbon?"}]


@pytest.fixture(scope="module")
def client() -> Iterator[Anthropic]:
    app = create_app(ServedModel(*backends.load("embedded")), Settings())
    with listening(app) as url, Anthropic(base_url=url.removesuffix("/v1"), api_key="none", max_retries=0) as made:
        yield made


def test_a_call_and_its_result(client: Anthropic) -> None:
    asked: Any = {"model": NAME, "max_tokens": 200, "tools": [TOOL], "tool_choice": {"type": "any"}}
    message = client.messages.create(messages=USER, **asked)
    assert message.stop_reason == "tool_use"
    call = message.content[-1]
    assert call.type == "tool_use"
    assert call.input["unit"] in ("celsius", "fahrenheit")
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, "content": "21 degrees"}]}
    answered: Any = [*USER, {"role": "assistant", "content": message.content}, result]
    again = client.messages.create(model=NAME, max_tokens=60, messages=answered, tools=[TOOL])
    assert again.stop_reason in ("end_turn", "max_tokens", "tool_use")


def test_a_stream(client: Anthropic) -> None:
    with client.messages.stream(
        model=NAME, max_tokens=200, messages=USER, tools=[TOOL], tool_choice={"type": "any"}
    ) as stream:
        kinds = {event.type for event in stream}
        message = stream.get_final_message()
    assert {"message_start", "content_block_start", "input_json", "content_block_stop", "message_stop"} <= kinds
    call = message.content[-1]
    assert call.type == "tool_use"
    assert set(call.input) == {"city", "unit"}
    assert message.usage.input_tokens > 0


def test_counting_and_errors(client: Anthropic) -> None:
    count = client.messages.count_tokens(model=NAME, messages=USER).input_tokens
    assert client.messages.create(model=NAME, max_tokens=3, messages=USER).usage.input_tokens == count
    with pytest.raises(NotFoundError):
        client.messages.create(model="another", max_tokens=3, messages=USER)
    with pytest.raises(BadRequestError, match="max_tokens"):
        client.messages.create(model=NAME, max_tokens=0, messages=USER)
