"""SGLang's own parsers and classes drive ours: what it hands to clients is what our parser reads."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import syntagma as sg
from syntagma.formats import ChatFormat
from tests.engines.response_templates import CodePoints, Read, canonical, cases
from tests.formats.cases import TOOLS, Loaded

pytest.importorskip("sglang")

from sglang.srt.arg_groups.choices import GRAMMAR_BACKEND_CHOICES
from sglang.srt.constrained.base_grammar_backend import (
    GRAMMAR_BACKEND_REGISTRY,
    GrammarRow,
    InvalidGrammarObject,
)
from sglang.srt.entrypoints.openai.protocol import Tool, ToolChoice
from sglang.srt.function_call.function_call_parser import FunctionCallParser
from sglang.srt.parser.reasoning_parser import ReasoningParser
from transformers import AutoTokenizer

import torch
from syntagma.integrations.sglang import NAME, register
from tests.engines.model_files import write_folder

CASES = [case for case in cases() if case.fmt.spec.tools is not None and case.case.prompt is None]
TOOL_MODELS = [Tool(**tool) for tool in TOOLS]
CALL = '<tool_call>\n{"name": "clock", "arguments": {}}\n</tool_call>'


@pytest.fixture(autouse=True)
def _registered() -> None:
    register()
    register()


def named(fmt: ChatFormat, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> CodePoints:
    """A tokenizer of a model that writes a format."""
    file = tmp_path / "format.toml"
    file.write_text(fmt.to_toml())
    monkeypatch.setenv("SYNTAGMA_FORMAT", str(file))
    return CodePoints({})


def test_the_names_are_registered_once() -> None:
    assert GRAMMAR_BACKEND_CHOICES.count(NAME) == 1
    assert NAME in GRAMMAR_BACKEND_REGISTRY
    assert NAME in ReasoningParser.DetectorMap
    assert NAME in FunctionCallParser.ToolCallParserEnum


@pytest.mark.parametrize("size", [1, 7, 1000, 0], ids=["characters", "pieces", "one piece", "whole"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_client_gets_what_our_parser_reads(
    case: Loaded, size: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of calls and of what is none of them, reasoning included; unknown tools are passed on."""
    monkeypatch.setenv("SGLANG_FORWARD_UNKNOWN_TOOLS", "1")
    tokenizer = named(case.fmt, monkeypatch, tmp_path)
    parser = FunctionCallParser(TOOL_MODELS, NAME, tokenizer=tokenizer)
    text, raw = "", case.case.raw
    if size:
        pieces = [parser.parse_stream_chunk(raw[start : start + size]) for start in range(0, len(raw), size)]
        pieces.append(parser.parse_stream_end())
        text = "".join(piece for piece, _ in pieces)
        items = [item for _, found in pieces for item in found]
    else:
        text, items = parser.parse_non_stream(raw)
    calls: list[list[str]] = []
    for item in items:
        if item.name is not None:
            calls.append([item.name, ""])
        assert item.tool_index == len(calls) - 1
        calls[-1][1] += item.parameters
    message = case.fmt.parse(raw, TOOLS)
    wanted = tuple((call.name, canonical(call.arguments)) for call in message.tool_calls)
    assert tuple((name, canonical(arguments)) for name, arguments in calls) == wanted
    # Reasoning stays where it was written, for the other parser; a whole text without calls comes back as it is.
    assert text == raw or message.reasoning_content or (message.content or "") in text


