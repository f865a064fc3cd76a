"""Grammars and vocabularies in pickles: what comes back is what went in, here and in another process."""

from __future__ import annotations

import copy
import pickle
import random
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import syntagma as sg
from syntagma.errors import ArgumentError
from tests.grammars.walks import byte_compiler, random_text

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 12}, "of": {"enum": ["a", 1, None]}},
    "required": ["name"],
    "uniqueItems": True,
    "minProperties": 1,
}
WIDENED = {"type": "array", "uniqueItems": True}


def grammars() -> dict[str, sg.Grammar]:
    """One of each kind."""
    schema = sg.Grammar.from_json_schema(SCHEMA)
    odd = sg.Grammar.from_ebnf(
        'start ::= "a" b{1,3} | @part(c); b ::= #"[x-z]+\\\\d*"; c ::= except!("end", 9); d ::= "d";'
    )
    return {
        "schema": schema,
        "widened": sg.Grammar.from_json_schema(WIDENED),
        "ebnf": odd,
        "gbnf": sg.Grammar.from_gbnf('root ::= [a-c]+ ("-" root)?'),
        "regex": sg.Grammar.from_regex(r"(?i)[a-f]{2,30}(?!\d)x*"),
        "text": sg.Grammar.text(without=["stop"], closer="</end>"),
        "marker": sg.Grammar.concat(sg.Grammar.marker("<tool>"), sg.Grammar.token_ids((97, 99))),
        "bounded": sg.Grammar.labelled("part", odd).bounded("part", tokens=20),
        "parts": sg.Grammar.repeat(sg.Grammar.union(schema, odd), 1, 3, separator=sg.Grammar.literal(b"\n\xff")),
        "placed": sg.Grammar.from_json_schema(WIDENED).with_pointer_prefix("/there"),
        "spelled": schema.inside_json_string(),
    }


def again(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("name", grammars())
def test_a_grammar_comes_back(name: str) -> None:
    grammar = grammars()[name]
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        back = pickle.loads(pickle.dumps(grammar, protocol))
        assert back == grammar
        assert hash(back) == hash(grammar)
        assert back.report == grammar.report
        assert back.warnings == grammar.warnings
        assert back.dump_lnf() == grammar.dump_lnf()
    assert copy.copy(grammar) is grammar
    assert copy.deepcopy([grammar]) == [grammar]


def test_what_is_tested_has_something_to_lose() -> None:
    given = grammars()
    assert given["ebnf"].warnings
    assert given["placed"].report.pointers
    assert again(given["bounded"]) != again(given["ebnf"])


@pytest.mark.parametrize("name", [name for name in grammars() if name != "marker"])
def test_masks_are_the_same(name: str) -> None:
    grammar = grammars()[name]
    # Each compiles for itself, so that neither is answered from what the other has found.
    first, second = byte_compiler().compile(grammar), byte_compiler().compile(again(grammar))
    rng = random.Random(7)
    for _ in range(3):
        text = random_text(first, rng).encode("utf-8", "surrogateescape") if name != "parts" else b'{"name":"a"}'
        masks(sg.GrammarMatcher(first), sg.GrammarMatcher(second), text)


def masks(first: sg.GrammarMatcher, second: sg.GrammarMatcher, text: bytes) -> None:
    """Both read a text and say the same before each byte of it."""
    rows = np.zeros((2, 9), np.int32)
    for byte in text:
        first.fill_next_token_bitmask(rows, 0)
        second.fill_next_token_bitmask(rows, 1)
        assert (rows[0] == rows[1]).all()
        assert first.accept_token(byte) == second.accept_token(byte)


def test_another_process_reads_it() -> None:
    info = sg.TokenizerInfo.from_tokens([b"a", b"{", b'"', b"<e>"], eos_token_ids=[3], vocab_size=40)
    given = pickle.dumps((grammars(), info))
    script = (
        "import pickle, sys; grammars, info = pickle.load(sys.stdin.buffer);"
        "print(info.vocab_size, *(grammars[name].rule_count for name in sorted(grammars)))"
    )
    done = subprocess.run([sys.executable, "-c", script], input=given, capture_output=True, check=True)
    counts = [grammar.rule_count for _, grammar in sorted(grammars().items())]
    assert [int(word) for word in done.stdout.split()] == [40, *counts]


def test_a_vocabulary_comes_back() -> None:
    info = sg.TokenizerInfo.from_tokens(
        [b"a", b"", b'{"', b"<tool>", b"<added>", b"<e>"],
        eos_token_ids=[5],
        special_token_ids=[3],
        added_token_ids=[4],
        vocab_size=70,
    )
    back = again(info)
    for name in ("vocab_size", "eos_token_ids", "special_token_ids", "added_token_ids"):
        assert getattr(back, name) == getattr(info, name)
    assert [back.token_bytes(token_id) for token_id in range(70)] == [
        info.token_bytes(token_id) for token_id in range(70)
    ]
    grammar = sg.Grammar.union(sg.Grammar.json(), sg.Grammar.marker("<tool>"), sg.Grammar.marker("<added>"))
    rows = np.zeros((2, 3), np.int32)
    for row, one in enumerate((info, back)):
        sg.GrammarMatcher(sg.GrammarCompiler(one).compile(grammar)).fill_next_token_bitmask(rows, row)
    assert (rows[0] == rows[1]).all()
    assert rows[0, 0] == 0b011100
    assert copy.deepcopy(info) is info


def test_other_states_are_refused() -> None:
    given = sg.TokenizerInfo.from_tokens([b"a"], eos_token_ids=[0])
    version = given.__getstate__()[0]
    others = [
        None,
        (),
        "text",
        *((version, *rest) for rest in ((b"", "more"), (b"other bytes", None, ()), ([b"a"], 1))),
    ]
    for state in others:
        with pytest.raises(ArgumentError) as caught:
            sg.TokenizerInfo.__new__(sg.TokenizerInfo).__setstate__(state)
        assert caught.value.code == "E-STATE-FORMAT"
    with pytest.raises(ArgumentError) as caught:
        sg.TokenizerInfo.__new__(sg.TokenizerInfo).__setstate__((version + 1, b"", None))
    assert caught.value.code == "E-STATE-VERSION"


def test_other_bytes_are_no_grammar() -> None:
    grammar = sg.Grammar.from_json_schema({"enum": [1, "a"]}).bounded("part", tokens=3)
    data = grammar.to_bytes()
    back = sg.Grammar.from_bytes(data)
    assert (back, back.report, back.to_bytes()) == (grammar, grammar.report, data)
    newer = data[:4] + bytes([data[4] + 1]) + data[5:]
    older = (1, b"", None, ())
    for state, code in (
        (None, "FORMAT"),
        ("text", "FORMAT"),
        (data[:-1], "FORMAT"),
        (newer, "VERSION"),
        (older, "VERSION"),
    ):
        with pytest.raises(ArgumentError) as caught:
            sg.Grammar.__new__(sg.Grammar).__setstate__(state)
        assert caught.value.code == f"E-STATE-{code}"
