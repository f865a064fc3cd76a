"""What a description of SGLang 0.5.9 shows of its parsers, as it shows it, by our names.

The classes that it prints are written out here as users have them; nothing in them is adapted.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import syntagma as sg
from syntagma.compat import sglang
from syntagma.compat.sglang import (
    BaseFormatDetector,
    BaseReasoningFormatDetector,
    Function,
    FunctionCallParser,
    JsonArrayParser,
    LegacyStructuralTagResponseFormat,
    ReasonerGrammarObject,
    ReasoningParser,
    StructuresResponseFormat,
    Tool,
    ToolChoice,
    ToolStrictLevel,
    core_types,
    reasoning_parser,
)
from syntagma.compat.sglang.reasoning_parser import StreamingParseResult

PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
BEGIN, END = '<tool_call>\n{"name": "get_weather", "arguments": ', "}\n</tool_call>"
RAW = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Beijing"}}\n</tool_call>'


def _tools(*, strict: bool = False) -> list[Tool]:
    return [Tool(type="function", function=Function(name="get_weather", parameters=PARAMETERS, strict=strict))]


# -- 1, 2: reasoning


def test_reasoning_first_then_the_calls_in_the_rest() -> None:
    reasoning, rest = ReasoningParser("qwen3").parse_non_stream(f"<think>思考</think>回答{RAW}")
    normal, calls = FunctionCallParser(_tools(), "qwen25").parse_non_stream(rest)
    assert (reasoning, normal) == ("思考", "回答")
    assert [(call.name, call.parameters) for call in calls] == [("get_weather", '{"city": "Beijing"}')]


@pytest.mark.parametrize(
    ("name", "text", "reasoning"),
    [
        ("deepseek-r1", "a</think>b", "a"),
        ("deepseek-v3", "<think>a</think>b", "a"),
        ("glm45", "<think>a</think>b", "a"),
        ("gpt-oss", "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b", "a"),
        ("kimi", "◁think▷a◁/think▷b", "a"),
        ("kimi_k2", "<think>a</think>b", "a"),
        ("qwen3", "<think>a</think>b", "a"),
        ("qwen3-thinking", "a</think>b", "a"),
        ("minimax", "a</think>b", "a"),
        ("minimax-append-think", "a", ""),
        ("step3", "a</think>b", "a"),
        ("step3p5", "a</think>b", "a"),
        ("nano_v3", "<think>a</think>b", "a"),
        ("interns1", "<think>a</think>b", "a"),
    ],
)
def test_every_name_of_a_reasoning_parser(name: str, text: str, reasoning: str) -> None:
    found = ReasoningParser.DetectorMap[name]().detect_and_parse(text)
    assert found.reasoning_text == reasoning
    assert found.normal_text.strip() == ("b" if reasoning else "<think>a")


@pytest.mark.parametrize(
    ("name", "start", "end"),
    [
        ("DeepSeekR1Detector", "<think>", "</think>"),
        ("Qwen3Detector", "<think>", "</think>"),
        ("KimiDetector", "◁think▷", "◁/think▷"),
        ("GptOssDetector", "<|channel|>analysis<|message|>", "<|end|>"),
        ("NanoV3Detector", "<think>", "</think>"),
    ],
)
def test_the_classes_of_single_formats(name: str, start: str, end: str) -> None:
    detector = getattr(reasoning_parser, name)()
    assert isinstance(detector, BaseReasoningFormatDetector)
    assert (detector.think_start_token, detector.think_end_token) == (start, end)
    assert type(detector).__name__ == name


class MiniMaxAppendThinkDetector(BaseReasoningFormatDetector):
    def __init__(self, stream_reasoning: bool = True, force_reasoning: bool = False) -> None:
        super().__init__("<think>", "</think>", force_reasoning=force_reasoning, stream_reasoning=stream_reasoning)
        self.is_first_chunk = False

    def parse_streaming_increment(self, new_text: str) -> StreamingParseResult:  # type: ignore[override]
        if not self.is_first_chunk:
            self.is_first_chunk = True
            new_text = self.think_start_token + new_text
        return StreamingParseResult(normal_text=new_text)

    def detect_and_parse(self, text: str) -> StreamingParseResult:
        return StreamingParseResult(normal_text=self.think_start_token + text)


def test_a_detector_that_writes_the_opener_in_front() -> None:
    ReasoningParser.DetectorMap["appending"] = MiniMaxAppendThinkDetector
    try:
        parser = ReasoningParser("appending")
        assert isinstance(parser.detector, MiniMaxAppendThinkDetector)
        assert parser.parse_non_stream("a</think>b") == ("", "<think>a</think>b")
        assert [parser.parse_stream_chunk(chunk) for chunk in ("a</thi", "nk>b")] == [
            ("", "<think>a</thi"),
            ("", "nk>b"),
        ]
        assert parser.parse_stream_end() == ("", "")
    finally:
        del ReasoningParser.DetectorMap["appending"]
    assert "appending" not in ReasoningParser.DetectorMap


@pytest.mark.parametrize(
    ("forced", "previous", "inside"),
    [
        (False, None, False),
        (True, None, True),
        (False, "<think>So", True),
        (True, "<think>So</think>", False),
        (True, "", True),
    ],
)
def test_the_state_at_the_start(forced: bool, previous: str | None, inside: bool) -> None:
    goes_on = previous is not None
    detector = BaseReasoningFormatDetector("<think>", "</think>", forced, True, goes_on, previous or "")
    assert detector._in_reasoning is inside
    assert (detector.previous_content, detector.previous_count) == (previous or "", len(previous or ""))
    found = detector.detect_and_parse("a</think>b")
    assert (found.reasoning_text, found.normal_text) == (("a", "b") if inside else ("", "a</think>b"))


@pytest.mark.parametrize("model", list(ReasoningParser.DetectorMap))
@pytest.mark.parametrize("forced", [None, False, True])
def test_whether_reasoning_is_open_is_told_at_any_time(model: str, forced: bool | None) -> None:
    """A text that is fed now is reasoning if it says so, and the answer if not. Some formats have it there, too."""
    text = "<think>ab</think>cd"
    spec = sg.formats.get(model).spec.reasoning
    assert spec is not None
    for cut in range(len(text)):
        detector = ReasoningParser(model, force_reasoning=forced).detector
        if cut:
            detector.parse_streaming_increment(text[:cut])
        inside = detector._in_reasoning
        found = detector.parse_streaming_increment(" plain words ")
        rest = detector.finish()
        apart = inside and spec.to == "reasoning"
        assert ("words" in found.reasoning_text + rest.reasoning_text) is apart, text[:cut]


def test_the_machine_of_reasoning_that_streams() -> None:
    detector = BaseReasoningFormatDetector("<think>", "</think>", force_reasoning=False, stream_reasoning=True)
    seen = [detector.parse_streaming_increment(chunk) for chunk in ("<th", "ink>", "one ", "two</th", "ink>three", "!")]
    assert [(one.reasoning_text, one.normal_text) for one in seen] == [
        ("", ""),
        ("", ""),
        ("one ", ""),
        ("two", ""),
        ("", "three"),
        ("", "!"),
    ]
    assert detector._in_reasoning is False
    waits = BaseReasoningFormatDetector("<think>", "</think>", force_reasoning=False, stream_reasoning=False)
    held = [waits.parse_streaming_increment(chunk) for chunk in ("<think>one ", "two", "</think>three")]
    assert [(one.reasoning_text, one.normal_text) for one in held] == [("", ""), ("", ""), ("one two", "three")]


# -- 3: calls


def test_two_results_of_one_name() -> None:
    assert core_types.StreamingParseResult is not reasoning_parser.StreamingParseResult
    plain = reasoning_parser.StreamingParseResult(normal_text="a", reasoning_text="b")
    assert (plain.normal_text, plain.reasoning_text) == ("a", "b")
    assert reasoning_parser.StreamingParseResult() == reasoning_parser.StreamingParseResult("", "")
    item = core_types.ToolCallItem(tool_index=0, name="get_weather", parameters="{}")
    found = core_types.StreamingParseResult(normal_text="a", calls=[item])
    dumped = {"tool_index": 0, "name": "get_weather", "parameters": "{}"}
    assert item.model_dump() == dumped
    assert found.model_dump() == {"normal_text": "a", "calls": [dumped]}
    assert core_types.StreamingParseResult().model_dump() == {"normal_text": "", "calls": []}
    fragment = core_types.ToolCallItem(tool_index=1, parameters="}")
    assert fragment.model_dump(exclude_none=True) == {"tool_index": 1, "parameters": "}"}
    assert item.model_copy(update={"parameters": ""}).model_dump(exclude_defaults=True) == {
        "tool_index": 0,
        "name": "get_weather",
    }
    assert found.model_dump_json() == f'{{"normal_text":"a","calls":[{item.model_dump_json()}]}}'
    assert fragment.model_dump() == {
        "tool_index": 1,
        "name": None,
        "parameters": "}",
    }


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        (
            "deepseekv3",
            "<｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n"
            '{"city": "Beijing"}\n```<｜tool▁call▁end｜>',
        ),
        ("qwen25", RAW),
        ("llama3", '<|python_tag|>get_weather.call(city="Beijing")'),
        ("mistral", '[TOOL_CALLS] [{"name": "get_weather", "arguments": {"city": "Beijing"}}]'),
    ],
)
def test_calls_as_four_formats_write_them(name: str, raw: str) -> None:
    if name == "deepseekv3":
        raw = f"<｜tool▁calls▁begin｜>{raw}<｜tool▁calls▁end｜>"
    normal, calls = FunctionCallParser(_tools(), name).parse_non_stream(raw)
    assert (normal, [(call.tool_index, call.name) for call in calls]) == ("", [(0, "get_weather")])
    assert calls[0].parameters == '{"city": "Beijing"}'


def test_what_a_new_detector_holds() -> None:
    assert inspect.isabstract(BaseFormatDetector)
    assert {"has_tool_call", "detect_and_parse", "structure_info"} == BaseFormatDetector.__abstractmethods__
    detector = sglang.Qwen25Detector()
    assert (detector._buffer, detector.prev_tool_call_arr, detector.streamed_args_for_tool) == ("", [], [])
    assert (detector.current_tool_id, detector.current_tool_name_sent) == (-1, False)


def test_what_a_detector_holds_while_calls_stream() -> None:
    detector = sglang.Qwen25Detector()
    one, rest = RAW.split('"Bei')
    name = detector.parse_streaming_increment(one, _tools())
    assert (name.calls[0].name, detector.current_tool_id, detector.current_tool_name_sent) == ("get_weather", 0, True)
    assert detector.streamed_args_for_tool == ['{"city": ']
    assert detector.prev_tool_call_arr == [{"name": "get_weather", "arguments": {}}]
    detector.parse_streaming_increment('"Bei' + rest, _tools())
    assert (detector.current_tool_id, detector.current_tool_name_sent) == (1, False)
    assert detector.streamed_args_for_tool == ['{"city": "Beijing"}']
    assert detector.prev_tool_call_arr == [{"name": "get_weather", "arguments": {"city": "Beijing"}}]
    detector.parse_streaming_increment(RAW, _tools())
    assert detector.streamed_args_for_tool == ['{"city": "Beijing"}'] * 2


# -- 4: what constrains a model


class Printed(FunctionCallParser):
    def get_structure_tag(self) -> LegacyStructuralTagResponseFormat:
        structures, triggers = [], set()
        assert self.tools is not None
        for tool in self.tools:
            function = tool.function
            info = self.detector.structure_info()(tool.function.name)
            structures.append(
                StructuresResponseFormat(
                    begin=info.begin,
                    schema=function.parameters,
                    end=info.end,
                )
            )
            triggers.add(info.trigger)
        return LegacyStructuralTagResponseFormat(
            type="structural_tag",
            structures=structures,
            triggers=list(triggers),
        )


@pytest.mark.parametrize("parser", [FunctionCallParser, Printed])
def test_the_structural_tag_of_tools(parser: type[FunctionCallParser]) -> None:
    tag = parser(_tools(), "qwen25").get_structure_tag()
    assert tag.model_dump(by_alias=True) == {
        "type": "structural_tag",
        "structures": [{"begin": BEGIN, "schema": PARAMETERS, "end": END}],
        "triggers": ["<tool_call>"],
    }
    grammar = sg.Grammar.from_structural_tag(tag.model_dump(by_alias=True))
    assert grammar.accepts(f"Let me look. {RAW}")
    assert not grammar.accepts(RAW.replace("city", "town"))


NO_TAG = {
    "PythonicDetector",
    "MiMoDetector",
    "MinimaxM2Detector",
    "Qwen3CoderDetector",
    "Step3Detector",
    "Glm4MoeDetector",
    "Glm47MoeDetector",
}


@pytest.mark.parametrize(
    "name", ["Qwen25Detector", "DeepSeekV3Detector", "Llama32Detector", "MistralDetector", *sorted(NO_TAG)]
)
def test_which_detectors_have_a_structural_tag(name: str) -> None:
    assert getattr(sglang, name)().supports_structural_tag() is (name not in NO_TAG)


@pytest.mark.parametrize(
    ("strict", "level", "choice", "kind"),
    [
        (False, ToolStrictLevel.OFF, "auto", None),
        (True, ToolStrictLevel.OFF, "auto", "structural_tag"),
        (False, ToolStrictLevel.FUNCTION, "auto", "structural_tag"),
        (False, ToolStrictLevel.PARAMETER, "auto", "structural_tag"),
        (False, ToolStrictLevel.OFF, "required", "json_schema"),
        (True, ToolStrictLevel.PARAMETER, "required", "json_schema"),
        (False, ToolStrictLevel.OFF, ToolChoice(type="function", function={"name": "get_weather"}), "json_schema"),  # type: ignore[arg-type]
        (True, ToolStrictLevel.PARAMETER, "none", None),
    ],
)
def test_what_is_chosen(strict: bool, level: ToolStrictLevel, choice: Any, kind: str | None) -> None:
    parser = FunctionCallParser(_tools(strict=strict), "qwen25", tool_strict_level=level)
    found = parser.get_structure_constraint(choice)
    assert (found and found[0]) == kind
    if found is not None and found[0] == "structural_tag":
        assert found[1] == parser.get_structure_tag()


@pytest.mark.parametrize("choice", ["auto", "required"])
def test_what_is_chosen_where_there_is_no_structural_tag(choice: str) -> None:
    parser = FunctionCallParser(_tools(strict=True), "pythonic", tool_strict_level=2)
    found = parser.get_structure_constraint(choice)
    assert (found and found[0]) == (None if choice == "auto" else "json_schema")


# -- 5: a serving layer


def _stream(tool_choice: str, deltas: list[str]) -> list[Any]:
    parsers: dict[int, Any] = {}
    written: list[Any] = []
    for delta in deltas:
        if 0 not in parsers:
            if tool_choice == "required":
                parsers[0] = JsonArrayParser()
            else:
                parsers[0] = FunctionCallParser(_tools(), "qwen25")
        normal_text, calls = parsers[0].parse_stream_chunk(delta)
        if normal_text:
            written.append(normal_text)
        written += [call.model_dump(exclude_none=True) for call in calls]
    return written


@pytest.mark.parametrize(
    ("choice", "deltas"),
    [
        ("auto", ["Wait. ", RAW[:40], RAW[40:]]),
        ("required", ['[{"name": "get_weather", ', '"parameters": {"city": "Bei', 'jing"}}]']),
    ],
)
def test_a_stream_of_text_and_calls(choice: str, deltas: list[str]) -> None:
    written = _stream(choice, deltas)
    if choice == "auto":
        assert written.pop(0) == "Wait. "
    assert written[0] == {"tool_index": 0, "name": "get_weather", "parameters": ""}
    assert "".join(piece["parameters"] for piece in written) == '{"city": "Beijing"}'


# -- 6: a scheduler


class Tokenizer:
    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        return [1] * add_special_tokens + {"</think>": [7], "◁/think▷": [3, 4, 5]}[text]


def test_the_token_that_ends_reasoning() -> None:
    tokenizer: Any = Tokenizer()
    parser = ReasoningParser(model_type="qwen3", stream_reasoning=False)
    tokenizer.think_end_id = tokenizer.encode(parser.detector.think_end_token, add_special_tokens=False)[0]
    assert tokenizer.think_end_id == 7
    assert sglang.think_end_ids(parser, tokenizer) == (7,)
    assert sglang.think_end_ids(sglang.KimiDetector(), tokenizer) == (3, 4, 5)


class Grammar:
    def __init__(self) -> None:
        self.taken: list[int] = []

    def accept_token(self, token: int) -> None:
        self.taken.append(token)

    def fill_vocab_mask(self, vocab_mask: Any, idx: int) -> None:
        vocab_mask[idx] = 1


def test_a_grammar_waits_for_the_end_of_reasoning() -> None:
    grammar = Grammar()
    reasoner = ReasonerGrammarObject(grammar, 7)  # type: ignore[arg-type]
    assert (reasoner.grammar, reasoner.think_end_id, reasoner.tokens_after_think_end) == (grammar, 7, -1)
    mask = np.zeros((2, 1), np.int32)
    states = []
    for token in (5, 6, 7, 7, 8):
        reasoner.fill_vocab_mask(mask, 1)
        states.append((int(mask[1, 0]), reasoner.tokens_after_think_end))
        reasoner.accept_token(token)
    assert states == [(-1, -1), (-1, -1), (-1, -1), (1, 0), (1, 1)]
    assert grammar.taken == [7, 8], "the end of reasoning is not shown to the grammar"
    assert reasoner.tokens_after_think_end == 2
    assert not mask[0].any(), "only the row is written"


# -- 8: every name


@pytest.mark.parametrize(
    ("name", "detector"),
    [
        ("deepseekv3", "DeepSeekV3Detector"),
        ("deepseekv31", "DeepSeekV31Detector"),
        ("deepseekv32", "DeepSeekV32Detector"),
        ("glm", "Glm4MoeDetector"),
        ("glm45", "Glm4MoeDetector"),
        ("glm47", "Glm47MoeDetector"),
        ("qwen", "Qwen25Detector"),
        ("qwen25", "Qwen25Detector"),
        ("qwen3_coder", "Qwen3CoderDetector"),
        ("gpt-oss", "GptOssDetector"),
        ("kimi_k2", "KimiK2Detector"),
        ("lfm2", "Lfm2Detector"),
        ("llama3", "Llama32Detector"),
        ("mimo", "MiMoDetector"),
        ("mistral", "MistralDetector"),
        ("pythonic", "PythonicDetector"),
        ("step3", "Step3Detector"),
        ("minimax-m2", "MinimaxM2Detector"),
        ("trinity", "TrinityDetector"),
        ("interns1", "InternlmDetector"),
        ("hermes", "HermesDetector"),
        ("gigachat3", "GigaChat3Detector"),
    ],
)
def test_every_name_of_a_parser_of_calls(name: str, detector: str) -> None:
    found = FunctionCallParser.ToolCallParserEnum[name]
    assert found is getattr(sglang, detector)
    assert issubclass(found, BaseFormatDetector)
    assert found.__name__ == detector
