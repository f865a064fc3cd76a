"""Tokens predicted by jump-forward, with the shipped vocabulary; `tests/external` has others."""

from __future__ import annotations

from pathlib import Path

import pytest

import syntagma
from syntagma.decoding import GrammarCompiler, GrammarMatcher, TokenizerInfo
from syntagma.grammars import Grammar
from tests.decoding.jumps import wrong_jumps

tokenizers = pytest.importorskip("tokenizers")
PATH = Path(syntagma.__file__).parent / "embedded" / "data" / "tokenizer.json"


def encode(text: str) -> list[int]:
    return list(TOKENIZER.encode(text, add_special_tokens=False).ids)


TOKENIZER = tokenizers.Tokenizer.from_file(str(PATH))
INFO = TokenizerInfo.from_tokenizer_json(PATH)


def test_predicted_tokens_are_those_of_every_continuation() -> None:
    predicted = 0
    for count, problem in wrong_jumps(INFO, encode, texts=250, seed=11):
        assert problem is None, problem
        predicted += count
    assert predicted > 500


def test_a_schema_tells_its_keys() -> None:
    schema = {
        "type": "object",
        "properties": {
            "location": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        },
        "required": ["location"],
        "additionalProperties": False,
    }
    grammar = Grammar.from_json_schema(schema, whitespace="compact")
    matcher = GrammarMatcher(GrammarCompiler(INFO).compile(grammar))
    forced = matcher.find_jump_forward_bytes()
    ids = matcher.jump_forward_tokens(encode)
    assert ids
    assert forced.startswith(INFO.decode(ids))
    for token in ids:
        assert matcher.accept_token(token)


def test_errors_of_the_tokenizer_come_through() -> None:
    matcher = GrammarMatcher(GrammarCompiler(INFO).compile(Grammar.literal("one two three")))

    def broken(text: str) -> list[int]:
        raise RuntimeError(f"no {text!r} today")

    with pytest.raises(RuntimeError, match="today"):
        matcher.jump_forward_tokens(broken)
    assert matcher.jump_forward_tokens(lambda text: encode(" " + text)) == []
    assert matcher.find_jump_forward_bytes() == b"one two three"
