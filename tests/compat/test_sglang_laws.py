"""What holds for every detector: pieces make up the whole, and the whole is what the stream parser reads."""

from __future__ import annotations

import functools
import json
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import syntagma as sg
from syntagma.compat.sglang import (
    BaseFormatDetector,
    BaseReasoningFormatDetector,
    FunctionCallDetector,
    FunctionCallParser,
    LegacyStructuralTagResponseFormat,
    ReasoningDetector,
    ReasoningParser,
    StreamingParseResult,
    core_types,
    function_call_parser,
    reasoning_parser,
)
from syntagma.compat.sglang.core_types import GetInfoFunc
from tests.formats.cases import TOOLS, Loaded, load

CASES = [case for case in load() if case.case.prompt is None and case.case.template_kwargs is None]
WITH_CALLS = [case for case in CASES if case.fmt.spec.tools is not None]
WITH_REASONING = [case for case in CASES if case.fmt.spec.reasoning is not None]
Cuts = st.lists(st.integers(1, 7), min_size=1, max_size=8)


def _chunks(text: str, sizes: list[int]) -> list[str]:
    chunks, at = [], 0
    while at < len(text):
        size = sizes[len(chunks) % len(sizes)]
        chunks.append(text[at : at + size])
        at += size
    return chunks


def _streamed(detector: BaseFormatDetector, chunks: list[str], tools: Any) -> StreamingParseResult:
    """What the pieces of a stream come to."""
    whole = StreamingParseResult()
    results = [detector.parse_streaming_increment(chunk, tools) for chunk in chunks]
    for result in (*results, detector.finish(tools)):
        whole.normal_text += result.normal_text
        for piece in result.calls:
            assert (piece.name is None) == (piece.tool_index < len(whole.calls)), "a call begins with its name"
            if piece.name is not None:
                assert (piece.tool_index, piece.parameters) == (len(whole.calls), "")
                whole.calls.append(piece.model_copy())
            else:
                assert piece.tool_index == len(whole.calls) - 1
                whole.calls[-1].parameters += piece.parameters
    return whole


@pytest.mark.parametrize("case", WITH_CALLS, ids=lambda case: case.id)
def test_calls_are_those_of_the_stream_parser(case: Loaded) -> None:
    raw = case.case.raw
    right = case.fmt.parse(raw, TOOLS, reasoning_format="none")
    detector = FunctionCallDetector(case.fmt)
    detector.unknown_tool = "pass"
    found = detector.detect_and_parse(raw, TOOLS)
    assert found.normal_text == (right.content or "")
    assert [(call.tool_index, call.name, call.parameters) for call in found.calls] == [
        (at, call.name, call.arguments) for at, call in enumerate(right.tool_calls)
    ]
    assert _streamed(detector, list(raw), TOOLS) == found
    assert detector.streamed_args_for_tool == [call.parameters for call in found.calls]
    assert [call["name"] for call in detector.prev_tool_call_arr] == [call.name for call in found.calls]
    for call, read in zip(right.tool_calls, detector.prev_tool_call_arr, strict=True):
        assert read["arguments"] == (call.parsed_arguments() if call.complete else {})


@pytest.mark.parametrize("case", WITH_REASONING, ids=lambda case: case.id)
def test_reasoning_is_that_of_the_stream_parser(case: Loaded) -> None:
    raw = case.case.raw
    right = case.fmt.parse(raw, [])
    detector = ReasoningDetector(case.fmt)
    found = detector.detect_and_parse(raw)
    assert (found.reasoning_text, found.normal_text) == (right.reasoning_content or "", right.content or "")
    pieces = [*map(detector.parse_streaming_increment, raw), detector.finish()]
    assert "".join(piece.reasoning_text for piece in pieces) == found.reasoning_text
    assert "".join(piece.normal_text for piece in pieces) == found.normal_text


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(WITH_CALLS),
    st.lists(st.sampled_from(WITH_CALLS), max_size=1),
    Cuts,
    st.sampled_from(["pass", "content", "drop"]),
    st.booleans(),
)
def test_no_cut_and_no_policy_makes_a_difference(
    case: Loaded, other: list[Loaded], sizes: list[int], unknown: Literal["pass", "content", "drop"], known: bool
) -> None:
    raw = case.case.raw + "".join(one.case.raw for one in other)
    tools = TOOLS if known else [{"name": "somebody_else"}]

    def detector() -> FunctionCallDetector:
        made = FunctionCallDetector(case.fmt)
        made.unknown_tool = unknown
        return made

    found = detector().detect_and_parse(raw, tools)
    assert _streamed(detector(), _chunks(raw, sizes), tools) == found
    if not known and unknown != "pass":
        assert found.calls == []
    if unknown == "content" and not known:
        everything = detector().detect_and_parse(raw, [])
        assert set(everything.normal_text.split()) <= set(found.normal_text.split()) | {""}, "nothing is lost"