@pytest.mark.parametrize("stream", [False, True])
def test_reasoning_and_the_rest(stream: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tokenizer = named(sg.formats.get("qwen3"), monkeypatch, tmp_path)
    parser = ReasoningParser(NAME, tokenizer=tokenizer)
    text = f"<think>\nHm.\n</think>\n\nYes.{CALL}"
    if stream:
        pieces = [*map(parser.parse_stream_chunk, text), parser.parse_stream_end()]
        reasoning, rest = ("".join(part or "" for part in parts) for parts in zip(*pieces, strict=True))
    else:
        found = parser.parse_non_stream(text)
        reasoning, rest = found[0] or "", found[1] or ""
    assert Read(reasoning.strip(), rest.strip(), ()) == Read("Hm.", f"Yes.{CALL}", ())
    assert parser.detector.get_think_end_token_ids(tokenizer) == tokenizer.encode("</think>")


def test_what_the_prompt_opened_is_reasoning(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tokenizer = named(sg.formats.get("qwen3"), monkeypatch, tmp_path)
    assert ReasoningParser(NAME, force_reasoning=True, tokenizer=tokenizer).parse_non_stream("Hm.</think>Yes.") == (
        "Hm.",
        "Yes.",
    )


NAMED = ToolChoice(function={"name": "weather"})


@pytest.mark.parametrize(
    ("choice", "texts"),
    [
        ("auto", {"Yes.": True, CALL: True, CALL.replace("clock", "cloak"): False}),
        ("required", {"Yes.": False, CALL: True}),
        (NAMED, {"Yes.": False, CALL: False}),
    ],
    ids=["auto", "required", "named"],
)
def test_the_turn_is_held_by_a_structural_tag(
    choice: Any, texts: dict[str, bool], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tokenizer = named(sg.formats.get("qwen25"), monkeypatch, tmp_path)
    parser = FunctionCallParser(TOOL_MODELS, NAME, tokenizer=tokenizer)
    assert parser.owns_tool_format()
    kind, tag = parser.get_structure_constraint(choice) or ("", None)
    assert kind == "structural_tag"
    grammar = sg.Grammar.from_structural_tag(json.dumps(tag.model_dump(by_alias=True)))
    assert {text: grammar.accepts(text) for text in texts} == texts


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return AutoTokenizer.from_pretrained(write_folder(tmp_path_factory.mktemp("model") / "model"))


SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}
TAG = {"type": "structural_tag", "format": {"type": "const_string", "value": "<tool_call>"}}
ASKED = {
    "json": (("json", json.dumps(SCHEMA)), '{"a": 1}'),
    "any json": (("json", "$$ANY$$"), '{"b": []}'),
    "regex": (("regex", "[0-9]{3}"), "123"),
    "ebnf": (("ebnf", 'root ::= "yes" | "no"'), "no"),
    "tag": (("structural_tag", json.dumps(TAG)), "<tool_call>"),
}


def made(backend: Any, key: tuple[str, str], *, reasoning: bool) -> Any:
    """The grammar of a request; asked for a second time it comes from the cache."""
    value, hit = backend.get_cached_or_future_value(key, reasoning)
    grammar = value if hit else value.result(60)
    if not hit and not isinstance(grammar, InvalidGrammarObject):
        backend.set_cache(key, grammar.copy())
        assert backend.get_cached_or_future_value(key, reasoning)[1]
    return grammar


def allowed(grammar: Any, size: int) -> set[int]:
    mask = grammar.allocate_vocab_mask(size, 2, "cpu")
    grammar.reset_vocab_mask(mask)
    grammar.fill_vocab_mask_batched([GrammarRow(1, grammar)], mask)
    assert (mask[0] == -1).all()
    logits = torch.zeros(2, size)
    grammar.apply_vocab_mask(logits=logits, vocab_mask=grammar.move_vocab_mask(mask, "cpu"))
    assert (logits[0] == 0).all()
    return set((logits[1] == 0).nonzero().flatten().tolist())


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("reasoning", [False, True], ids=["answer", "reasoning"])
def test_each_kind_is_held_where_reasoning_is_over(tokenizer: Any, name: str, reasoning: bool) -> None:
    size, end = len(tokenizer), tokenizer.eos_token_id
    backend = GRAMMAR_BACKEND_REGISTRY[NAME](SimpleNamespace(reasoning_parser=NAME), tokenizer, size, {end})
    key, good = ASKED[name]
    for grammar in (made(backend, key, reasoning=reasoning), made(backend, key, reasoning=reasoning)):
        if reasoning:
            for token in tokenizer.encode("Hm, 1.</think>", add_special_tokens=False):
                assert len(allowed(grammar, size)) == size
                grammar.accept_token(token)
        tokens = tokenizer.encode(good, add_special_tokens=False)
        for token in [*tokens, end]:
            assert token in allowed(grammar, size)
            grammar.accept_token(token)
        assert grammar.is_terminated()
        grammar.accept_token(end)
        grammar.rollback(2)
        assert not grammar.is_terminated()
        assert end in allowed(grammar, size)
        bad = next(token for token in range(size) if token not in allowed(grammar, size))
        with pytest.raises(ValueError, match="E-ARGUMENT-TOKEN"):
            grammar.accept_token(bad)
        assert grammar.try_jump_forward(tokenizer) is None


@pytest.mark.parametrize("key", [("json", "{"), ("regex", "("), ("ebnf", "root ::= ("), ("structural_tag", "{}")])
def test_what_cannot_be_read_is_said(tokenizer: Any, key: tuple[str, str]) -> None:
    backend = GRAMMAR_BACKEND_REGISTRY[NAME](SimpleNamespace(reasoning_parser=None), tokenizer, len(tokenizer), None)
    found = made(backend, key, reasoning=False)
    assert isinstance(found, InvalidGrammarObject)
    assert found.error_message.startswith("E-")
