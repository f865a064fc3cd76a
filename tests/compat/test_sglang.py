"""The parsers under SGLang's names: what they return, and that pieces make up the whole."""

from __future__ import annotations

import json
from typing import Any

import pytest

from syntagma import formats
from syntagma.compat.sglang import FunctionCallParser, JsonArrayParser, ReasoningParser, ToolCallItem
from syntagma.errors import ArgumentError

WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
    },
}
CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>'


class PydanticLike:
    """A tool as a server's request model holds it."""

    def model_dump(self) -> dict[str, Any]:
        return {**WEATHER, "defer_loading": None}


def test_reasoning_of_a_whole_text() -> None:
    parser = ReasoningParser("qwen3")
    assert parser.parse_non_stream("<think>Hm.</think>Yes.") == ("Hm.", "Yes.")
    assert parser.parse_non_stream("Yes.") == ("", "Yes."), "nothing is kept from one text to the next"
    assert (parser.detector.think_start_token, parser.detector.think_end_token) == ("<think>", "</think>")


def test_reasoning_streams_and_the_end_releases_what_was_held_back() -> None:
    parser = ReasoningParser("deepseek-r1")
    pieces = [parser.parse_stream_chunk(chunk) for chunk in ("Hm", "m.</thi", "nk>Yes", ". <")]
    pieces.append(parser.parse_stream_end())
    assert ["".join(part) for part in zip(*pieces, strict=True)] == ["Hmm.", "Yes. <"]
    assert pieces[0] == ("Hm", ""), "nothing waits that cannot be a marker"


def test_reasoning_in_one_piece() -> None:
    parser = ReasoningParser("deepseek-r1", stream_reasoning=False)
    assert parser.parse_stream_chunk("Hm") == ("", "")
    assert parser.parse_stream_chunk("m.</think>Yes.") == ("Hmm.", "Yes.")


@pytest.mark.parametrize(
    ("name", "flags", "text", "reasoning", "rest"),
    [
        ("qwen3", {"force_reasoning": True}, "Hm.</think>Yes.", "Hm.", "Yes."),
        ("qwen3-thinking", {"force_reasoning": False}, "Hm.</think>Yes.", "Hm.", "Yes."),
        ("iquest_q1", {"force_reasoning": False}, "Yes.", "", "Yes."),
        ("k2_horizon", {"reasoning_effort": "low"}, "Hm.</ifm|think_faster>Yes.", "Hm.", "Yes."),
        ("apertus2509", {"force_reasoning": True}, "Yes.", "", "Yes."),
        ("minimax-append-think", {}, "Hm.</think>Yes.", "", "<think>Hm.</think>Yes."),
        ("qwen3", {}, f"<think>Hm.{CALL}", "Hm.", CALL),
    ],
)
def test_flags(name: str, flags: dict[str, Any], text: str, reasoning: str, rest: str) -> None:
    assert ReasoningParser(name, **flags).parse_non_stream(text) == (reasoning, rest)


@pytest.mark.parametrize(
    ("previous", "expected"),
    [("<think>So", ("Hm.", "Yes.")), ("<think>So</think>", ("", "Hm.</think>Yes.")), ("", ("", "Hm.</think>Yes."))],
)
def test_a_message_that_goes_on(previous: str, expected: tuple[str, str]) -> None:
    parser = ReasoningParser("qwen3", continue_final_message=True, previous_content=previous)
    assert parser.parse_non_stream("Hm.</think>Yes.") == expected


@pytest.mark.parametrize("tool", [WEATHER, WEATHER["function"], PydanticLike()])
def test_calls_of_a_whole_text(tool: Any) -> None:
    parser = FunctionCallParser([tool], "qwen25")
    assert parser.has_tool_call(CALL)
    assert not parser.has_tool_call("no <tool_call> here")
    text, calls = parser.parse_non_stream(f"Look. {CALL}\n{CALL}")
    assert text.strip() == "Look."
    assert [(call.tool_index, call.name, json.loads(call.parameters)) for call in calls] == [
        (0, "weather", {"city": "Oslo"}),
        (1, "weather", {"city": "Oslo"}),
    ]


def test_calls_stream_name_first_and_arguments_as_they_come() -> None:
    parser = FunctionCallParser([WEATHER], "qwen25")
    pieces: list[ToolCallItem] = []
    texts = []
    for character in f"Look. {CALL}":
        text, calls = parser.parse_stream_chunk(character)
        texts.append(text)
        pieces += calls
    text, calls = parser.parse_stream_end()
    pieces += calls
    assert "".join([*texts, text]).strip() == "Look."
    assert (pieces[0].name, pieces[0].parameters) == ("weather", "")
    assert all(piece.name is None and piece.tool_index == 0 for piece in pieces[1:])
    assert len(pieces) > 5, "arguments come in fragments"
    assert json.loads("".join(piece.parameters for piece in pieces)) == {"city": "Oslo"}


def test_tagged_arguments_are_typed_by_the_tools() -> None:
    raw = (
        "<tool_call>\n<function=weather>\n<parameter=city>\n12\n</parameter>\n<parameter=days>\n3\n</parameter>\n"
        "</function>\n</tool_call>"
    )
    _, calls = FunctionCallParser([WEATHER], "qwen3_coder").parse_non_stream(raw)
    assert json.loads(calls[0].parameters) == {"city": "12", "days": 3}


def test_an_array_of_calls() -> None:
    raw = '[{"name": "weather", "parameters": {"days": 1}}, {"name": "weather", "parameters": {"days": 2}}]'
    parser = JsonArrayParser([WEATHER])
    assert [call.parameters for call in parser.parse_non_stream(raw)[1]] == ['{"days": 1}', '{"days": 2}']
    pieces = [piece for character in raw for piece in parser.parse_streaming_increment(character).calls]
    assert [piece.name for piece in pieces if piece.name] == ["weather", "weather"]
    last = "".join(piece.parameters for piece in pieces if piece.tool_index == 1)
    assert json.loads(last) == {"days": 2}


def test_the_maps_name_every_format_with_the_part() -> None:
    reasoning, tools = ReasoningParser.DetectorMap, FunctionCallParser.ToolCallParserEnum
    for name in formats.names():
        spec = formats.get(name).spec
        for alias in (name, *spec.aliases):
            assert (alias in reasoning) == (spec.reasoning is not None)
            assert (alias in tools) == (spec.tools is not None)
    assert len(reasoning) == len(list(reasoning))
    assert tools["qwen"]().has_tool_call(CALL)
    assert reasoning["nano_v3"](force_reasoning=True).detect_and_parse("a</think>b").reasoning_text == "a"
    with pytest.raises(TypeError):
        reasoning["mine"] = object()  # type: ignore[assignment]
    with pytest.raises(KeyError):
        tools["nobody"]


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: ReasoningParser("qwen33"), "E-FORMAT-UNKNOWN"),
        (ReasoningParser, "E-ARGUMENT-FORMAT"),
        (lambda: ReasoningParser("json_array"), "E-ARGUMENT-FORMAT"),
        (lambda: FunctionCallParser([], "qwen3"), "E-ARGUMENT-FORMAT"),
        (lambda: FunctionCallParser([{}], "qwen25").parse_non_stream(""), "E-TOOL-INVALID"),
    ],
)
def test_bad_arguments(make: Any, code: str) -> None:
    with pytest.raises(ArgumentError) as raised:
        make()
    assert isinstance(raised.value, ValueError), "as callers expect it"
    assert raised.value.code == code
