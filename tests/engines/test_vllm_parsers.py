"""vLLM's own composition drives our two parsers: what it hands to clients is what our parser reads."""

from __future__ import annotations

import json
from typing import Any

import pytest

import syntagma as sg
from syntagma import formats
from syntagma.formats import ChatFormat
from tests.engines.response_templates import ANCHOR, CodePoints, Read, canonical, cases, prompt_of
from tests.formats.cases import TOOLS, Loaded

pytest.importorskip("vllm")

from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.exceptions import VLLMValidationError
from vllm.parser.parser_manager import ParserManager
from vllm.reasoning import ReasoningParserManager
from vllm.sampling_params import SamplingParams, StructuredOutputsParams
from vllm.tool_parsers import ToolParserManager
from vllm.v1.structured_output.backend_xgrammar import validate_xgrammar_grammar

from syntagma.integrations.vllm import NAME, parsers_for, register

CASES = list(cases())
CALL = '<tool_call>\n{"name": "clock", "arguments": {}}\n</tool_call>'
HERMES = formats.get("qwen25-qwen3") if "qwen25-qwen3" in formats.names() else formats.get("qwen25", "qwen3")


def composed(fmt: ChatFormat, *, reasoning: bool = True) -> Any:
    """vLLM's parser class of a turn over our parsers."""
    tools, thoughts = parsers_for(fmt)
    ToolParserManager.register_module("ours", module=tools)
    ReasoningParserManager.register_module("ours", module=thoughts)
    return ParserManager.get_parser("ours", "ours" if reasoning else None, enable_auto_tools=True, model_name="m")


def request_for(**fields: Any) -> Any:
    return ChatCompletionRequest(**{"messages": [{"role": "user", "content": "."}], "tools": TOOLS, **fields})


def streamed(parser: Any, request: Any, prompt: list[int], text: str, size: int) -> Read:
    """What clients put together of the server's lines, which hold only fields that were given."""
    reasoning = content = ""
    calls: list[list[str]] = []
    pieces = [text[start : start + size] for start in range(0, len(text), size)] or [""]
    for number, piece in enumerate(pieces, 1):
        ids = [ord(character) for character in piece]
        delta = parser.parse_delta(piece, ids, request, prompt if number == 1 else None, finished=number == len(pieces))
        fields = json.loads(delta.model_dump_json(exclude_unset=True)) if delta is not None else {}
        reasoning += fields.get("reasoning") or ""
        content += fields.get("content") or ""
        for part in fields.get("tool_calls") or []:
            if part["index"] == len(calls):
                assert part["id"]
                calls.append([part["function"]["name"], ""])
            calls[part["index"]][1] += part["function"].get("arguments") or ""
    return Read(reasoning, content, tuple((name, canonical(arguments)) for name, arguments in calls))


def expected(case: Loaded, prompt: str) -> Read:
    message = case.fmt.parse(case.case.raw, TOOLS, prompt=prompt, template_kwargs=case.case.template_kwargs)
    calls = tuple((call.name, canonical(call.arguments)) for call in message.tool_calls)
    return Read(message.reasoning_content or "", message.content or "", calls)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_client_gets_what_our_parser_reads(case: Loaded) -> None:
    prompt = prompt_of(case.fmt, case.case, case.fmt.spec.anchor or ANCHOR)
    parser_of = composed(case.fmt)
    request = request_for(chat_template_kwargs=case.case.template_kwargs)
    ids = [ord(character) for character in prompt]
    wanted = expected(case, prompt)
    for size in (1, 7, 1000):
        parser = parser_of(CodePoints({}), request.tools, chat_template_kwargs=case.case.template_kwargs)
        assert streamed(parser, request, ids, case.case.raw, size) == wanted
    parser = parser_of(CodePoints({}), request.tools, chat_template_kwargs=case.case.template_kwargs)
    parser.set_prompt_token_ids(ids)
    reasoning, content, calls = parser.parse(case.case.raw, request, enable_auto_tools=True)
    found = tuple((call.name, canonical(call.arguments)) for call in calls or [])
    # vLLM drops blank content beside calls.
    blank = bool(found) and not wanted.content.strip()
    assert Read(reasoning or "", content or "", found) == (wanted._replace(content="") if blank else wanted)


def test_a_turn_that_may_not_call_has_text() -> None:
    request = request_for(tool_choice="none")
    parser_of = composed(HERMES)
    found = streamed(parser_of(CodePoints({}), request.tools), request, [], CALL, 3)
    assert found == Read("", CALL, ())
    reasoning, content, calls = parser_of(CodePoints({}), request.tools).parse(CALL, request, enable_auto_tools=True)
    assert (reasoning, content, calls or []) == (None, CALL, [])


def test_without_a_reasoning_parser_reasoning_is_content() -> None:
    request = request_for()
    parser = composed(HERMES, reasoning=False)(CodePoints({}), request.tools)
    found = streamed(parser, request, [], f"<think>Hm.</think>Yes.{CALL}", 4)
    assert found == Read("", "<think>Hm.</think>Yes.", (("clock", "{}"),))


