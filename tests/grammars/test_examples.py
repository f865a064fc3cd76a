"""Random texts of a grammar are its texts."""

from __future__ import annotations

import pytest

from syntagma import formats
from syntagma.errors import ArgumentError, GrammarError
from syntagma.grammars import Grammar

GRAMMARS = {
    "pattern": Grammar.from_regex("(?s:.*)"),
    "recursion": Grammar.from_ebnf('start ::= "(" (start | #"[0-9]"{1,2} % ",") ")" ;'),
    "tokens": Grammar.from_ebnf('start ::= (<|call|> #"[a-z]+" | #"[0-9]+") @marker("<end>") ;'),
    "schema": Grammar.from_json_schema({"type": "object", "properties": {"a": {"type": "array"}}, "required": ["a"]}),
}


@pytest.mark.parametrize("name", GRAMMARS)
def test_each_is_accepted_and_another(name: str) -> None:
    texts = GRAMMARS[name].examples(20)
    assert len(set(texts)) == len(texts) == 20
    for text in texts:
        assert GRAMMARS[name].accepts(text), text
    assert GRAMMARS[name].examples(20) == texts
    assert GRAMMARS[name].examples(20, seed=1) != texts


@pytest.mark.parametrize("name", formats.names())
def test_those_of_a_turn_are_turns(name: str) -> None:
    tool = {"name": "clock", "parameters": {"type": "object", "properties": {"zone": {"type": "string"}}}}
    grammar = formats.get(name).grammar([tool])
    for text in grammar.examples(5):
        assert grammar.accepts(text), text


def test_tokens_and_text_are_both_drawn() -> None:
    assert {text.startswith("<|call|>") for text in GRAMMARS["tokens"].examples(20)} == {True, False}


def test_a_grammar_of_few_texts_gives_all_of_them() -> None:
    assert sorted(Grammar.from_choices(["no", "yes", ""]).examples(10)) == ["", "no", "yes"]
    assert Grammar.from_ebnf('start ::= "a" start ;').examples(3) == ()


def test_wrong_values() -> None:
    with pytest.raises(ArgumentError):
        Grammar.literal("a").examples(0)
    with pytest.raises(GrammarError):
        Grammar.from_ebnf("start ::= @token(3) ;").examples()
