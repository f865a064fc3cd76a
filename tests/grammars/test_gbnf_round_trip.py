"""GBNF written and read again is the same language; llama.cpp's own reader agrees, where it is installed."""

from __future__ import annotations

import random
import re

import pytest

import syntagma as sg
from tests.grammars.llama_grammar import LlamaGrammar
from tests.grammars.walks import accepts, byte_compiler, random_text

_COMPILER = byte_compiler()

GRAMMARS = {
    "words": sg.Grammar.from_gbnf('root ::= ("yes" | "no") (", " [a-z]+){0,3}'),
    "arithmetic": sg.Grammar.from_gbnf('root ::= term ("+" term)*\nterm ::= [0-9]+ | "(" root ")"'),
    "characters": sg.Grammar.from_gbnf('root ::= [^"\\\\\\x00-\\x1F]{1,4} "é"? [α-ω]*'),
    "schema": sg.Grammar.from_json_schema(
        {
            "type": "object",
            "properties": {
                "name": {"type": "string", "maxLength": 5},
                "size": {"type": "integer", "minimum": -3, "maximum": 120},
                "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 3},
                "any": {},
            },
            "required": ["name"],
            "additionalProperties": False,
        },
        whitespace="compact",
    ),
    "multiples": sg.Grammar.from_json_schema({"type": "integer", "multipleOf": 7}),
    "choice": sg.Grammar.from_choices(["left", "right", "leftover"]),
}


def _damaged(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text) + 1)
    return rng.choice([text[:at] + text[at + 1 :], text[:at] + rng.choice('x"0,}') + text[at:], text + text[:1]])


def _texts(name: str) -> list[str]:
    rng = random.Random(name)
    compiled = _COMPILER.compile(GRAMMARS[name])
    written = [random_text(compiled, rng, 25) for _ in range(12)]
    return written + [_damaged(text, rng) for text in written for _ in range(3)]


@pytest.mark.parametrize("name", GRAMMARS)
def test_what_is_written_reads_back_as_the_same_language(name: str) -> None:
    first = GRAMMARS[name]
    again = sg.Grammar.from_gbnf(first.to_gbnf().text)
    twice = sg.Grammar.from_gbnf(again.to_gbnf().text)
    compiled = [_COMPILER.compile(grammar) for grammar in (first, again, twice)]
    verdicts = set()
    for text in _texts(name):
        one, other, third = (accepts(grammar, text) for grammar in compiled)
        assert one == other == third, text
        verdicts.add(one)
    assert verdicts == {True, False}


LARGE = {
    'start ::= "a"{0,4500} ;': ("a", (0, 1, 999, 1000, 3999, 4000, 4499, 4500, 4501)),
    'start ::= ("b" "c"){2500} ;': ("bc", (2499, 2500, 2501)),
    'start ::= "a"{3000,} ;': ("a", (2999, 3000, 7000)),
    'start ::= #"[ab]{2100,2200}" ;': ("b", (2099, 2100, 2150, 2200, 2201)),
    'start ::= ("a"{1,50} "b"){1,90} ;': ("aab", (0, 1, 90, 91)),
    'start ::= ("aa" "b"){2,2100} % "" ;': ("aab", (1, 2, 2000, 2100, 2101)),
    'start ::= ("x"{0,90} "aab"){0,100} ;': ("aab", (0, 99, 100, 101)),
}
"""repetitions that llama.cpp refuses, or takes a large upper bound of for none"""


@pytest.mark.parametrize("source", LARGE)
def test_large_repetitions_are_said_in_blocks(source: str) -> None:
    grammar = sg.Grammar.from_ebnf(source)
    written = grammar.to_gbnf().text
    counts = [int(count) for count in re.findall(r"[{,](\d+)(?=[,}])", written)]
    assert max(counts) < 2000
    again = sg.Grammar.from_gbnf(written)
    piece, tried = LARGE[source]
    verdicts = [grammar.accepts(piece * count) for count in tried]
    assert [again.accepts(piece * count) for count in tried] == verdicts
    assert {True, False} == set(verdicts)


@pytest.mark.parametrize("name", GRAMMARS)
def test_llama_cpp_accepts_and_rejects_alike(name: str) -> None:
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed")
    source = GRAMMARS[name].to_gbnf().text
    compiled = _COMPILER.compile(GRAMMARS[name])
    for text in _texts(name):
        assert LlamaGrammar(source).accepts(text) == accepts(compiled, text), text


@pytest.mark.parametrize("source", LARGE)
def test_llama_cpp_counts_alike(source: str) -> None:
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed")
    grammar = sg.Grammar.from_ebnf(source)
    written = grammar.to_gbnf().text
    piece, tried = LARGE[source]
    for count in tried:
        assert LlamaGrammar(written).accepts(piece * count) == grammar.accepts(piece * count), count