@pytest.mark.parametrize("prompt", ["(p)", "(p)<think>", "(p)<think>\n\n</think>\n\n"])
def test_the_engine_is_told_when_reasoning_is_over(prompt: str) -> None:
    _, thoughts = parsers_for(HERMES)
    reasoner = thoughts(CodePoints({}))
    assert reasoner.is_reasoning_end(reasoner.model_tokenizer.encode(prompt)) == prompt.endswith("</think>\n\n")
    output = [ord(character) for character in "Hm.</think>Yes."]
    assert thoughts(CodePoints({})).count_reasoning_tokens([]) == 0
    opened = thoughts(CodePoints({}))
    opened.set_prompt_token_ids([ord(character) for character in "(p)<think>"])
    assert "".join(map(chr, opened.extract_content_ids(output))) == "Yes."
    assert 3 <= opened.count_reasoning_tokens(output) <= len("Hm.</think>")
    assert (opened.reasoning_start_str, opened.reasoning_end_str) == ("<think>", "</think>")


def adjusted(request: Any, *, prompt: str = "(p)", fmt: ChatFormat = HERMES) -> Any:
    parser = composed(fmt)(CodePoints({}), request.tools)
    parser.set_prompt_token_ids([ord(character) for character in prompt])
    return parser.adjust_request(request)


def held(request: Any) -> sg.Grammar:
    """What the engine holds an adjusted request to; stock vLLM must take it."""
    params = request.extract_structured_outputs()
    validate_xgrammar_grammar(SamplingParams(structured_outputs=params))
    assert request._grammar_from_parser
    return sg.Grammar.from_structural_tag(params.structural_tag)


@pytest.mark.parametrize(
    ("choice", "texts"),
    [
        ("auto", {"Yes.": True, CALL: True, CALL.replace("clock", "cloak"): False}),
        ("required", {"Yes.": False, CALL: True, f"<think>Hm.</think>{CALL}": True}),
        ({"type": "function", "function": {"name": "weather"}}, {"Yes.": False, CALL: False}),
        ("none", {"Yes.": True, CALL: False}),
    ],
)
def test_the_whole_turn_is_held(choice: Any, texts: dict[str, bool]) -> None:
    request = adjusted(request_for(tool_choice=choice))
    assert request.skip_special_tokens is False
    grammar = held(request)
    assert {text: grammar.accepts(text) for text in texts} == texts


def test_the_grammar_begins_where_the_prompt_ends() -> None:
    opened = held(adjusted(request_for(tool_choice="required"), prompt="(p)<think>"))
    assert opened.accepts(f"Hm.</think>{CALL}")
    assert not opened.accepts(CALL)


SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}


@pytest.mark.parametrize(
    ("fields", "good", "bad"),
    [
        ({"response_format": {"type": "json_object"}}, "{}", "no"),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "r", "schema": SCHEMA}}},
            '{"n": 1}',
            '{"n": "x"}',
        ),
        ({"structured_outputs": {"json": SCHEMA}}, '{"n": 1}', "{}"),
        ({"structured_outputs": {"regex": "[ab]{2}"}}, "ab", "abc"),
        ({"structured_outputs": {"choice": ["yes", "no"]}}, "no", "maybe"),
        ({"structured_outputs": {"grammar": 'root ::= "yes" | "no"'}}, "yes", "y"),
        ({"structured_outputs": {"grammar": 'start: "yes" | "no"'}}, "yes", "y"),
        (
            {
                "structured_outputs": {
                    "structural_tag": json.dumps(
                        {"type": "structural_tag", "format": {"type": "const_string", "value": "hi"}}
                    )
                }
            },
            "hi",
            "ho",
        ),
    ],
    ids=str,
)
def test_what_the_client_asked_of_the_answer_is_in_the_turn(fields: dict[str, Any], good: str, bad: str) -> None:
    for tools in (TOOLS, None):
        grammar = held(adjusted(request_for(tools=tools, **fields)))
        assert grammar.accepts(good)
        assert grammar.accepts(f"<think>Hm.</think>{good}")
        assert not grammar.accepts(bad)
        assert grammar.accepts(CALL) == (tools is not None)


def test_nothing_is_held_where_nothing_is_asked() -> None:
    request = adjusted(request_for(tools=None))
    assert request.extract_structured_outputs() is None
    assert not request._grammar_from_parser


def test_a_wrong_request_is_refused() -> None:
    bad = StructuredOutputsParams(regex="(")
    with pytest.raises(VLLMValidationError, match="E-REGEX"):
        adjusted(request_for(structured_outputs=bad))


def test_the_names_are_registered_and_read_the_template(monkeypatch: pytest.MonkeyPatch) -> None:
    register()
    register()
    assert NAME in ToolParserManager.list_registered()
    assert NAME in ReasoningParserManager.list_registered()
    monkeypatch.setenv("SYNTAGMA_FORMAT", "qwen25")
    parser_of = ParserManager.get_parser(NAME, NAME, enable_auto_tools=True, model_name="m", tokenizer=CodePoints({}))
    request = request_for()
    assert streamed(parser_of(CodePoints({}), request.tools), request, [], CALL, 5).calls == (("clock", "{}"),)
    monkeypatch.delenv("SYNTAGMA_FORMAT")
    with pytest.raises(TypeError, match="E-ARGUMENT-FORMAT"):
        ParserManager.get_parser(NAME, NAME, enable_auto_tools=True, model_name="m", tokenizer=CodePoints({}))
