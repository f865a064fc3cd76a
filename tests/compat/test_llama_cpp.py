"""The fields of a request to llama.cpp's server: what they hold, and what is refused by name."""

from __future__ import annotations

import re
from typing import Any

import pytest

import syntagma as sg
from syntagma.compat.llama_cpp import TRIGGER_PATTERN, TRIGGER_WORD, request_fields, special_tokens

TOOL: dict[str, Any] = {
    "name": "set_timer",
    "parameters": {
        "type": "object",
        "properties": {"minutes": {"enum": [1, 2]}},
        "required": ["minutes"],
        "additionalProperties": False,
    },
}
TEMPLATE = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% if enable_thinking %}<think>{% endif %}{% endif %}"
)
MESSAGES = [{"role": "user", "content": "A timer, please"}]
INFO = sg.TokenizerInfo.from_tokens(
    [*(bytes([byte]) for byte in range(256)), b"<eos>", b"<tool_call>", b"</tool_call>", b"<think>", b"</think>"],
    eos_token_ids=[256],
    special_token_ids=[256, 257],
    added_token_ids=[258, 259, 260],
)


def turn(name: str = "hermes", **request: Any) -> sg.Turn:
    return turn_of(sg.formats.get(name), **request)


def turn_of(fmt: sg.ChatFormat, **request: Any) -> sg.Turn:
    return sg.ChatCodec(fmt, sg.ChatTemplate(TEMPLATE)).prepare(MESSAGES, **{"tools": [TOOL], **request})


def test_markers_are_text_without_the_vocabulary_and_tokens_with_it() -> None:
    call = turn(tool_choice="required")
    text, tokens = request_fields(call), request_fields(call, vocabulary=INFO)
    assert '"<tool_call>"' in text["grammar"]
    assert "<[257]>" in tokens["grammar"]
    assert '"<tool_call>"' not in tokens["grammar"]
    assert "<tool_call>" in text["preserved_tokens"]
    assert text["preserved_tokens"] == tokens["preserved_tokens"]
    assert set(text) == {"grammar", "preserved_tokens"}
    written = '<tool_call>\n{"name": "set_timer", "arguments": {"minutes": 1}}\n</tool_call>'
    assert sg.Grammar.from_gbnf(text["grammar"]).accepts(written)


def test_a_token_inside_of_a_marker_is_a_token() -> None:
    grammar = sg.Grammar.concat(sg.Grammar.marker("\n<think>now"), sg.Grammar.literal("x"))
    fields = request_fields(grammar, vocabulary=INFO)
    assert '"\\n" <[259]> "now"' in fields["grammar"]
    assert request_fields(grammar)["preserved_tokens"] == ["\n<think>now"]


def test_lazy_fields_name_each_trigger_and_preserve_it() -> None:
    lazy = request_fields(turn("gpt-oss"), lazy=True)
    assert lazy["grammar_lazy"] is True
    triggers = sg.formats.get("gpt-oss").triggers
    found = [
        re.fullmatch(trigger["value"], text) for trigger, text in zip(lazy["grammar_triggers"], triggers, strict=True)
    ]
    assert all(found)
    assert {trigger["type"] for trigger in lazy["grammar_triggers"]} == {TRIGGER_PATTERN}
    assert set(triggers) <= set(lazy["preserved_tokens"])
    [marker] = request_fields(turn("hermes"), lazy=True)["grammar_triggers"]
    assert marker == {"type": TRIGGER_WORD, "value": "<tool_call>"}
    grammar = sg.Grammar.from_gbnf(lazy["grammar"])
    assert grammar.accepts('<|channel|>commentary to=functions.set_timer<|message|>{"minutes": 1}<|call|>')
    assert not grammar.accepts("Hello")


def test_triggers_inside_of_reasoning_do_not_count() -> None:
    lazy = request_fields(turn("step3"), lazy=True)
    assert lazy["reasoning_budget_end_tags"] == ["</think>"]
    assert lazy["reasoning_budget_start_tag"] == "<think>"
    [trigger] = lazy["grammar_triggers"]
    assert trigger == {"type": TRIGGER_PATTERN, "value": "(?:</think>)[\\s\\S]*?(<｜tool_calls_begin｜>)"}
    over = request_fields(turn("step3", reasoning="closed"), lazy=True)
    assert over["grammar_triggers"] == [{"type": TRIGGER_WORD, "value": "<｜tool_calls_begin｜>"}]
    assert "reasoning_budget_start_tag" not in request_fields(turn("hermes"), lazy=True)


def test_nothing_is_held_where_the_turn_constrains_nothing() -> None:
    assert set(request_fields(turn(tools=None))) == {"preserved_tokens"}
    assert "grammar" not in request_fields(turn(tool_choice="none"), lazy=True)


@pytest.mark.parametrize(
    "request_of_turn",
    [
        {"tool_choice": "required"},
        {"response_format": {"type": "json_object"}},
    ],
)
def test_what_must_come_is_not_enforced_lazily(request_of_turn: dict[str, Any]) -> None:
    with pytest.raises(sg.FormatError, match="lazily") as caught:
        request_fields(turn(**request_of_turn), lazy=True)
    assert caught.value.code == "E-FORMAT-UNSUPPORTED"


def test_bounds_and_ends_inside_are_refused_by_name() -> None:
    bounded = sg.Grammar.labelled("thought", sg.Grammar.from_regex("a*")).bounded("thought", tokens=3)
    with pytest.raises(sg.GrammarError, match="'thought' to 3 tokens") as caught:
        request_fields(bounded)
    assert caught.value.code == "E-GRAMMAR-UNPRINTABLE"
    ended = sg.Grammar.concat(sg.Grammar.marker("<eos>"), sg.Grammar.literal("x"))
    with pytest.raises(sg.GrammarError, match="<eos>") as caught:
        request_fields(ended, vocabulary=INFO)
    assert caught.value.code == "E-GRAMMAR-UNPRINTABLE"
    with pytest.raises(sg.FormatError, match="triggers"):
        request_fields(ended, lazy=True)


@pytest.mark.parametrize("wrong", [None, 3, "root ::= 'a'", {}])
def test_wrong_sources_are_typed_errors(wrong: Any) -> None:
    with pytest.raises(sg.errors.ArgumentTypeError):
        request_fields(wrong)
    with pytest.raises(sg.errors.ArgumentError):
        request_fields(sg.Grammar.json(), vocabulary=wrong or 1)


def test_special_tokens_are_those_with_text() -> None:
    assert special_tokens(INFO)["</tool_call>"] == 258
    assert "a" not in special_tokens(INFO)
