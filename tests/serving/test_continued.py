"""`continue_final_message` with a constraint, and Anthropic's prefilled answers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.serving.support import CALL, WEATHER, body, client, joined, stream

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}


def messages(prefix: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": "hi"}, {"role": "assistant", "content": prefix}]


@pytest.mark.parametrize(
    ("fields", "prefix", "rest"),
    [
        ({"json_schema": SCHEMA}, '{"a"', ": 12}"),
        ({"structured_outputs": {"choice": ["yes", "no"]}}, "y", "es"),
        ({"regex": "[0-9]{2}"}, "12", ""),
        ({"regex": "[0-9]{2}"}, "<note>which?</note>1", "2"),
    ],
)
def test_an_answer_with_a_shape_goes_on(fields: dict[str, Any], prefix: str, rest: str) -> None:
    answer = client(rest).post(
        "/v1/chat/completions", json=body(messages=messages(prefix), continue_final_message=True, **fields)
    )
    assert answer.status_code == 200, answer.text
    assert answer.json()["choices"][0]["message"]["content"] == rest


@pytest.mark.parametrize("streamed", [False, True])
def test_a_prefix_that_nothing_begins_with_is_refused_with_its_place(streamed: bool) -> None:
    asked = body(messages=messages('{"b"'), continue_final_message=True, json_schema=SCHEMA, stream=streamed)
    answer = client("").post("/v1/chat/completions", json=asked)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert (error["param"], error["code"]) == ("messages[1].content", "E-REQUEST-PREFIX")
    assert "character 2" in error["message"]


def test_a_call_that_the_message_begins_comes_whole() -> None:
    cut = len(CALL) - 20
    fields = {"continue_final_message": True, "tools": [WEATHER], "tool_choice": "required"}
    message = joined(stream(CALL[cut:], messages=messages(CALL[:cut]), **fields))
    assert message["tool_calls"][0]["arguments"] == '{"city": "Oslo", "days": 2}'


def test_prefilled_answers_of_anthropic_s_are_held_too() -> None:
    asked = {
        "model": "scripted",
        "max_tokens": 50,
        "messages": messages('{"a"'),
        "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
    }
    answer = client(": 3}").post("/v1/messages", json=asked)
    assert answer.json()["content"] == [{"type": "text", "text": ": 3}"}]
    asked["messages"] = messages("no")
    refused = client("").post("/v1/messages", json=asked)
    assert refused.status_code == 400
    assert refused.json()["error"]["message"].startswith("messages[1].content: ")


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("cut", range(1, len("</call>") + 1))
def test_a_marker_that_is_one_token_is_written_whole(cut: int, streamed: bool) -> None:
    special = ("<end>", "<call>", "</call>")
    prefix = CALL[: len(CALL) - len("</call>") + cut]
    served = client("</call>" if cut < len("</call>") else "", special=special)
    fields = {"continue_final_message": True, "tools": [WEATHER], "tool_choice": "required", "stream": streamed}
    answer = served.post("/v1/chat/completions", json=body(messages=messages(prefix), return_token_ids=True, **fields))
    assert answer.status_code == 200, answer.text
    if cut == len("</call>"):
        assert "tool_calls" not in answer.text.replace('"finish_reason":"tool_calls"', "")
    elif not streamed:
        data = answer.json()
        (call,) = data["choices"][0]["message"]["tool_calls"]
        assert call["function"]["arguments"] == '{"city": "Oslo", "days": 2}'
        assert bytes(data["prompt_token_ids"][-3:]) == b"2}}"


def test_what_only_looks_like_the_beginning_of_a_token_is_text() -> None:
    served = client(" 2", special=("<end>", "<call>", "</call>"))
    fields = {"continue_final_message": True, "tools": [WEATHER]}
    answer = served.post("/v1/chat/completions", json=body(messages=messages("1 <"), return_token_ids=True, **fields))
    data = answer.json()
    assert data["choices"][0]["message"]["content"] == " 2"
    assert bytes(data["prompt_token_ids"][-3:]) == b"1 <"


def test_a_prefix_that_is_wrong_before_a_cut_marker_is_refused_where_it_is() -> None:
    fields = {"continue_final_message": True, "tools": [WEATHER], "tool_choice": "required"}
    asked = body(messages=messages("Well</ca"), **fields)
    answer = client("", special=("<end>", "<call>", "</call>")).post("/v1/chat/completions", json=asked)
    assert answer.status_code == 400
    assert "character 0" in answer.json()["error"]["message"]


@pytest.mark.parametrize(("prefix", "status"), [("ye<e", 400), ("yes<e", 200), ("yes<en", 200), ("yes<c", 400)])
def test_a_cut_token_that_may_not_come_is_refused(prefix: str, status: int) -> None:
    asked = body(messages=messages(prefix), continue_final_message=True, structured_outputs={"choice": ["yes", "no"]})
    answer = client("", special=("<end>", "<call>", "</call>")).post("/v1/chat/completions", json=asked)
    assert answer.status_code == status, answer.text


def test_only_the_assistant_s_message_goes_on() -> None:
    asked = body(continue_final_message=True)
    answer = client().post("/v1/chat/completions", json=asked)
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "messages[0].role"
