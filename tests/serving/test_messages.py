"""`/v1/messages`: Anthropic's shapes over the same requests and events."""

from __future__ import annotations

import json
from typing import Any

import pytest
from anthropic.types import Message, RawMessageStreamEvent
from pydantic import TypeAdapter
from starlette.testclient import TestClient

from syntagma.codec import ChatCodec
from syntagma.formats import ChatFormat
from syntagma.serving import ServedModel, create_app
from syntagma.templates import ChatTemplate
from syntagma.testing import ScriptedBackend
from tests.serving.support import FORMAT, SWITCHED, client, model

URL = "/v1/messages"
WEATHER = {
    "name": "weather",
    "description": "Tells the weather.",
    "input_schema": {
        "type": "object",
        "properties": {"city": {"enum": ["Oslo", "Lima"]}},
        "required": ["city"],
        "additionalProperties": False,
    },
}
CALL = '<call>{"name": "weather", "arguments": {"city": "Lima"}}</call>'


def body(**fields: Any) -> dict[str, Any]:
    asked = {"model": "scripted", "max_tokens": 200, "temperature": 0, "messages": [{"role": "user", "content": "hi"}]}
    return asked | fields


def ask(script: str, **fields: Any) -> Message:
    answer = client(script).post(URL, json=body(**fields))
    assert answer.status_code == 200, answer.text
    return Message.model_validate_json(answer.content, strict=True)


def events(script: str, **fields: Any) -> list[Any]:
    """The events of a streamed answer, as the client's own types read them."""
    answer = client(script).post(URL, json=body(stream=True, **fields))
    assert answer.status_code == 200, answer.text
    read: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
    found = []
    for event in answer.text.split("\n\n")[:-1]:
        name, data = event.split("\n")
        found.append(read.validate_json(data.removeprefix("data: ")))
        assert name == f"event: {found[-1].type}"
    return found


def joined(found: list[Any]) -> list[tuple[str, str]]:
    """What a client puts together: the kind of each block, and its text or arguments."""
    blocks: list[tuple[str, str]] = []
    signed: list[int] = []
    is_open = False
    for event in found:
        if event.type == "content_block_start":
            assert event.index == len(blocks)
            assert not is_open
            is_open = True
            blocks.append((event.content_block.type, ""))
        elif event.type == "content_block_delta":
            assert is_open
            assert event.index == len(blocks) - 1
            delta = event.delta
            if delta.type == "signature_delta":
                signed.append(event.index)
                continue
            assert signed[-1:] != [event.index], "a delta after the signature"
            text = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}[delta.type]
            blocks[-1] = (blocks[-1][0], blocks[-1][1] + getattr(delta, text))
        elif event.type == "content_block_stop":
            assert event.index == len(blocks) - 1
            is_open = False
    assert not is_open
    # Clients send thinking back only if its signature came, whatever it is.
    assert signed == [index for index, (kind, _) in enumerate(blocks) if kind == "thinking"]
    return blocks


def test_a_text() -> None:
    message = ask("hello")
    assert [block.model_dump(exclude_none=True) for block in message.content] == [{"type": "text", "text": "hello"}]
    assert (message.stop_reason, message.stop_sequence, message.role, message.model) == (
        "end_turn", None, "assistant", "scripted",
    )  # fmt: skip
    assert message.usage.output_tokens == len("hello") + 1
    assert message.usage.input_tokens > 0


def test_thinking_text_and_calls_are_blocks_in_their_order() -> None:
    script = "<note>well</note>Let me see." + CALL + CALL
    message = ask(script, tools=[WEATHER])
    assert [block.type for block in message.content] == ["thinking", "text", "tool_use", "tool_use"]
    assert message.stop_reason == "tool_use"
    calls = [block for block in message.content if block.type == "tool_use"]
    assert [(call.name, call.input) for call in calls] == [("weather", {"city": "Lima"})] * 2
    assert len({call.id for call in calls}) == 2
    found = events(script, tools=[WEATHER])
    assert joined(found) == [
        ("thinking", "well"),
        ("text", "Let me see."),
        ("tool_use", '{"city": "Lima"}'),
        ("tool_use", '{"city": "Lima"}'),
    ]
    assert [found[0].type, found[-2].type, found[-1].type] == ["message_start", "message_delta", "message_stop"]
    assert found[0].message.content == []
    assert found[0].message.usage.input_tokens == message.usage.input_tokens
    assert found[-2].delta.stop_reason == "tool_use"
    assert found[-2].usage.output_tokens == message.usage.output_tokens


@pytest.mark.parametrize(
    ("fields", "reason", "sequence"),
    [
        ({"max_tokens": 3}, "max_tokens", None),
        ({"stop_sequences": ["lo"]}, "stop_sequence", "lo"),
        ({}, "end_turn", None),
    ],
)
def test_why_it_stopped(fields: dict[str, Any], reason: str, sequence: str | None) -> None:
    message = ask("hello", **fields)
    assert (message.stop_reason, message.stop_sequence) == (reason, sequence)
    delta = events("hello", **fields)[-2].delta
    assert (delta.stop_reason, delta.stop_sequence) == (reason, sequence)


@pytest.mark.parametrize(
    ("choice", "kinds"),
    [
        ({"type": "auto"}, ["text"]),
        ({"type": "any"}, ["tool_use"]),
        ({"type": "tool", "name": "weather"}, ["tool_use"]),
        ({"type": "none"}, ["text"]),
    ],
)
def test_tool_choices(choice: dict[str, Any], kinds: list[str]) -> None:
    message = ask("hello", tools=[WEATHER], tool_choice=choice)
    assert [block.type for block in message.content][: len(kinds)] == kinds
    script = CALL + CALL
    single = ask(script, tools=[WEATHER], tool_choice={"type": "auto", "disable_parallel_tool_use": True})
    assert [block.type for block in single.content].count("tool_use") == 1


