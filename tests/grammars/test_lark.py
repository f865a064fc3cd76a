"""Lark through the package: files beside a file, texts of imports, budgets, and how a text is recognised."""

from __future__ import annotations

from pathlib import Path

import pytest

import syntagma as sg
from syntagma.cli.inputs import load_grammar
from syntagma.errors import GrammarError
from syntagma.grammars import Grammar
from syntagma.grammars.dialects import notation_of_text

WORDS = "%import .deep.inner (X)\nWORD: /[a-z]/ X"
FILES = {"words": WORDS, "deep.inner": "%import .other.X", "deep.other": 'X: "!"'}
SOURCE = "%import .words.WORD\nstart: WORD+"


def written(folder: Path) -> Path:
    """The source in a file, and beside it what it imports."""
    for name, text in {"main": SOURCE, **FILES}.items():
        path = folder.joinpath(*name.split(".")).with_suffix(".lark")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "main.lark"


def test_texts_of_imports_are_given() -> None:
    grammar = Grammar.from_lark(SOURCE, imports=FILES)
    assert grammar.accepts("a!b!")
    assert not grammar.accepts("ab!")


def test_a_file_finds_those_beside_it(tmp_path: Path) -> None:
    path = written(tmp_path)
    for grammar in (Grammar.from_file(path), load_grammar(str(path), None)):
        assert grammar.accepts("a!b!")


def test_a_text_opens_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path)
    monkeypatch.chdir(tmp_path)
    for read in (Grammar.from_lark, Grammar.from_text):
        with pytest.raises(GrammarError) as caught:
            read(SOURCE)
        assert caught.value.code == "E-GRAMMAR-UNSUPPORTED"
        assert "imports=" in (caught.value.hint or "")


def test_no_file_outside_of_the_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    path = written(tmp_path / "inside")
    outside = tmp_path / "outside.lark"
    outside.write_text('WORD: "secret"', encoding="utf-8")
    (path.parent / "words.lark").unlink()
    with pytest.raises(GrammarError) as caught:
        Grammar.from_file(path)
    assert caught.value.code == "E-GRAMMAR-READ"
    (path.parent / "words.lark").symlink_to(outside)
    with pytest.raises(GrammarError) as caught:
        Grammar.from_file(path)
    assert caught.value.code == "E-GRAMMAR-READ"


def test_parts_that_come_once_are_bounded_in_tokens() -> None:
    grammar = Grammar.from_lark('start: think answer\nthink[max_tokens=3]: /[a-z]*/\nanswer: "!"')
    assert grammar.bounds == (("think", "tokens", 3),)
    matcher = sg.GrammarMatcher(sg.GrammarCompiler(sg.testing.byte_vocabulary()).compile(grammar))
    for token, wanted in zip(b"abcd!", (True, True, True, False, True), strict=True):
        assert matcher.accept_token(token) is wanted


@pytest.mark.parametrize(
    "text",
    [
        '\n    ?start: sum\n    ?sum: NUMBER ("+" NUMBER)*\n    %import common.NUMBER\n',
        '\tstart: x::3\n\tx::_: "a"',
        'start{a}.2: a\nmy-rule: "x"',
    ],
)
def test_an_indented_text_is_recognised(text: str) -> None:
    assert notation_of_text(text) == ("lark",)


def test_the_example_of_tool_calls_commits() -> None:
    grammar = Grammar.from_lark(
        "start: (call)* rest\nrest: TEXT\nTEXT: /(.|\\n)*/\n"
        'head[lazy]: TEXT "<function"\ncall: head "=add>" /[0-9]+/ "</function>"'
    )
    assert grammar.accepts("hi<function=add>12</function>, done")
    assert not grammar.accepts("hi<function=zzz")
