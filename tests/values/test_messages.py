"""Messages and tools: OpenAI's dictionaries in and out."""

from __future__ import annotations

import pickle
from typing import Any

import msgspec
import pytest

from syntagma.errors import ArgumentError, ArgumentTypeError, LimitError, SyntagmaError, UnsupportedSchema
from syntagma.events import ContentDelta, Event, MessageEnd
from syntagma.limits import Limits
from syntagma.messages import Message, Tool, ToolCall, tools_from

CALL = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"at": "Łódź"}'}}


@pytest.mark.parametrize(
    "data",
    [
        {"role": "user", "content": "hi"},
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "assistant", "content": "", "reasoning_content": "so", "tool_calls": [CALL, CALL | {"id": "call_2"}]},
        {"role": "tool", "content": "42", "tool_call_id": "call_1", "name": "look"},
    ],
)
def test_round_trip(data: dict[str, Any]) -> None:
    message = Message.from_openai(data)
    assert message.to_openai() == data
    assert Message.from_openai(message.to_openai()) == message


def test_arguments_may_come_as_an_object() -> None:
    call = ToolCall.from_openai({"id": "x", "function": {"name": "f", "arguments": {"a": [1, None]}}})
    assert call.arguments == '{"a":[1,null]}'
    assert call.parsed_arguments() == {"a": [1, None]}
    assert call.complete


def test_reasoning_has_two_names_on_the_way_in() -> None:
    assert Message.from_openai({"role": "assistant", "reasoning": "hm"}).reasoning_content == "hm"


@pytest.mark.parametrize(
    ("data", "code", "pointer"),
    [
        ({"content": "x"}, "E-MESSAGE-ROLE", "/role"),
        ({"role": "user", "content": 5}, "E-MESSAGE-CONTENT", "/content"),
        ({"role": "assistant", "tool_calls": "x"}, "E-MESSAGE-CALL", "/tool_calls"),
        ({"role": "assistant", "tool_calls": [CALL, {"id": "y"}]}, "E-MESSAGE-CALL", "/tool_calls/1/function/name"),
        (
            {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": 3}}]},
            "E-MESSAGE-CALL",
            "/tool_calls/0/function/arguments",
        ),
    ],
)
def test_bad_messages(data: dict[str, Any], code: str, pointer: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        Message.from_openai(data)
    assert (caught.value.code, caught.value.pointer) == (code, pointer)


def test_bad_message_type_is_a_type_error() -> None:
    with pytest.raises(TypeError):
        Message.from_openai("hello")  # type: ignore[arg-type]


@pytest.mark.parametrize("arguments", ["", "[1]", '{"a": '])
def test_arguments_that_are_no_object(arguments: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        ToolCall(id="1", name="f", arguments=arguments).parsed_arguments()
    assert caught.value.code == "E-MESSAGE-ARGUMENTS"


def test_tools() -> None:
    wire = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {}, "strict": True}}
    tool = Tool.from_openai(wire)
    assert tool.to_openai() == wire
    assert Tool.from_openai(tool) is tool
    assert Tool.from_openai(wire["function"]) == tool
    assert tools_from(None) is None
    assert tools_from([]) == ()
    assert tools_from([tool, {"function": {"name": "g"}}]) == (tool, Tool(name="g"))


@pytest.mark.parametrize(
    ("tools", "code", "pointer"),
    [
        ([{"function": {"name": ""}}], "E-TOOL-INVALID", "/0/function/name"),
        ([{"function": {"name": "f"}}, {"function": {"name": "f"}}], "E-TOOL-DUPLICATE", "/1/function/name"),
        ([{"function": {"name": "f", "parameters": []}}], "E-TOOL-INVALID", "/0/function/parameters"),
        ([3], "E-TOOL-INVALID", "/0/function"),
    ],
)
def test_bad_tools(tools: list[Any], code: str, pointer: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        tools_from(tools)
    assert (caught.value.code, caught.value.pointer) == (code, pointer)


def test_tools_must_be_a_list() -> None:
    with pytest.raises(ArgumentTypeError):
        tools_from({"function": {"name": "f"}})  # type: ignore[arg-type]


def test_errors_say_code_place_and_hint() -> None:
    error = SyntagmaError("E-X-Y", "wrong", hint="do right", line=3, column=7, source="a.txt", excerpt="  abc\n    ^")
    assert str(error) == "E-X-Y: wrong (a.txt:3:7)\n  abc\n    ^\nhint: do right"
    assert error.to_dict()["line"] == 3
    assert "offset" not in error.to_dict()
    assert SyntagmaError("E-X-Y", "wrong", pointer="/a/0").place == "at /a/0"
    assert SyntagmaError("E-X-Y", "wrong").place is None


@pytest.mark.parametrize(
    "error",
    [
        SyntagmaError("E-A-B", "m", hint="h", pointer=""),
        LimitError("E-LIMIT-X", "m", limit="tools", given=2, allowed=1),
        UnsupportedSchema("E-SCHEMA-X", "m", pointers={"/not": "why"}, pointer="/not"),
    ],
)
def test_errors_cross_processes(error: SyntagmaError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert again.to_dict() == error.to_dict()


def test_events_are_plain_tagged_values() -> None:
    wire = msgspec.json.encode(ContentDelta("hi", (0, 2)))
    assert wire == b'{"type":"content_delta","text":"hi","span":[0,2]}'
    assert msgspec.json.decode(wire, type=Event) == ContentDelta("hi", (0, 2))
    with pytest.raises(AttributeError):
        MessageEnd("stop", (0, 0)).finish_reason = "length"  # type: ignore[misc]


def test_limits_are_frozen_and_replaceable() -> None:
    limits = msgspec.structs.replace(Limits(), tools=2)
    assert limits.tools == 2
    assert limits.schema_depth == Limits().schema_depth
