"""`usage.extra.explained`: what the fields of an answer are made of."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.serving.support import CALL, WEATHER, body, client, stream

CITY = "/tool_calls/0/arguments/city"


def explained(script: str, **fields: Any) -> list[dict[str, Any]]:
    answer = client(script).post("/v1/chat/completions", json=body(**fields)).json()
    found: list[dict[str, Any]] = answer["usage"]["extra"]["explained"]
    return found


def test_log_probabilities_come_with_the_fields() -> None:
    (choice,) = explained(CALL, tools=[WEATHER], logprobs=True)
    fields = {field["pointer"]: field for field in choice["fields"]}
    assert fields[CITY]["tokens"] == len('"Oslo"')
    assert fields["/tool_calls/0/arguments/days"]["tokens"] == 1
    assert fields[CITY]["logprob_sum"] <= fields[CITY]["logprob_mean"] <= 0
    assert fields[CITY]["masked_max"] is None
    assert choice["bent"] == []


def test_masses_come_where_they_are_asked_for() -> None:
    script = CALL.replace("Oslo", "Bonn")
    first, second = explained(script, tools=[WEATHER], tool_choice="required", explain=True, n=2)
    assert [first["index"], second["index"]] == [0, 1]
    fields = {field["pointer"]: field for field in first["fields"]}
    assert fields[CITY]["masked_max"] > 0.9
    assert first["bent"][0]["pointer"] == CITY
    assert first["bent"][0]["preferred"] == "B"
    whole = client(script).post(
        "/v1/chat/completions", json=body(tools=[WEATHER], tool_choice="required", explain=True)
    )
    assert whole.json()["choices"][0]["logprobs"] is None


def test_streams_tell_it_with_their_usage() -> None:
    chunks = stream(CALL, tools=[WEATHER], explain=True, stream_options={"include_usage": True})
    (choice,) = chunks[-1]["usage"]["extra"]["explained"]
    whole = explained(CALL, tools=[WEATHER], explain=True)
    assert [choice] == whole
    assert sum(field["tokens"] for field in choice["fields"]) == chunks[-1]["usage"]["completion_tokens"]


def test_it_is_left_out_unless_asked_for() -> None:
    answer = client(CALL).post("/v1/chat/completions", json=body(tools=[WEATHER])).json()
    assert "explained" not in answer["usage"]["extra"]


@pytest.mark.parametrize("asked", [{"explain": True}, {"logprobs": 1}])
def test_completions_tell_it_too(asked: dict[str, Any]) -> None:
    fields = {"model": "scripted", "prompt": "x", "temperature": 0, "json_schema": {"enum": [{"a": 12}]}, **asked}
    answer = client('{"a": 12}').post("/v1/completions", content=json.dumps(fields)).json()
    (choice,) = answer["usage"]["extra"]["explained"]
    assert "/content/a" in {field["pointer"] for field in choice["fields"]}
