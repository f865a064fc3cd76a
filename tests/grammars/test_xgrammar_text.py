"""xgrammar's grammar language through the package: where it is read, and what is said of text that is not."""

from __future__ import annotations

from pathlib import Path

import pytest

import syntagma.compat.xgrammar as xgr
from syntagma.compat.sglang import GrammarBackend
from syntagma.decoding import GrammarCompiler
from syntagma.errors import ArgumentError, GrammarError, LimitError
from syntagma.grammars import Grammar
from syntagma.grammars.dialects import Dialect
from syntagma.testing import byte_vocabulary

LINED = 'root ::= "a"\n  x.y\nx.y[capture] ::= [bc]{1, -1}\n  | "\\/"'
"""what GBNF does not read, since a rule goes on over lines and a name has a point"""


def test_it_is_read_wherever_grammar_text_is(tmp_path: Path) -> None:
    path = tmp_path / "a.grammar"
    path.write_text(LINED, encoding="utf-8")
    tag = {"format": {"type": "grammar", "grammar": LINED}}
    readers = [
        Grammar.from_xgrammar(LINED),
        Grammar.from_text(LINED),
        Grammar.from_text(LINED, "xgrammar"),
        Grammar.from_file(path),
        Grammar.from_structural_tag(tag),
        xgr.Grammar.from_ebnf(LINED).syntagma,
        xgr.Grammar.from_structural_tag(tag).syntagma,
    ]
    for grammar in readers:
        assert grammar.accepts("abcb")
        assert grammar.accepts("a/")
        assert not grammar.accepts("a")
    found = readers[0].match("abc")
    assert found is not None
    assert found.texts("x.y") == ["bc"]


def test_what_gbnf_reads_stays_gbnf() -> None:
    text = 'root ::= "\\x41b" . | '
    assert Grammar.from_text(text).accepts("Abé")
    assert Grammar.from_structural_tag({"format": {"type": "grammar", "grammar": text}}).accepts("Abé")
    assert Grammar.from_text('root ::= "\\x41b"', "xgrammar").accepts("\u041b")


def test_the_error_is_that_of_the_reader_that_came_furthest() -> None:
    with pytest.raises(GrammarError) as caught:
        Grammar.from_text(f"{LINED}\n  ] 1\n")
    # GBNF stops in line 2, at what goes on there, EBNF in line 3, at the point in the name.
    assert caught.value.line == 5


def test_a_hint_names_the_notation_that_reads_it() -> None:
    dialects: tuple[Dialect, ...] = ("gbnf", "lark")
    for dialect in dialects:
        with pytest.raises(GrammarError) as caught:
            Grammar.from_text(LINED, dialect)
        assert "dialect='xgrammar'" in (caught.value.hint or "")
    with pytest.raises(GrammarError) as caught:
        Grammar.from_text('root ::= "a" |', "xgrammar")
    assert "dialect='gbnf'" in (caught.value.hint or "")
    with pytest.raises(ArgumentError):
        Grammar.from_text(LINED, "xgr")  # type: ignore[arg-type]


def test_what_is_left_out_is_told() -> None:
    found = Grammar.from_xgrammar('root[temperature=0.5] ::= "a" (= "b")')
    assert [warning.code for warning in found.warnings] == ["W-GRAMMAR-LEFT-OUT"] * 2
    assert [warning.column for warning in found.warnings] == [6, 31]


def test_a_long_dispatch_takes_time_by_its_size_or_is_refused() -> None:
    pairs = ", ".join(f'("<tool_{at}>", x)' for at in range(300))
    grammar = Grammar.from_xgrammar(f'root ::= TagDispatch({pairs})\nx ::= "!"')
    assert grammar.accepts("free <tool_299>! <tool_29>! more")
    assert not grammar.accepts("free <tool_299>")
    pairs = ", ".join(f'("<tool_{at}>", x)' for at in range(20_000))
    with pytest.raises(LimitError) as caught:
        Grammar.from_xgrammar(f'root ::= TagDispatch({pairs})\nx ::= "!"')
    assert caught.value.code == "E-LIMIT-FUEL"


def test_tokens_trigger_rules() -> None:
    grammar = xgr.Grammar.from_ebnf('root ::= TokenTagDispatch((256, x), excludes=(98,))\nx ::= "!" ExcludeToken(33)')
    info = xgr.TokenizerInfo([*(bytes([value]) for value in range(256)), b"<call>", b"</s>"], stop_token_ids=[257])
    compiled = xgr.GrammarCompiler(info).compile_grammar(grammar)
    for tokens, accepted in (([97, 256, 33, 97], True), ([97, 98], False), ([256, 97], False), ([256, 33, 33], False)):
        matcher = xgr.GrammarMatcher(compiled)
        assert all(matcher.accept_token(token) for token in tokens) is accepted


def test_sglang_reads_it() -> None:
    backend = GrammarBackend(GrammarCompiler(byte_vocabulary(["<|eos|>"])))
    for text in (LINED, 'root ::= "a" [bc] | '):
        made = backend.dispatch_ebnf(text)
        made.accept_token(ord("a"))
        made.accept_token(ord("b"))
        with pytest.raises(ValueError, match="token"):
            made.accept_token(ord("d"))