# -- classes of users


class Angles(BaseFormatDetector):
    """Tokens and nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self.bot_token, self.eot_token, self.tool_call_separator = "<<calls>>", "<</calls>>", "; "

    def has_tool_call(self, text: str) -> bool:
        return self.bot_token in text

    def detect_and_parse(self, text: str, tools: Any) -> StreamingParseResult:
        return super().detect_and_parse(text, tools)

    def structure_info(self) -> GetInfoFunc:
        return super().structure_info()


class Lines(BaseFormatDetector):
    """Reads by itself: a line with an exclamation mark is a call."""

    def has_tool_call(self, text: str) -> bool:
        return "!" in text

    def detect_and_parse(self, text: str, tools: Any) -> StreamingParseResult:
        calls, rest = [], []
        for line in text.splitlines(keepends=True):
            if line.startswith("!"):
                calls += self.parse_base_json(json.loads(line[1:]), tools)
            else:
                rest.append(line)
        for at, call in enumerate(calls):
            call.tool_index = at
        return StreamingParseResult(normal_text="".join(rest), calls=calls)

    def parse_streaming_increment(self, new_text: str | bytes, tools: Any) -> StreamingParseResult:
        assert isinstance(new_text, str)
        lines = (self._buffer + new_text).splitlines(keepends=True)
        self._buffer = lines.pop() if lines and not lines[-1].endswith("\n") else ""
        found = self.detect_and_parse("".join(lines), tools)
        for call in found.calls:
            self.current_tool_id += 1
            call.tool_index = self.current_tool_id
        return found

    def structure_info(self) -> GetInfoFunc:
        return lambda name: core_types.StructureInfo(f'!{{"name": "{name}", "arguments": ', "}\n", "!")


class Aside(BaseReasoningFormatDetector):
    def __init__(self, stream_reasoning: bool = True, force_reasoning: bool = False) -> None:
        super().__init__("(aside)", "(/aside)", force_reasoning, stream_reasoning, tool_start_token="<<calls>>")


@pytest.fixture
def registered() -> Any:
    FunctionCallParser.ToolCallParserEnum["angles"] = Angles
    FunctionCallParser.ToolCallParserEnum["lines"] = Lines
    ReasoningParser.DetectorMap["aside"] = Aside
    yield
    for name in ("angles", "lines"):
        del FunctionCallParser.ToolCallParserEnum[name]
    del ReasoningParser.DetectorMap["aside"]


LOOK = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
ARGUMENTS = st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), st.integers(), max_size=2)


@pytest.mark.usefixtures("registered")
def test_registered_classes_are_listed_and_used() -> None:
    assert {"angles", "lines"} <= set(FunctionCallParser.ToolCallParserEnum)
    assert "aside" in set(ReasoningParser.DetectorMap)
    assert isinstance(FunctionCallParser([LOOK], "angles").detector, Angles)
    assert isinstance(ReasoningParser("aside", force_reasoning=True).detector, Aside)
    assert len(FunctionCallParser.ToolCallParserEnum) == len(set(FunctionCallParser.ToolCallParserEnum))


@pytest.mark.usefixtures("registered")
@settings(max_examples=60, deadline=None)
@given(
    st.lists(ARGUMENTS, min_size=1, max_size=3),
    Cuts,
    st.text(st.characters(categories=["Ll", "Zs"]), max_size=6),
    st.sampled_from(["angles", "lines"]),
    st.sampled_from(["arguments", "parameters"]),
)
def test_a_class_of_a_user_reads_end_to_end(
    calls: list[dict[str, Any]], sizes: list[int], before: str, name: str, key: str
) -> None:
    objects = [json.dumps({"name": "look", key: arguments}) for arguments in calls]
    if name == "angles":
        raw = f"{before}<<calls>>{'; '.join(objects)}<</calls>>"
    else:
        raw = before + "\n" + "".join(f"!{one}\n" for one in objects)
    parser = FunctionCallParser([LOOK], name)
    text, found = parser.parse_non_stream(raw)
    assert text.strip() == before.strip()
    assert [json.loads(call.parameters) for call in found] == calls
    assert [call.name for call in found] == ["look"] * len(calls)
    fragments: list[str] = []
    for chunk in _chunks(raw, sizes):
        for piece in parser.parse_stream_chunk(chunk)[1]:
            fragments += [""] * (piece.tool_index + 1 - len(fragments))
            fragments[piece.tool_index] += piece.parameters
    assert parser.parse_stream_end() == ("", [])
    assert [json.loads(one) for one in fragments] == calls


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("name", ["angles", "lines"])
def test_a_class_of_a_user_constrains(name: str) -> None:
    tools = [LOOK, {**LOOK, "function": {"name": "other", "strict": True}}]
    kind, tag = FunctionCallParser(tools, name).get_structure_constraint("auto") or (None, None)
    assert kind == "structural_tag"
    assert isinstance(tag, LegacyStructuralTagResponseFormat)
    info = FunctionCallParser(tools, name).detector.structure_info()("look")
    assert tag.structures[0].begin == info.begin
    assert tag.triggers == [info.trigger]
    written = info.begin + '{"a": 1}' + info.end
    assert sg.Grammar.from_structural_tag(tag.model_dump()).accepts(f"Wait. {written}")
    assert [call.name for call in FunctionCallParser(tools, name).parse_non_stream(written)[1]] == ["look"]


@pytest.mark.usefixtures("registered")
@settings(max_examples=60, deadline=None)
@given(Cuts, st.booleans(), st.sampled_from(["(/aside)", "<<calls>>", ""]))
def test_reasoning_of_a_user_reads_end_to_end(sizes: list[int], streams: bool, closer: str) -> None:
    rest = "Yes." if closer == "(/aside)" else ""
    kept = closer if closer == "<<calls>>" else ""
    raw = f"(aside)one (two) three{closer}{rest}"
    parser = ReasoningParser("aside", stream_reasoning=streams)
    whole = parser.parse_non_stream(raw)
    assert whole == ("one (two) three", kept + rest)
    pieces = [parser.parse_stream_chunk(chunk) for chunk in _chunks(raw, sizes)]
    pieces.append(parser.parse_stream_end())
    assert tuple("".join(part) for part in zip(*pieces, strict=True)) == whole


def test_a_class_over_a_format_may_be_extended() -> None:
    class Shouting(function_call_parser.Qwen25Detector):  # type: ignore[name-defined, misc]
        def parse_streaming_increment(self, new_text: str | bytes, tools: Any) -> StreamingParseResult:
            found: StreamingParseResult = super().parse_streaming_increment(new_text, tools)
            found.normal_text = found.normal_text.upper()
            return found

    FunctionCallParser.ToolCallParserEnum["qwen25"] = Shouting
    try:
        parser = FunctionCallParser([LOOK], "qwen25")
        text, calls = parser.parse_stream_chunk('wait <tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>')
        assert (text, calls[0].name) == ("WAIT ", "look")
    finally:
        del FunctionCallParser.ToolCallParserEnum["qwen25"]
    assert FunctionCallParser.ToolCallParserEnum["qwen25"] is function_call_parser.Qwen25Detector


def test_the_parts_that_users_call_in_a_base_class() -> None:
    detector = Angles()
    assert detector._get_tool_indices([LOOK, {"name": "other"}]) == {"look": 0, "other": 1}
    assert detector._ends_with_partial_token("text <<ca", "<<calls>>") == 4
    assert detector._ends_with_partial_token("text <<calls>>", "<<calls>>") == 0
    assert detector._ends_with_partial_token("<<", "<<calls>>") == 2
    tools = [{"name": "other"}, LOOK]
    found = detector.parse_base_json([{"name": "look", "parameters": {"a": 1}}, {"name": "nobody"}, 3], tools)
    assert [(call.tool_index, call.name, json.loads(call.parameters)) for call in found] == [(1, "look", {"a": 1})]
    assert [call.name for call in detector.parse_base_json({"name": "other", "arguments": {}}, tools)] == ["other"]


@pytest.mark.parametrize(
    ("setting", "given", "calls", "text"),
    [
        (None, None, ["look"], "a  b"),
        ("1", None, ["nobody", "look"], "a  b"),
        ("true", "drop", ["look"], "a  b"),
        (None, "pass", ["nobody", "look"], "a  b"),
        (None, "content", ["look"], 'a <tool_call>\n{"name": "nobody", "arguments": {}}\n</tool_call> b'),
    ],
)
def test_calls_of_unknown_tools(
    monkeypatch: pytest.MonkeyPatch, setting: str | None, given: Any, calls: list[str], text: str
) -> None:
    monkeypatch.delenv("SGLANG_FORWARD_UNKNOWN_TOOLS", raising=False)
    if setting is not None:
        monkeypatch.setenv("SGLANG_FORWARD_UNKNOWN_TOOLS", setting)
    write = '<tool_call>\n{{"name": "{}", "arguments": {{}}}}\n</tool_call>'.format
    raw = f"a {write('nobody')} b{write('look')}"
    found = FunctionCallParser([LOOK], "qwen25", unknown_tool=given).parse_non_stream(raw)
    assert [(call.tool_index, call.name) for call in found[1]] == list(enumerate(calls))
    assert found[0] == text


def test_every_format_with_the_part_has_a_class(request: pytest.FixtureRequest) -> None:
    request.getfixturevalue("monkeypatch").delenv("SGLANG_FORWARD_UNKNOWN_TOOLS", raising=False)
    maps: tuple[tuple[Any, Any], ...] = (
        (FunctionCallParser.ToolCallParserEnum, FunctionCallDetector),
        (ReasoningParser.DetectorMap, reasoning_parser.FormatReasoningDetector),
    )
    for names, base in maps:
        for name in names:
            assert issubclass(names[name], base)
            assert names[name] is names[name], "made once"
            assert names[name]().chat_format == sg.formats.get(name)


def test_a_format_of_a_user_needs_no_registration() -> None:
    fmt = sg.ChatFormat.from_toml(
        '[reasoning]\nblock = "<t>{reasoning}</t>"\n[tools]\ncall = "<c>{name}:{arguments}</c>"\n'
    )
    assert ReasoningParser(fmt).parse_non_stream("<t>a</t>b") == ("a", "b")
    parser = FunctionCallParser([LOOK], fmt)
    assert parser.parse_non_stream('<c>look:{"a": 1}</c>')[1][0].parameters == '{"a": 1}'
    assert parser.detector.structure_info()("look") == core_types.StructureInfo("<c>look:", "</c>", "<c>")


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (functools.partial(FunctionCallParser, [], 3), "E-ARGUMENT-TYPE"),
        (functools.partial(FunctionCallParser, [], "qwen25", unknown_tool="lose"), "E-ARGUMENT-VALUE"),
        (functools.partial(FunctionCallParser, [], "qwen25", tool_strict_level=7), "E-ARGUMENT-VALUE"),
        (FunctionCallDetector, "E-ARGUMENT-FORMAT"),
        (lambda: FunctionCallDetector("glm45").structure_info()("look"), "E-ARGUMENT-FORMAT"),
        (lambda: FunctionCallParser([LOOK], "glm45").get_structure_tag(), "E-ARGUMENT-FORMAT"),
        (functools.partial(ReasoningParser, b"qwen3"), "E-ARGUMENT-TYPE"),
    ],
)
def test_bad_arguments(make: Any, code: str) -> None:
    with pytest.raises(sg.ArgumentError) as raised:
        make()
    assert raised.value.code == code


@pytest.mark.parametrize("setting", ["SGLANG_TOOL_STRICT_LEVEL", "SGLANG_FORWARD_UNKNOWN_TOOLS"])
def test_a_bad_environment_is_said(monkeypatch: pytest.MonkeyPatch, setting: str) -> None:
    monkeypatch.setenv(setting, "perhaps")
    with pytest.raises(sg.ArgumentError, match=setting):
        FunctionCallParser([], "qwen25")


def test_a_whole_text_may_be_read_while_another_streams() -> None:
    detector = BaseReasoningFormatDetector("<t>", "</t>", force_reasoning=True)
    detector.parse_streaming_increment("a</t>b")
    whole = detector.detect_and_parse("c</t>d")
    assert (whole.reasoning_text, whole.normal_text) == ("c", "d")
    calls = Angles()
    calls.parse_streaming_increment('<<calls>>{"name": "look", "argu', [LOOK])
    assert len(calls.detect_and_parse('<<calls>>{"name": "look", "arguments": {}}<</calls>>', [LOOK]).calls) == 1
    assert calls.parse_streaming_increment('ments": {}}', [LOOK]).calls[0].name == "look"


def test_what_a_user_holds_back_comes_at_the_end() -> None:
    detector = Lines()
    found = [detector.parse_streaming_increment(chunk, [LOOK]) for chunk in ("one\ntw", "o")]
    assert [one.normal_text for one in found] == ["one\n", ""]
    assert [detector.finish().normal_text for _ in range(2)] == ["two", ""]


def test_lists_of_a_user_give_way_to_the_stream() -> None:
    detector = Angles()
    detector.prev_tool_call_arr, detector.streamed_args_for_tool = [{"name": "mine"}], ["{"]
    assert (detector.prev_tool_call_arr, detector.streamed_args_for_tool) == ([{"name": "mine"}], ["{"])
    detector.parse_streaming_increment('<<calls>>{"name": "look", "arguments": {}}', [LOOK])
    assert detector.prev_tool_call_arr == [{"name": "look", "arguments": {}}]
    assert detector.streamed_args_for_tool == ["{}"]


@pytest.mark.parametrize(
    ("names", "name", "called"),
    [
        (ReasoningParser.DetectorMap, "nano_v3", "NanoV3Detector"),
        (ReasoningParser.DetectorMap, "qwen3", "Qwen3Detector"),
        (FunctionCallParser.ToolCallParserEnum, "glm", "Glm4MoeDetector"),
        (FunctionCallParser.ToolCallParserEnum, "beam", "FunctionCallDetector"),
    ],
)
def test_classes_are_called_as_users_know_them(names: Any, name: str, called: str) -> None:
    assert names[name].__name__ == called


class Gate(Angles):
    """Passes text on itself, and hands over what it has in `_buffer` once a call begins there."""

    def parse_streaming_increment(self, new_text: str | bytes, tools: Any) -> StreamingParseResult:
        assert isinstance(new_text, str)
        self._buffer += new_text
        held = self._buffer
        at = held.find(self.bot_token)
        if at < 0:
            size = self._ends_with_partial_token(held, self.bot_token)
            self._buffer = held[len(held) - size :]
            return StreamingParseResult(held[: len(held) - size].replace(self.eot_token, ""))
        if at:
            self._buffer = held[at:]
            found = super().parse_streaming_increment("", tools)
            found.normal_text = held[:at] + found.normal_text
            return found
        return super().parse_streaming_increment("", tools)


class Mixed(Gate):
    """Reads a call of another spelling by itself before those of the base class."""

    def parse_streaming_increment(self, new_text: str | bytes, tools: Any) -> StreamingParseResult:
        assert isinstance(new_text, str)
        if not self._buffer and new_text.startswith("!look;"):
            self.current_tool_id += 1 + (self.current_tool_id < 0)
            call = core_types.ToolCallItem(self.current_tool_id - 1, "look", "{}")
            self.prev_tool_call_arr.append({"name": "look", "arguments": {}})
            self.streamed_args_for_tool.append("{}")
            rest = super().parse_streaming_increment(new_text.removeprefix("!look;"), tools)
            return StreamingParseResult(rest.normal_text, [call, *rest.calls])
        return super().parse_streaming_increment(new_text, tools)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.lists(ARGUMENTS, min_size=1, max_size=2), min_size=1, max_size=3),
    Cuts,
    st.lists(st.sampled_from(["", " a ", "<<", "<<calls", "b >> c"]), min_size=4, max_size=4),
)
def test_a_class_may_use_the_buffer_of_the_base_class(
    groups: list[list[dict[str, Any]]], sizes: list[int], texts: list[str]
) -> None:
    raw = ""
    for text, group in zip(texts, groups, strict=False):
        objects = [json.dumps({"name": "look", "arguments": arguments}) for arguments in group]
        raw += f"{text}<<calls>>{'; '.join(objects)}<</calls>>"
    whole = Angles().detect_and_parse(raw, [LOOK])
    assert [json.loads(call.parameters) for call in whole.calls] == [one for group in groups for one in group]
    found = _streamed(Gate(), _chunks(raw, sizes), [LOOK])
    assert found.calls == whole.calls
    assert found.normal_text.split() == whole.normal_text.split()


def test_a_class_may_count_calls_of_its_own() -> None:
    detector = Mixed()
    pieces = []
    for chunk in ("!look;", '<<calls>>{"name": "look", "argu', 'ments": {"a": 1}}<</calls>>', " done"):
        pieces += detector.parse_streaming_increment(chunk, [LOOK]).calls
    assert {piece.tool_index for piece in pieces} == {0, 1}
    assert [piece.tool_index for piece in pieces if piece.name] == [0, 1]
    assert "".join(piece.parameters for piece in pieces if piece.tool_index == 1) == '{"a": 1}'
    assert detector.streamed_args_for_tool == ["{}", '{"a": 1}']
    assert detector.prev_tool_call_arr[1] == {"name": "look", "arguments": {"a": 1}}
    assert detector.current_tool_id == 2


@pytest.mark.parametrize("begun", ['<<calls>>{"name": "loo', '<<calls>>{"name": "look", "arguments": {"a": ["x'])
def test_what_a_class_takes_out_of_the_buffer_is_not_read_again(begun: str) -> None:
    detector = Gate()
    calls = detector.parse_streaming_increment(begun, [LOOK]).calls
    assert detector._buffer == begun
    detector._buffer = ""
    found = detector.parse_streaming_increment('k"<<calls>>{ "name": "look", "arguments": {}}<</calls>>', [LOOK])
    found.normal_text += detector.finish().normal_text
    assert found.normal_text == 'k"'
    names = [(call.tool_index, call.name) for call in (*calls, *found.calls) if call.name]
    assert names == [(at, "look") for at in range(2 if calls else 1)]
    assert detector.streamed_args_for_tool == (['{"a": ["x'] if calls else []) + ["{}"]


def test_reasoning_that_a_class_holds_back() -> None:
    class Late(BaseReasoningFormatDetector):
        def parse_streaming_increment(self, new_text: str | bytes) -> reasoning_parser.StreamingParseResult:
            assert isinstance(new_text, str)
            self._buffer += new_text
            return super().parse_streaming_increment("") if "." in new_text else StreamingParseResult()  # type: ignore[return-value]

    detector = Late("<t>", "</t>")
    found = [detector.parse_streaming_increment(chunk) for chunk in ("<t>a", "b.</", "t>c")]
    assert [one.normal_text for one in found] == [""] * 3
    assert found[1].reasoning_text == "ab."
    assert detector.finish() == reasoning_parser.StreamingParseResult("c", "")
    unread = Late("<t>", "</t>")
    unread.parse_streaming_increment("<t>a")
    assert unread.finish().normal_text == "<t>a"
