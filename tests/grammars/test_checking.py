"""What a grammar says of a text, and in which notation a text is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from syntagma.errors import ArgumentError, GrammarError
from syntagma.grammars import Grammar

SQL = """
start ::= 'select'i ws name (ws? "," ws? name)* ws 'from'i ws name ";" ;
ws    ::= #"[ \\n]+" ;
word  ::= 'select'i | 'from'i ;
name  ::= #"[a-zA-Z_]+" & ~word ;
"""


@pytest.mark.parametrize(
    ("text", "reason", "line", "column", "said"),
    [
        ("select a from b;", None, None, None, None),
        ("SELECT a,b From c;\n", None, None, None, None),
        ("select a from from;", "refused", 1, 19, "'from' is no 'name' here"),
        ("select select from b;", "refused", 1, 14, "'select' is no 'name' here"),
        ("select from1", "refused", 1, 12, "could continue with"),
        ("select afrom1", "refused", 1, 13, "could continue with"),
        ("select a,from", "incomplete", 1, 14, "may not end here"),
        ("select a\nfrom b", "incomplete", 2, 7, "';' would end it"),
        ("select a where", "refused", 1, 10, "it could continue with 'FROM"),
        ("select a from b; x", "refused", 1, 17, "the text is complete before it"),
    ],
)
def test_a_refusal_says_what_was_meant(
    text: str, reason: str | None, line: int | None, column: int | None, said: str | None
) -> None:
    check = Grammar.from_ebnf(SQL).check(text)
    assert (check.reason, check.line, check.column) == (reason, line, column)
    assert check.accepted is (reason is None)
    assert said is None or said in (check.message or "")
    assert not any("'" in rule or "#" in rule or " " in rule for rule in check.rules), check.rules


def test_the_continuation_ends_the_text() -> None:
    grammar = Grammar.from_ebnf('start ::= "(" (start | #"[0-9]"{1,2} % ",") ")" ;')
    for text in ("", "(", "((1", "((1,2)", "(1x"):
        check = grammar.check(text)
        assert check.offset is not None
        assert grammar.accepts(text[: check.offset] + (check.continuation or "")), text


@pytest.mark.parametrize(
    ("text", "reason", "offset"), [("no", "incomplete", 2), ("no\n", "incomplete", 2), ("no\n\n", "refused", 2)]
)
def test_a_beginning_is_no_refusal_for_the_line_feed_of_an_editor(text: str, reason: str, offset: int) -> None:
    check = Grammar.literal("nope").check(text)
    assert (check.accepted, check.reason, check.offset) == (False, reason, offset)
    assert (check.expected, check.continuation) == ("'p'", "pe")


def test_special_tokens_are_read_by_their_texts() -> None:
    grammar = Grammar.from_ebnf('start ::= <|call|> #"[a-z]+" @marker("<end>") ;')
    assert grammar.accepts("<|call|>ab<end>")
    check = grammar.check("<|call|>ab")
    assert (check.reason, check.continuation) == ("incomplete", "<end>")
    assert check.expected == "'a'-'z' '<end>'"
    assert grammar.check("").expected == "'<|call|>'"
    assert grammar.check("<|call|>ab<en").offset == 10


def test_a_tab_keeps_the_caret_in_its_column() -> None:
    check = Grammar.literal("\tab").check("\tac")
    assert check.excerpt == "\tac\n\t ^"


def test_accepts_takes_a_text_as_it_is() -> None:
    grammar = Grammar.literal("é")
    assert grammar.accepts("é")
    assert not grammar.accepts("é\n")
    assert grammar.check("é\n").accepted
    with pytest.raises(ArgumentError):
        grammar.accepts(b"x")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ('start ::= "a" ;', "a"),
        ('root ::= "a" ;', "a"),
        ("root ::= [a-c]+ # some\n", "abc"),
        ("root ::= first+\nfirst ::= #'[a-c]' ;", "abc"),
        ('start = "a";', "a"),
        ('?start: "a" b\nb: /x+/', "axx"),
        ('{"type": "integer"}', "12"),
        (' {"type": "structural_tag", "format": {"type": "const_string", "value": "x"}}', "x"),
    ],
)
def test_the_notation_of_a_text_is_found(source: str, text: str) -> None:
    assert Grammar.from_text(source).accepts(text)


def test_a_text_may_be_named() -> None:
    assert Grammar.from_text("a+", "regex").accepts("aa")
    assert Grammar.from_text('x ::= "a"', "gbnf", start="x").accepts("a")
    assert Grammar.from_text("name: a", "regex").accepts("name: a")
    for bad in (lambda: Grammar.from_text("hello"), lambda: Grammar.from_text("a", "yacc")):  # type: ignore[arg-type]
        with pytest.raises(ArgumentError) as refusal:
            bad()
        assert refusal.value.code == "E-GRAMMAR-DIALECT"
        assert "gbnf" in (refusal.value.hint or "")


def test_the_mistake_of_the_notation_that_came_furthest_is_told() -> None:
    with pytest.raises(GrammarError) as refusal:
        Grammar.from_text('root ::= first second\nfirst ::= [a-z]+\nsecond ::= "b" |\n  ) "c"\n')
    assert refusal.value.line == 4


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("g.ebnf", 'root ::= "a" ;'),
        ("g.kbnf", 'start = "a";'),
        ("g.gbnf", 'root ::= "a"'),
        ("g.lark", 'start: "a"'),
        ("g.regex", "a\n"),
        ("g.json", '{"const": 1}'),
        ("g.txt", 'start: "a"'),
    ],
)
def test_a_file_is_read_by_its_suffix(tmp_path: Path, name: str, source: str) -> None:
    path = tmp_path / name
    path.write_text(source)
    assert Grammar.from_file(path).accepts("1" if name == "g.json" else "a")


def test_a_mistake_in_a_file_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "broken.gbnf"
    path.write_text('root ::= "a" b\n')
    with pytest.raises(GrammarError) as refusal:
        Grammar.from_file(str(path))
    assert str(refusal.value).startswith("E-GRAMMAR-UNDEFINED")
    assert f"{path}:1:14" in str(refusal.value)


def test_a_file_that_cannot_be_read_is_an_error_of_the_library(tmp_path: Path) -> None:
    with pytest.raises(GrammarError, match="cannot be read") as caught:
        Grammar.from_file(tmp_path / "missing.ebnf")
    assert caught.value.code == "E-GRAMMAR-READ"
    assert caught.value.source == str(tmp_path / "missing.ebnf")


@pytest.mark.parametrize(
    "source",
    [
        'start ::= "a" (b | c)* ; b ::= #"[a-z]"{2,4} % "," ; c ::= b? "x" ;',
        'start ::= except!("--", 5) until!("x", "y") ;',
        "start ::= 'select'i & ~'SELECT' ;",
        'start ::= "(" start ")" | #"[0-9]+" & ~"7" ;',
    ],
)
def test_printed_grammars_read_back_without_warnings(source: str) -> None:
    grammar = Grammar.from_ebnf(source)
    assert Grammar.from_gbnf(str(grammar.to_gbnf())).warnings == ()
    assert Grammar.from_ebnf(grammar.to_ebnf()).warnings == ()


def test_json_schemas_print_without_warnings() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer", "minimum": 3}, "b": {"type": "array", "items": {"$ref": "#"}}},
        "required": ["a"],
        "additionalProperties": False,
    }
    grammar = Grammar.from_json_schema(schema)
    assert Grammar.from_gbnf(str(grammar.to_gbnf())).warnings == ()
    assert Grammar.from_ebnf(grammar.to_ebnf()).warnings == ()
