"""What an explanation says may come is accepted, and what it calls out is masked."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import syntagma as sg
from syntagma.decoding import allocate_token_bitmask
from syntagma.errors import ArgumentError

TOKENS = [bytes([byte]) for byte in range(256)] + [b"<end>", b"<call>", b'": "', b'"}', b"true", b"ab", b",", b"</"]
INFO = sg.TokenizerInfo.from_tokens(TOKENS, eos_token_ids=[256], special_token_ids=[257])
COMPILER = sg.GrammarCompiler(INFO)
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type":
    "string"}, "b": {"enum": ["x", 12]}}, "required": ["a"]}}}]  # fmt: skip
LEAVES: list[dict[str, Any]] = [
    {"type": "string", "maxLength": 3},
    {"type": "integer"},
    {"enum": ["ab", "ac", None]},
    {"const": "x"},
    {"type": "string", "pattern": "^[a-c]{2}$"},
]


@st.composite
def grammars(draw: st.DrawFn) -> sg.Grammar:
    kind = draw(st.sampled_from(["schema", "choices", "special", "format"]))
    if kind == "schema":
        properties = draw(st.dictionaries(st.sampled_from("abcd"), st.sampled_from(LEAVES), min_size=1))
        required = draw(st.lists(st.sampled_from(sorted(properties)), unique=True))
        return sg.Grammar.from_json_schema({"type": "object", "properties": properties, "required": required})
    if kind == "choices":
        return sg.Grammar.from_choices(draw(st.lists(st.text("abé", min_size=1, max_size=5), min_size=1, max_size=4)))
    if kind == "special":
        return sg.Grammar.concat(sg.Grammar.token("<call>"), sg.Grammar.from_regex("[a-z]+(true)?"))
    return sg.formats.get(draw(st.sampled_from(["hermes", "qwen3_coder", "pythonic", "gpt-oss"]))).grammar(TOOLS)


@settings(max_examples=80, deadline=None)
@given(grammar=grammars(), seed=st.integers(0, 10_000), length=st.integers(0, 30))
def test_words_and_masks_agree(grammar: sg.Grammar, seed: int, length: int) -> None:
    matcher = sg.GrammarMatcher(COMPILER.compile(grammar))
    draws = random.Random(seed)
    mask = allocate_token_bitmask(1, INFO.vocab_size)
    for _ in range(length + 1):
        matcher.fill_next_token_bitmask(mask)
        allowed = np.unpackbits(mask[0].view(np.uint8), bitorder="little")[: INFO.vocab_size].astype(bool)
        told = matcher.explain()
        for expected in told.expected:
            if expected.kind == "literal":
                assert matcher.fork().accept_bytes(expected.text.encode()), expected
            elif expected.kind == "token":
                assert allowed[TOKENS.index(expected.text.encode())], expected
            elif expected.kind == "end":
                assert allowed[256]
        assert bool(told.expected) == bool(allowed.any())
        for token in range(INFO.vocab_size):
            verdict = matcher.explain(token).token if token > 250 or token % 7 == 0 else None
            if verdict is not None:
                assert verdict.allowed == allowed[token], (token, verdict)
                assert verdict.message
        assert json.loads(sg_json(told))["expected"] is not None
        assert "may come" in str(told)
        following = np.flatnonzero(allowed)
        if not following.size or matcher.is_terminated() or not matcher.accept_token(int(draws.choice(following))):
            return
        if matcher.is_terminated():
            return


def sg_json(value: Any) -> bytes:
    import msgspec

    return msgspec.json.encode(value)


def test_a_text_is_told_where_it_dies() -> None:
    matcher = sg.GrammarMatcher(COMPILER.compile(sg.Grammar.from_choices(["yes", "yellow"])))
    told = matcher.explain("year")
    assert [str(one) for one in told.expected] == ["literal 'ye'"]
    assert told.token is not None
    assert (told.token.reason, told.token.at) == ("dies", 2)
    assert "'a' cannot follow after 'ye'" in str(told)
    assert matcher.explain(257).token == matcher.explain(257).token
    with pytest.raises(ArgumentError):
        matcher.explain("")


def test_after_the_end_nothing_may_come() -> None:
    matcher = sg.GrammarMatcher(COMPILER.compile(sg.Grammar.literal("a")))
    assert matcher.accept_token(ord("a"))
    assert [one.kind for one in matcher.explain().expected] == ["end"]
    assert matcher.accept_token(256)
    told = matcher.explain("a")
    assert told.expected == ()
    assert told.token is not None
    assert told.token.reason == "ended"
