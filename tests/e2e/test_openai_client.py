"""The official client against a real server on the shipped model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import openai
import pytest
from openai import OpenAI
from pydantic import BaseModel

from syntagma import backends
from syntagma.serving import ServedModel, Settings, create_app
from tests.serving.live import listening

USER = [{"role": "user", "content": "What is the weather in Lisbon?"}]
WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the weather of a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "maxLength": 20}, "unit": {"enum": ["celsius", "fahrenheit"]}},
            "required": ["city", "unit"],
            "additionalProperties": False,
        },
    },
}
ALARM: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "set_alarm",
        "parameters": {
            "type": "object",
            "properties": {"hour": {"type": "integer", "minimum": 0, "maximum": 23}},
            "required": ["hour"],
            "additionalProperties": False,
        },
    },
}
PARAMETERS = {tool["function"]["name"]: tool["function"]["parameters"] for tool in (WEATHER, ALARM)}


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    app = create_app(ServedModel(*backends.load("embedded")), Settings(max_tokens=200))
    with listening(app) as url:
        yield url


@pytest.fixture(scope="module")
def client(base_url: str) -> Iterator[OpenAI]:
    with OpenAI(base_url=base_url, api_key="none", max_retries=0, timeout=120) as made:
        yield made


@pytest.fixture(scope="module")
def model(client: OpenAI) -> str:
    (card,) = client.models.list().data
    assert client.models.retrieve(card.id).id == card.id
    return card.id


def test_chat(client: OpenAI, model: str) -> None:
    answer = client.chat.completions.create(model=model, messages=USER, temperature=0, max_tokens=40)  # type: ignore[arg-type]
    assert answer.choices[0].message.role == "assistant"
    assert answer.choices[0].finish_reason in ("stop", "length")
    assert answer.usage is not None
    assert answer.usage.completion_tokens > 0


def test_a_stream_says_what_the_whole_says(client: OpenAI, model: str) -> None:
    asked: dict[str, Any] = {"model": model, "messages": USER, "temperature": 0.8, "seed": 5, "max_tokens": 40}
    whole = client.chat.completions.create(**asked)
    chunks = list(client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True}))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == whole.choices[0].message.content
    assert chunks[-1].choices == []
    assert chunks[-1].usage is not None
    assert whole.usage is not None
    assert chunks[-1].usage.completion_tokens == whole.usage.completion_tokens


def check_calls(calls: Any, names: set[str]) -> None:
    assert calls
    for call in calls:
        assert call.function.name in names
        jsonschema.validate(json.loads(call.function.arguments), PARAMETERS[call.function.name])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("choice", "names"),
    [
        ("required", {"get_weather", "set_alarm"}),
        ({"type": "function", "function": {"name": "set_alarm"}}, {"set_alarm"}),
    ],
)
def test_a_demanded_call_comes_and_is_valid(
    client: OpenAI, model: str, choice: Any, names: set[str], seed: int
) -> None:
    asked: dict[str, Any] = {
        "model": model,
        "messages": USER,
        "tools": [WEATHER, ALARM],
        "tool_choice": choice,
        "parallel_tool_calls": False,
        "seed": seed,
    }
    answer = client.chat.completions.create(**asked)
    assert answer.choices[0].finish_reason == "tool_calls"
    check_calls(answer.choices[0].message.tool_calls, names)
    with client.chat.completions.stream(**asked) as stream:
        final = stream.get_final_completion()
    check_calls(final.choices[0].message.tool_calls, names)
    made, streamed = answer.choices[0].message.tool_calls, final.choices[0].message.tool_calls
    assert made is not None
    assert streamed is not None
    assert [call.function.arguments for call in made] == [call.function.arguments for call in streamed]  # type: ignore[union-attr]


@pytest.mark.parametrize("seed", range(4))
def test_auto_answers_or_makes_valid_calls(client: OpenAI, model: str, seed: int) -> None:
    answer = client.chat.completions.create(
        model=model,
        messages=USER,
        tools=[WEATHER, ALARM],
        tool_choice="auto",
        seed=seed,  # type: ignore[arg-type, list-item]
    )
    choice = answer.choices[0]
    if choice.finish_reason == "tool_calls":
        check_calls(choice.message.tool_calls, set(PARAMETERS))
    else:
        assert isinstance(choice.message.content, str)


class Crew(BaseModel):
    rank: int
    active: bool
    team: str


def test_json_by_schema(client: OpenAI, model: str) -> None:
    schema = {
        "type": "object",
        "properties": {
            "rank": {"type": "integer", "minimum": 1, "maximum": 9},
            "active": {"type": "boolean"},
            "team": {"enum": ["blue", "green"]},
        },
        "required": ["rank", "active", "team"],
        "additionalProperties": False,
    }
    for seed in range(4):
        answer = client.chat.completions.create(
            model=model,
            messages=[{"role": "user", "content": "Describe a crew member."}],
            response_format={"type": "json_schema", "json_schema": {"name": "crew", "schema": schema, "strict": True}},
            seed=seed,
        )
        assert answer.choices[0].finish_reason == "stop"
        text = answer.choices[0].message.content
        assert text is not None
        jsonschema.validate(json.loads(text), schema)
        assert Crew.model_validate_json(text).team in ("blue", "green")
        assert answer.usage is not None
        extra = answer.usage.extra  # type: ignore[attr-defined]
        assert extra["grammar_init_s"] > 0
        assert extra["grammar_per_token_s"] > 0


def test_the_client_closes_a_stream_and_the_server_goes_on(client: OpenAI, model: str) -> None:
    for _ in range(3):
        with client.chat.completions.create(model=model, messages=USER, stream=True) as stream:  # type: ignore[arg-type]
            next(iter(stream))
    assert client.models.list().data


def test_errors_become_the_clients_exceptions(client: OpenAI, model: str) -> None:
    with pytest.raises(openai.BadRequestError) as wrong:
        client.chat.completions.create(model=model, messages=USER, temperature=9)  # type: ignore[arg-type]
    assert wrong.value.param == "temperature"
    with pytest.raises(openai.NotFoundError) as unknown:
        client.chat.completions.create(model="other", messages=USER)  # type: ignore[arg-type]
    assert unknown.value.code == "model_not_found"
    with pytest.raises(openai.BadRequestError) as long:
        client.chat.completions.create(model=model, messages=[{"role": "user", "content": "word " * 5000}])
    assert long.value.code == "context_length_exceeded"


def test_responses_and_their_stream(client: OpenAI) -> None:
    function = WEATHER["function"]
    tool: Any = {"type": "function", "strict": True, **function}
    asked: Any = {"model": "syntagma-2m", "tools": [tool], "tool_choice": "required", "max_output_tokens": 200}
    first = client.responses.create(input="What is the weather in Lisbon?", **asked)
    call = first.output[-1]
    assert call.type == "function_call"
    jsonschema.validate(json.loads(call.arguments), PARAMETERS[call.name])
    result: Any = [{"type": "function_call_output", "call_id": call.call_id, "output": "21 degrees"}]
    again = client.responses.create(
        model="syntagma-2m", input=result, previous_response_id=first.id, tools=[tool], max_output_tokens=60
    )
    assert again.previous_response_id == first.id
    with client.responses.stream(input="What is the weather in Lisbon?", **asked) as stream:
        kinds = {event.type for event in stream}
        final = stream.get_final_response()
    assert {"response.created", "response.function_call_arguments.delta", "response.completed"} <= kinds
    assert final.output[-1].type == "function_call"
    assert client.responses.retrieve(final.id).id == final.id
    client.responses.delete(final.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(final.id)
