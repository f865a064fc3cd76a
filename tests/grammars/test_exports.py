"""Grammars in the languages of other engines: the same language, or said what of it is not held."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

import syntagma as sg
from syntagma.grammars import Gbnf
from tests.grammars.test_gbnf_round_trip import _COMPILER, GRAMMARS, _texts
from tests.grammars.walks import accepts

_WORDS = sg.Grammar.from_ebnf('start ::= ("ab" "cd" | "abc" "x" | #"[a-z]{2,3}é?" "\\t\\"/")+ ;')
_CALL = sg.Grammar.concat(sg.Grammar.marker("<call>"), sg.Grammar.from_choices(["f", "g"]), sg.Grammar.marker("[END]"))


@pytest.mark.parametrize("name", GRAMMARS)
def test_lark_reads_back_as_the_same_language(name: str) -> None:
    again = _COMPILER.compile(sg.Grammar.from_lark(GRAMMARS[name].to_lark()))
    compiled = _COMPILER.compile(GRAMMARS[name])
    for text in _texts(name):
        assert accepts(again, text) == accepts(compiled, text), text


@pytest.mark.parametrize("name", GRAMMARS)
def test_llguidance_agrees(name: str) -> None:
    guidance = pytest.importorskip("llguidance")

    class Bytes:
        eos_token_id, bos_token_id, special_token_ids = 256, None, (256,)
        tokens = (*(bytes([value]) for value in range(256)), b"<end>")

        def __call__(self, text: str | bytes) -> list[int]:
            return list(text if isinstance(text, bytes) else text.encode())

    tokenizer = guidance.LLTokenizer(guidance.TokenizerWrapper(Bytes()))
    lark = GRAMMARS[name].to_lark()
    for text in _texts(name):
        matcher = guidance.LLMatcher(tokenizer, lark)
        assert not matcher.get_error()
        written = list(text.encode())
        taken = matcher.try_consume_tokens(written) == len(written) and matcher.is_accepting()
        assert taken == GRAMMARS[name].accepts(text), text


def test_every_terminal_is_one_character_so_that_the_longest_match_hides_nothing() -> None:
    lark = _WORDS.to_lark()
    assert sg.Grammar.from_lark(lark).accepts('abcdabcxzzé\t"/')
    texts = re.findall(r'"(?:[^"\\]|\\.)*"', lark)
    assert texts
    assert {len(json.loads(text)) for text in texts} <= {0, 1}


def test_markers_go_along_as_tokens_or_not_at_all() -> None:
    with pytest.raises(sg.GrammarError, match=r"\[END\]") as caught:
        _CALL.to_lark()
    assert caught.value.code == "E-GRAMMAR-UNPRINTABLE"
    assert "<call>" in sg.Grammar.marker("<call>").to_lark()
    assert "<[7]>" in _CALL.to_lark({"<call>": 7, "[END]": 8})
    assert "<[8]>" in _CALL.to_lark({"<call>": 7, "[END]": 8})
    assert sg.Grammar.from_lark(_CALL.to_lark({})).accepts("<call>f[END]")


def test_tokens_but_some_are_said_by_what_they_lack() -> None:
    lark = sg.Grammar.token_except(8).to_lark()
    assert "<[^8]>" in lark
    assert sg.Grammar.from_lark(lark).to_lark() == lark
    assert "<[1-5,7]>" in sg.Grammar.token_ids((1, 5), (7, 7)).to_lark()


@pytest.mark.parametrize("given", [3, "x", {3: 4}, {"a": "b"}, {"a": -1}, {"a": 2**32}])
def test_wrong_ids_are_typed_errors(given: Any) -> None:
    with pytest.raises(sg.errors.ArgumentError):
        _CALL.to_lark(given)


def test_exports_say_what_is_held() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    exact = sg.Grammar.from_json_schema(schema).exports()
    assert {name: export.status for name, export in exact.items()} == {
        "ebnf": "exact",
        "gbnf": "exact",
        "lark": "exact",
        "xgrammar": "exact",
        "structural_tag": "exact",
        "json_schema": "exact",
    }
    assert exact["json_schema"].source == schema


def test_what_a_schema_does_not_hold_is_said_at_its_pointer() -> None:
    schema = {"type": "array", "uniqueItems": True}
    exports = sg.Grammar.from_json_schema(schema).exports()
    for language in ("ebnf", "gbnf", "lark", "xgrammar"):
        assert exports[language].status == "wider"
        assert set(exports[language].where) == {"/uniqueItems"}
    assert exports["json_schema"].status == "exact"


def test_what_cannot_be_said_says_why() -> None:
    exports = _CALL.exports()
    assert (exports["lark"].status, exports["json_schema"].status) == ("no", "no")
    assert "[END]" in str(exports["lark"].why)
    assert exports["gbnf"].preserved_tokens == ("<call>", "[END]")
    assert _CALL.exports({"<call>": 7, "[END]": 8})["lark"].status == "exact"
    tokens = sg.Grammar.token_ids((1, 5)).exports()
    assert (tokens["xgrammar"].status, tokens["gbnf"].status) == ("exact", "exact")
    assert "Token(5)" in str(tokens["xgrammar"].source)
    named = sg.Grammar.token("<end>").exports()
    assert (named["xgrammar"].status, named["gbnf"].status) == ("no", "exact")
    assert "<end>" in str(named["xgrammar"].why)
    assert "Token(9)" in str(sg.Grammar.token("<end>").exports({"<end>": 9})["xgrammar"].source)
    assert "ExcludeToken(9)" in str(sg.Grammar.token_except(9).exports()["xgrammar"].source)


def test_what_looks_like_a_token_in_text_stays_text() -> None:
    odd = sg.Grammar.concat(
        sg.Grammar.literal('"<[3]>\\"'), sg.Grammar.from_regex(r"[<\[\]\x01>]"), sg.Grammar.marker("<a>")
    )
    written = odd.to_gbnf({"<a>": 5})
    assert written.token_ids == {5}
    assert written.preserved_tokens == ()
    assert "Token(3)" not in written.for_xgrammar()
    assert "Token(5)" in written.for_xgrammar()
    assert "\\u0001" in written.for_xgrammar()


def test_bounds_are_not_carried_in_text() -> None:
    bounded = sg.Grammar.labelled("thought", sg.Grammar.from_regex("a*")).bounded("thought", tokens=3)
    exports = bounded.exports()
    assert exports["gbnf"].where == {"thought": "more than 3 tokens are accepted"}


def test_a_tag_holds_schemas_as_text_if_asked() -> None:
    grammar = sg.Grammar.from_json_schema({"not": {"type": "object"}})
    tag = grammar.to_structural_tag(schemas="text")
    assert tag["format"]["type"] == "grammar"
    assert "/format" in tag.embedded
    again = sg.Grammar.from_structural_tag(json.dumps(tag))
    assert [again.accepts(text) for text in ("3", "{}")] == [True, False]
    with pytest.raises(sg.errors.ArgumentError) as caught:
        grammar.to_structural_tag(schemas="odd")  # type: ignore[arg-type]
    assert caught.value.code == "E-ARGUMENT-VALUE"


def test_markers_in_grammar_text_of_a_tag_are_tokens_where_their_numbers_are_known() -> None:
    grammar = sg.Grammar.from_ebnf('start ::= @marker("<call>") (#"[a-z]+" & ~"no") <[8,9]> ;')
    tag = grammar.to_structural_tag(token_ids={"<call>": 7})
    [reason] = tag.embedded.values()
    assert "<call>" not in reason
    assert "Token(7)" in tag["format"]["grammar"]
    again = sg.Grammar.from_structural_tag(json.dumps(tag)).to_gbnf()
    assert again.token_ids == {7, 8, 9}


def test_forms_of_xgrammar_for_tokens_are_read() -> None:
    def read(text: str) -> sg.Grammar:
        tag = {"type": "structural_tag", "format": {"type": "grammar", "grammar": text}}
        return sg.Grammar.from_structural_tag(tag)

    written = read('root ::= Token(1, 2) "Token(3)" [Token(4)] ExcludeToken( 5 ) # Token(6)').to_gbnf()
    assert written.token_ids == {1, 2, 5}
    assert "!<[5]>" in written.text
    assert read("root ::= ExcludeToken(1, 2)") == sg.Grammar.from_xgrammar("root ::= ExcludeToken(2, 1)")


def test_what_turns_out_to_be_empty_is_left_out() -> None:
    long = "(?:" + "|".join(f"{number:05}x*" for number in range(600)) + ")"
    source = f'start ::= "a" | "b" bad ;\nbad ::= #"{long}" & #"[a-z]+" nothing ;\nnothing ::= "" ;'
    grammar = sg.Grammar.from_ebnf(source)
    for written in (sg.Grammar.from_gbnf(grammar.to_gbnf().text), sg.Grammar.from_lark(grammar.to_lark())):
        assert [written.accepts(text) for text in ("a", "b", "b00001")] == [True, False, False]


@pytest.mark.parametrize(
    "source",
    [
        'start ::= start "a" | "b" ;',
        'start ::= first "x" | "b" ;\nfirst ::= start "y" ;',
        'start ::= maybe start "x" | "b" ;\nmaybe ::= other ;\nother ::= "z"? ;',
        'start ::= ("x" | maybe start)+ ;\nmaybe ::= "z"* ;',
        'start ::= maybe* "b" ;\nmaybe ::= "x"? | "z" maybe "v" ;',
    ],
)
def test_gbnf_that_is_recursive_on_the_left_is_not_carried(source: str) -> None:
    grammar = sg.Grammar.from_ebnf(source)
    export = grammar.exports()["gbnf"]
    assert (export.status, export.source) == ("no", None)
    assert grammar.to_gbnf().left_recursive_rule == "root"
    assert export.why is not None
    assert "'root' is recursive on the left" in export.why
    # Others read such rules.
    assert grammar.exports()["ebnf"].status == "exact"


@pytest.mark.parametrize(
    "source",
    [
        'start ::= "a" start | "b" ;',
        'start ::= "(" start ")" start | "" ;',
        'start ::= maybe "x" start | "b" ;\nmaybe ::= "z"? ;',
        'start ::= "start ::= start" | #"[start]" start ;',
        'start ::= ("x" | "y" start)* maybe{0,3} ;\nmaybe ::= "z"? | "v" maybe "w" ;',
    ],
)
def test_gbnf_that_is_recursive_elsewhere_is_carried(source: str) -> None:
    grammar = sg.Grammar.from_ebnf(source)
    assert grammar.exports()["gbnf"].status == "exact"
    assert grammar.to_gbnf().left_recursive_rule is None


def test_grammars_of_the_formats_are_not_recursive_on_the_left() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array"}, "b": {"type": "object"}}}
    tools = [{"type": "function", "function": {"name": "f", "parameters": schema}}]
    for name in sg.formats.names():
        assert sg.formats.get(name).grammar(tools).to_gbnf().left_recursive_rule is None, name


@pytest.mark.parametrize("but", [False, True])
def test_a_tag_names_many_tokens(but: bool) -> None:
    """Named are those that may come, or those that may not, whichever are fewer."""
    last = 2**32 - 1
    ranges = [(number, number) for number in range(0, 2000, 2)]
    if but:
        ranges = [*((number, number) for number in range(1, 2000, 2)), (2000, last)]
    tag = sg.Grammar.token_ids(*ranges).to_structural_tag()
    assert tag["format"]["type"] == ("exclude_token" if but else "or")
    assert sg.Grammar.from_structural_tag(json.dumps(tag)).to_structural_tag() == tag
    with pytest.raises(sg.GrammarError, match="1000 are too many"):
        sg.Grammar.token_ids(*ranges).to_structural_tag(limits=sg.Limits(grammar_alternatives=999))


def test_a_tag_with_many_tokens_lets_just_these_come() -> None:
    size = 601
    info = sg.TokenizerInfo.from_tokens([b"t%d" % number for number in range(size)], eos_token_ids=[size - 2])
    named = range(0, size, 2)
    tag = sg.Grammar.token_ids(*((number, number) for number in named)).to_structural_tag()
    compiled = sg.GrammarCompiler(info).compile(sg.Grammar.from_structural_tag(tag))
    matcher = sg.GrammarMatcher(compiled)
    assert [number for number in range(size) if matcher.accepts(number)] == list(named)


def test_left_recursion_is_found_in_large_grammars() -> None:
    """Every part of a grammar is looked at once: large and deep ones take no longer than their size."""
    choices = " | ".join(['maybe "x"'] * 20_000)
    wide = Gbnf(f'root ::= {choices}\nmaybe ::= "a"?\n', ())
    deep = Gbnf(f"root ::= {'(' * 20_000}root{')?' * 20_000}\n", ())
    assert wide.left_recursive_rule is None
    assert deep.left_recursive_rule == "root"