def test_a_conversation_reaches_the_template() -> None:
    served = model("fine")
    conversation = [
        {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "x"},
                {"type": "redacted_thinking", "data": "?"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Oslo"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "rain"}]},
                {"type": "text", "text": "and now?"},
            ],
        },
    ]
    system = [{"type": "text", "text": "be", "cache_control": {"type": "ephemeral"}}, {"type": "text", "text": "kind"}]
    answer = TestClient(create_app(served)).post(URL, json=body(messages=conversation, system=system, tools=[WEATHER]))
    assert answer.status_code == 200, answer.text
    assert isinstance(served.engine, ScriptedBackend)
    prompt = served.engine.prompts[-1]
    for part in (
        "<system>be\nkind<end>",
        "<user>one\ntwo<end>",
        '<assistant>I look.<call>{"name": "weather", "arguments": {"city": "Oslo"}}</call><end>',
        "<tool>rain<end><user>and now?<end><assistant>",
    ):
        assert part in prompt


def test_an_assistant_message_at_the_end_is_continued() -> None:
    served = model(" there")
    conversation = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    answer = TestClient(create_app(served)).post(URL, json=body(messages=conversation)).json()
    assert answer["content"] == [{"type": "text", "text": " there"}]
    assert isinstance(served.engine, ScriptedBackend)
    assert served.engine.prompts[-1].endswith("<assistant>hello")


def test_answers_are_held_to_a_schema() -> None:
    shape = {"type": "json_schema", "schema": {"enum": ["yes", "no"]}}
    message = ask("hello", output_config={"format": shape})
    assert message.content[0].type == "text"
    assert json.loads(message.content[0].text) in ("yes", "no")


def test_thinking_is_switched_by_the_template_s_own_switch() -> None:
    codec = ChatCodec.from_template(ChatTemplate(SWITCHED))
    assert codec.capabilities.thinking_switches
    served = ServedModel(ScriptedBackend("ok"), codec)
    app = TestClient(create_app(served))
    assert isinstance(served.engine, ScriptedBackend)
    for kind, ending in (("disabled", "<note></note>"), ("adaptive", "<assistant>")):
        assert app.post(URL, json=body(thinking={"type": kind})).status_code == 200
        assert served.engine.prompts[-1].endswith(ending)
    fields = {"thinking": {"type": "enabled", "budget_tokens": 4}}
    thought = ask("<note>" + "a" * 50 + "</note>x", **fields).content[0]
    assert thought.type == "thinking"
    assert len(thought.thinking) == 4


def test_tokens_of_a_prompt_are_counted() -> None:
    app = client("hello")
    counted = app.post(f"{URL}/count_tokens", json={"messages": body()["messages"], "tools": [WEATHER]})
    assert counted.json() == {"input_tokens": ask("hello", tools=[WEATHER]).usage.input_tokens}


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"max_tokens": 0}, "max_tokens"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "messages[0].role"),
        ({"messages": [{"role": "user", "content": [{"type": "image"}]}]}, "messages[0].content[0].type"),
        ({"messages": [{"role": "user", "content": [{"type": "tool_result"}]}]}, "messages[0].content[0].tool_use_id"),
        (
            {"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "x"}]}]},
            "messages[0].content[0].input",
        ),
        ({"tools": [{"name": "x"}]}, "tools[0].input_schema"),
        ({"tools": [{"name": "x", "type": "web_search_20250305"}], "tool_choice": {"type": "any"}}, "tool_choice"),
        ({"tool_choice": {"type": "any"}}, "tool_choice"),
        ({"top_k": -2}, "top_k"),
        ({"temperature": 3}, "temperature"),
        ({"output_config": {"format": {"type": "json_schema"}}}, "output_config.format.schema"),
        ({"output_config": {"format": {"type": "regex", "regex": "("}}}, "output_config.format.regex"),
        ({"thinking": {"type": "enabled", "budget_tokens": 0}}, "thinking.budget_tokens"),
    ],
)
@pytest.mark.parametrize("streams", [False, True])
def test_what_is_wrong_is_named_in_the_shape_of_the_endpoint(fields: dict[str, Any], named: str, streams: bool) -> None:
    answer = client("hello").post(URL, json=body(stream=streams, **fields))
    assert answer.status_code == 400, answer.text
    data = answer.json()
    assert (data["type"], data["error"]["type"]) == ("error", "invalid_request_error")
    assert data["error"]["message"].startswith(f"{named}: ")


def test_other_errors_have_the_endpoint_s_types() -> None:
    answer = client("hello").post(URL, json=body(model="another"))
    assert (answer.status_code, answer.json()["error"]["type"]) == (404, "not_found_error")
    answer = client("hello").post(URL, content=b"{")
    assert answer.json()["error"]["type"] == "invalid_request_error"
    answer = client("hello").post(URL, json=body(top_k=3, unheard_of=1))
    assert answer.headers["x-syntagma-ignored"] == "unheard_of"


def test_a_codec_of_a_format_alone_serves_it() -> None:
    served = ServedModel(ScriptedBackend("ok"), ChatCodec.from_format(ChatFormat.from_toml(FORMAT)))
    answer = TestClient(create_app(served)).post(URL, json=body())
    assert answer.status_code == 400
