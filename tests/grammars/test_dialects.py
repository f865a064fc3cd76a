"""GBNF and Lark through the package: values, errors with places, limits."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

import syntagma as sg
from syntagma.cli.inputs import load_grammar, read_json, read_text
from syntagma.errors import ArgumentError, GrammarError, LimitError, UnsupportedSchema
from syntagma.grammars import Gbnf, Grammar
from syntagma.grammars.dialects import Dialect
from syntagma.limits import Limits
from syntagma.templates import ChatTemplate

Reader: TypeAlias = Callable[[str], Grammar]


def test_gbnf_is_read_and_written() -> None:
    grammar = Grammar.from_gbnf('root ::= word ("," word)*\nword ::= [a-z]+ | "é"')
    written = grammar.to_gbnf()
    assert written.preserved_tokens == ()
    again = Grammar.from_gbnf(str(written))
    for text, inside in (("ab,é,c", True), ("é", True), ("", False), ("a,", False)):
        assert grammar.accepts(text) is inside
        assert again.accepts(text) is inside


def test_ebnf_names_other_grammars() -> None:
    values = Grammar.from_json_schema({"type": "array", "uniqueItems": True}, whitespace="compact").with_pointer_prefix(
        "/value"
    )
    source = 'start ::= "<" (start | value)* ">" ;'
    grammar = Grammar.from_ebnf(source, grammars={"value": values, "other": Grammar.literal("x")})
    assert grammar.check("<<[1]><>[]>").accepted
    assert not grammar.check("<x>").accepted
    assert list(grammar.report.pointers) == ["/value/uniqueItems"]
    with pytest.raises(GrammarError) as caught:
        Grammar.from_ebnf(source + '\nvalue ::= "v" ;', grammars={"value": values})
    assert (caught.value.code, caught.value.line) == ("E-GRAMMAR-DUPLICATE", 2)


@pytest.mark.parametrize(
    "read",
    [
        lambda **given: Grammar.from_ebnf('start ::= "<" part "!" ;', **given),
        lambda **given: Grammar.from_lark('start: "<" @part "!"', **given),
        lambda **given: Grammar.from_lark('start: "<" part "!"\npart[max_tokens=9]: @part', **given),
    ],
    ids=["ebnf", "lark", "lark with bounds of its own"],
)
def test_bounds_of_given_grammars_hold(read: Callable[..., Grammar]) -> None:
    part = Grammar.labelled("part", Grammar.from_regex("[a-z]*")).bounded("part", tokens=3)
    other = Grammar.labelled("other", Grammar.literal("x")).bounded("other", tokens=1)
    grammar = read(grammars={"part": part, "other": other})
    assert grammar.bounds == (("part", "tokens", 3),)
    matcher = sg.GrammarMatcher(sg.GrammarCompiler(sg.testing.byte_vocabulary()).compile(grammar))
    for token, wanted in zip(b"<abcd!", (True, True, True, True, False, True), strict=True):
        assert matcher.accept_token(token) is wanted


def test_grammars_of_grammars_nest_without_end() -> None:
    def deep(text: str) -> Grammar:
        grammar = Grammar.literal(text)
        for _ in range(20_000):
            grammar = Grammar.concat(grammar, Grammar.literal(""))
        return grammar

    left, right = deep("a"), deep("a")
    assert left == right
    assert hash(left) == hash(right)
    assert left != deep("b")
    assert left.check("a").accepted


def test_separators_around_separators_take_room_for_what_was_written() -> None:
    source = 'start ::= "a"' + "".join(f'+ % "{chr(98 + level)}"' for level in range(17)) + " ;"
    grammar = Grammar.from_ebnf(source)
    assert grammar.check("abaracaba").accepted
    assert not grammar.check("abarba").accepted
    for written in (grammar.to_ebnf(), str(grammar.to_gbnf()), grammar.dump_lnf()):
        assert len(written) < 20_000


def test_patterns_nest_within_a_limit() -> None:
    with pytest.raises(LimitError) as caught:
        Grammar.from_regex("(" * 201 + ")" * 201)
    assert caught.value.code == "E-LIMIT-REGEX-NESTING"


def test_another_start_rule() -> None:
    assert Grammar.from_gbnf('root ::= "a"\nother ::= "b"', start="other").check("b").accepted
    assert Grammar.from_lark('begin: "x"', start="begin").check("x").accepted


@pytest.mark.parametrize(
    "grammar",
    [
        Grammar.from_gbnf('root ::= "a" start\nstart ::= "b"'),
        Grammar.from_gbnf('root ::= "b"\nother ::= "a" root', start="other"),
        Grammar.from_lark('begin: "a" start\nstart: "b"', start="begin"),
        Grammar.from_ebnf('first ::= "a" start ; start ::= "b" ;', start="first"),
        Grammar.from_regex("ab"),
        Grammar.concat(Grammar.literal("a"), Grammar.from_gbnf('root ::= "b"')),
    ],
)
def test_what_is_printed_reads_back_whatever_the_start_rule_is_called(grammar: Grammar) -> None:
    again = Grammar.from_ebnf(grammar.to_ebnf())
    for text, accepted in (("ab", True), ("b", False), ("a", False), ("abb", False)):
        assert grammar.accepts(text) == again.accepts(text) == accepted


def test_markers_are_listed() -> None:
    written = Grammar.concat(
        Grammar.marker("<call>"), Grammar.text(closer="</call>"), Grammar.marker("</call>")
    ).to_gbnf()
    assert isinstance(written, Gbnf)
    assert written.preserved_tokens == ("<call>", "</call>")
    again = Grammar.from_gbnf(written.text)
    assert again.check("<call>a < b </call>").accepted
    assert not again.check("<call></call></call>").accepted


def test_what_gbnf_cannot_say() -> None:
    with pytest.raises(GrammarError) as caught:
        Grammar.literal(b"\xff").to_gbnf()
    assert caught.value.code == "E-GRAMMAR-UNPRINTABLE"
    assert "bytes that are no text" in caught.value.message


def test_lark_is_read() -> None:
    grammar = Grammar.from_lark(
        '%import common.INT\n%ignore " "\nstart: pair ("," pair)*\npair: INT "=" %json {"type": "null"}'
    )
    for text, inside in (("1=null", True), (" 1 = null , 22=null", True), ("1=1", False), ("1 2=null", False)):
        assert grammar.accepts(text) is inside


@pytest.mark.parametrize(
    ("read", "text", "code", "line", "column"),
    [
        (Grammar.from_gbnf, 'root ::= "é" x', "E-GRAMMAR-UNDEFINED", 1, 14),
        (Grammar.from_gbnf, "root ::=\n  [a", "E-GRAMMAR-SYNTAX", 2, 3),
        (Grammar.from_lark, "start: A\nA: A", "E-GRAMMAR-IRREGULAR", 2, 4),
        (Grammar.from_lark, "start: /a(/", "E-REGEX-SYNTAX", 1, 10),
    ],
)
def test_errors_have_a_place(read: object, text: str, code: str, line: int, column: int) -> None:
    with pytest.raises(GrammarError) as caught:
        read(text)  # type: ignore[operator]
    error = caught.value
    assert (error.code, error.line, error.column) == (code, line, column)
    assert str(error.excerpt).endswith("^")


@pytest.mark.parametrize(
    ("read", "text", "said"),
    [
        (Grammar.from_ebnf, 'start ::= "a" ;\n  x ::= x | "b" ;', [("UNUSED", 2, 3), ("CYCLE", 2, 3)]),
        (Grammar.from_ebnf, 'start ::= except!(x) "b" start ; x ::= "c" ;', [("ENDLESS", 1, 1)]),
        (Grammar.from_ebnf, 'start ::= except!(x) ("b" start)? ; x ::= "c" ;', []),
        (Grammar.from_gbnf, 'root ::= "a"\nb ::= b "x"', [("UNPRODUCTIVE", 2, 1), ("UNUSED", 2, 1)]),
        (Grammar.from_lark, '%ignore " "\nstart: A rest\nrest: "b"\nA: B "c"\nB: "d"', []),
        (Grammar.from_lark, '%ignore " "\nstart: "a"\nrest: A\nA: "c"', [("UNUSED", 3, 1), ("UNUSED", 4, 1)]),
    ],
)
def test_what_is_odd_is_said(read: Reader, text: str, said: list[tuple[str, int, int]]) -> None:
    warnings = read(text).warnings
    found = [(warning.code.removeprefix("W-GRAMMAR-"), warning.line, warning.column) for warning in warnings]
    assert found == said
    for warning in warnings:
        assert warning.excerpt.endswith("^")
        assert str(warning).startswith(f"{warning.code}: ")
        assert warning.hint is not None
        assert warning.hint in str(warning)
    joined = Grammar.concat(read(text), Grammar.literal("!"), read(text))
    assert joined.warnings == warnings


def test_limits_are_passed_on() -> None:
    for read, text in ((Grammar.from_gbnf, 'root ::= "aa"'), (Grammar.from_lark, 'start: "aaa"')):
        read(text, limits=Limits(grammar_bytes=len(text)))
        with pytest.raises(LimitError) as caught:
            read(text, limits=Limits(grammar_bytes=len(text) - 1))
        assert (caught.value.code, caught.value.limit) == ("E-LIMIT-GRAMMAR-BYTES", "grammar_bytes")


@pytest.mark.parametrize("ranges", [(), ((3, 2),), ((-1, 2),), ((0, 2**32),)])
def test_ranges_of_tokens_that_cannot_be(ranges: tuple[tuple[int, int], ...]) -> None:
    assert "<[2..3,9]>" in Grammar.token_ids((2, 3), (9, 9)).to_ebnf()
    with pytest.raises(ArgumentError) as caught:
        Grammar.token_ids(*ranges)
    assert caught.value.code == "E-GRAMMAR-TOKENS"


@pytest.mark.parametrize(
    ("text", "code", "offset"),
    [
        ("start ::= missing ;", "E-GRAMMAR-UNDEFINED", 10),  # GBNF would stumble over the semicolon, further on
        ('root ::= missing "a" [b-c]', "E-GRAMMAR-UNDEFINED", 9),
        ('start ::= "a" "', "E-GRAMMAR-SYNTAX", None),
    ],
)
def test_a_text_of_either_notation_has_the_mistake_of_the_one_that_understands_it(
    text: str, code: str, offset: int | None
) -> None:
    with pytest.raises(GrammarError) as raised:
        Grammar.from_text(text)
    assert raised.value.code == code
    assert offset is None or raised.value.offset == offset


_LIST = """{"grammars": [
  {"lark_grammar": "start: \\"<\\" @word \\"=\\" @2 \\">\\""},
  {"name": "word", "lark_grammar": "start: W\\nW: /[a-z]+/"},
  {"name": "args", "json_schema": {"type": "array", "uniqueItems": true, "maxItems": 1, "items": {"type": "null"}}}
]}"""


@pytest.mark.parametrize("dialect", ["auto", "grammar_list"])
def test_a_list_of_grammars_is_read(dialect: Dialect) -> None:
    grammar = Grammar.from_text(_LIST, dialect)
    for text, inside in (("<ab=[null]>", True), ("<ab=[]>", True), ("<ab=null>", False), ("ab", False), ("{}", False)):
        assert grammar.accepts(text) is inside


@pytest.mark.parametrize(
    ("text", "code", "pointer"),
    [
        ('{"grammars": [{"lark_grammar": "start: @b"}]}', "E-GRAMMAR-UNDEFINED", "/grammars/0/lark_grammar"),
        ('{"grammars": [{"json_schema": {"type": "nil"}}]}', "E-SCHEMA-INVALID", "/grammars/0/json_schema/type"),
        ('{"grammars": [{"json_schema": {}, "lark_grammar": "start: \\"a\\""}]}', "E-GRAMMAR-SYNTAX", "/grammars/0"),
        ('{"grammars": [{"json_schema": {}}], "max_tokens": 3}', "E-GRAMMAR-UNSUPPORTED", None),
        ('{"grammars": [{"json_schema": {}, "rx_nodes": []}]}', "E-GRAMMAR-UNSUPPORTED", None),
        ('{"grammars": [{"name": "a", "lark_grammar": "start: @a"}]}', "E-GRAMMAR-UNSUPPORTED", "/grammars/0"),
        (
            '{"grammars": [{"name": "a", "json_schema": {}}, {"name": "a", "json_schema": {}}]}',
            "E-GRAMMAR-DUPLICATE",
            "/grammars/1/name",
        ),
    ],
)
def test_a_list_of_grammars_is_refused_by_name(text: str, code: str, pointer: str | None) -> None:
    with pytest.raises(GrammarError) as caught:
        Grammar.from_text(text)
    error = caught.value
    found = next(iter(error.pointers)) if isinstance(error, UnsupportedSchema) else error.pointer
    assert (error.code, found) == (code, pointer)


def test_a_schema_may_have_a_word_of_that_name() -> None:
    assert Grammar.from_text('{"type": "null", "grammars": ["json_schema"]}').accepts("null")


@pytest.mark.parametrize(
    ("suffix", "source", "text"),
    [
        (".ebnf", 'start ::= "a" ;', "a"),
        (".gbnf", 'root ::= "a"', "a"),
        (".lark", 'start: "a"', "a"),
        (".regex", "a", "a"),
        (".json", '{"const": "a"}', '"a"'),
        (".json", _LIST, "<a=[]>"),
        (".txt", 'root ::= "a"', "a"),
    ],
)
def test_files_may_begin_with_a_byte_order_mark(suffix: str, source: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / f"grammar{suffix}"
    path.write_bytes(BOM_UTF8 + source.encode())
    for grammar in (Grammar.from_file(path), load_grammar(str(path), None)):
        assert grammar == Grammar.from_file(path)
        assert grammar.accepts(text)


def test_other_files_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(BOM_UTF8 + b"[1]")
    assert read_text(str(path)) == "[1]"
    assert read_json(str(path)) == [1]
    assert ChatTemplate.from_file(path).source == "[1]"


@pytest.mark.parametrize("text", ["x", "", '{"grammars": []}', '{"grammars": [{"json_schema": {}}'])
def test_a_list_of_grammars_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(GrammarError) as caught:
        Grammar.from_text(text, dialect="grammar_list")
    assert caught.value.code == "E-GRAMMAR-SYNTAX"
