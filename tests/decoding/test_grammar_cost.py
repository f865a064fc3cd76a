"""What grammars and keywords cost."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import syntagma as sg
from syntagma.decoding import grammar_cost, keyword_costs
from syntagma.errors import ArgumentError
from syntagma.json_pointer import follow

SCHEMA: dict[str, Any] = {
    "$defs": {"name": {"type": "string", "maxLength": 30}},
    "type": "object",
    "title": "T",
    "properties": {
        "a/b": {"type": "string", "pattern": "^[a-z]{1,40}$"},
        "pattern": {"enum": [f"value number {n * n}" for n in range(3000)]},
        "names": {"type": "array", "items": {"$ref": "#/$defs/name"}, "maxItems": 3},
    },
    "required": ["pattern"],
    "additionalProperties": False,
}


def test_the_shortest_text_is_one_of_the_grammar() -> None:
    grammar = sg.Grammar.from_json_schema(SCHEMA)
    cost = grammar_cost(grammar)
    assert cost.shortest is not None
    assert grammar.accepts(cost.shortest)
    assert cost.shortest_tokens == len(cost.shortest.encode())
    assert cost.typical_tokens is not None
    assert cost.typical_tokens >= cost.shortest_tokens
    assert cost.compiled_bytes == cost.compiled["bytes"] > 0
    assert grammar_cost(grammar).typical_tokens == cost.typical_tokens, "the texts are always the same"


@settings(max_examples=30)
@given(st.lists(st.text("ab", min_size=1, max_size=30), min_size=1, max_size=5))
def test_tokens_of_choices_lie_between_the_shortest_and_the_longest(texts: list[str]) -> None:
    cost = grammar_cost(sg.Grammar.from_choices(texts))
    sizes = [len(text) for text in texts]
    assert cost.shortest_tokens == min(sizes)
    assert cost.typical_tokens is not None
    assert min(sizes) <= cost.typical_tokens <= max(sizes)


def test_the_dearest_keyword_comes_first() -> None:
    costs = keyword_costs(SCHEMA, seconds=60)
    assert costs.keywords[0].pointer == "#/properties/pattern/enum"
    assert costs.keywords[0].milliseconds > 0
    assert costs.left == 0
    for one in costs.keywords:
        follow(SCHEMA, one.pointer[1:])
    told = {one.pointer for one in costs.keywords}
    assert {"#/properties/a~1b/pattern", "#/properties/names/maxItems", "#/$defs/name/maxLength"} <= told
    assert not any(pointer.endswith(("/title", "/type", "/properties/pattern")) for pointer in told)


def test_work_is_bounded() -> None:
    costs = keyword_costs(SCHEMA, most=2, seconds=60)
    assert (costs.tried, costs.left) == (2, 4)
    assert {one.pointer for one in costs.keywords} == {"#/required", "#/additionalProperties"}
    assert keyword_costs(SCHEMA, seconds=1e-9).tried == 0
    with pytest.raises(ArgumentError):
        keyword_costs(SCHEMA, most=0)


def test_long_texts_are_warned_of() -> None:
    cost = grammar_cost(sg.Grammar.literal("x" * 600))
    (warning,) = [one for one in cost.warnings if one.figure == "shortest_tokens"]
    assert (warning.value, warning.limit) == (600, 512)
    assert grammar_cost(sg.Grammar.literal("x" * 10)).warnings == ()


def test_special_tokens_are_walked_through() -> None:
    tokens = [bytes([byte]) for byte in range(256)] + [b"<end>", b"<call>"]
    info = sg.TokenizerInfo.from_tokens(tokens, eos_token_ids=[256], special_token_ids=[257])
    cost = grammar_cost(sg.Grammar.concat(sg.Grammar.token("<call>"), sg.Grammar.literal("abc")), info)
    assert cost.shortest_tokens == cost.typical_tokens == 4
