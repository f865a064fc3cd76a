"""Grammars that xgrammar prints, read by us: the same texts are accepted."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import syntagma as sg
from tests.engines.verdicts import _schema_cases as schema_cases
from tests.grammars.walks import accepts, byte_compiler

xgr: Any = pytest.importorskip("xgrammar")
_PRINTED = 150
_OTHERS = [
    'root ::= TagDispatch(("<a>", x), ("<b>", y), excludes=("<e>",)) "<e>"\nx ::= [a-z] ";"\ny[capture] ::= "é"{2,}',
    'root ::= Substring("a", "bc", "d") Regex("\\\\d+\\\\.?", json_string=true) ("-" | [^-\\]a])+',
    'root ::= (a | "(" root ")")* \na[max_chars=2, temperature=0.5] ::= [xy]+ "\\n"',
    'root ::= b rest\nb[lazy] ::= [a-c]+ ("!" | "?")\nrest ::= "a"{0,3} | "\\u0001\\x7f\\U0001F600"',
]
"""what schemas have not"""


def harmed(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(["", '"', "{", "]", ",", " ", "0", "a", "é", "\n"]) + text[at + rng.randrange(2) :]


def same(grammar: Any, texts: list[str], name: str) -> int:
    ours = byte_compiler().compile(sg.Grammar.from_xgrammar(str(grammar)))
    matcher = xgr.testing._get_matcher_from_grammar(grammar)
    for text in texts:
        matcher.reset()
        theirs = matcher.accept_string(text) and matcher.is_terminated()
        assert accepts(ours, text) == theirs, (name, text)
    return len(texts)


def test_printed_schemas_accept_the_same() -> None:
    rng = random.Random("printed")
    cases = list(schema_cases())
    rng.shuffle(cases)
    printed = compared = 0
    for name, schema, instances in cases:
        spaced = {"any_whitespace": rng.random() < 0.5, "strict_mode": rng.random() < 0.5}
        try:
            grammar = xgr.Grammar.from_json_schema(json.dumps(schema), **spaced)
        except RuntimeError:
            continue
        texts = [json.dumps(value, ensure_ascii=False) for value in instances[:6]]
        texts = [text for text in texts if text.isprintable() and len(text) < 3_000]
        compared += same(grammar, [*texts, *(harmed(text, rng) for text in texts * 3)], name)
        printed += 1
        if printed == _PRINTED:
            break
    assert printed >= 60
    assert compared > printed


@pytest.mark.parametrize("source", _OTHERS)
def test_other_printed_grammars_accept_the_same(source: str) -> None:
    rng = random.Random(source)
    texts = ["".join(rng.choices("ab<e>;é!?x\n()01d-bc", k=rng.randrange(9))) for _ in range(2_000)]
    assert same(xgr.Grammar.from_ebnf(source), texts, source)
