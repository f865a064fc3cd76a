"""Structural tags: what they mean, and what is refused where."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

from syntagma.decoding import CompiledGrammar, GrammarCompiler, GrammarMatcher, TokenizerInfo
from syntagma.errors import GrammarError, LimitError, UnsupportedSchema
from syntagma.grammars import Grammar
from syntagma.limits import Limits

A: dict[str, Any] = {"type": "const_string", "value": "a"}
FREE: dict[str, Any] = {"type": "any_text"}
SIZE = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}


def tag(begin: str, content: dict[str, Any], end: Any) -> dict[str, Any]:
    return {"type": "tag", "begin": begin, "content": content, "end": end}


CALLS = [tag("<f=x>", A, "</f>"), tag("<f=y>", {"type": "json_schema", "json_schema": SIZE}, "</f>")]


def switched(**fields: Any) -> dict[str, Any]:
    return {"type": "triggered_tags", "triggers": ["<f="], "tags": CALLS} | fields


MEANING: list[tuple[dict[str, Any], list[str], list[str]]] = [
    (A, ["a"], ["", "aa"]),
    ({"type": "regex", "pattern": "[0-9]{2}"}, ["12"], ["1", "123"]),
    ({"type": "grammar", "grammar": 'root ::= "x" y\ny ::= [0-9]'}, ["x1"], ["x"]),
    ({"type": "json_schema", "json_schema": SIZE}, ['{"n":1}', '{ "n": 1 }'], ["{}", '{"n":"1"}']),
    (
        {"type": "json_schema", "json_schema": SIZE, "max_whitespace_cnt": 2, "excludes": [], "style": "json"},
        ['{"n":1}', '{  "n":\n 1}'],
        ['{   "n":1}', '{"n":1    }'],
    ),
    ({"type": "json_schema", "json_schema": SIZE, "max_whitespace_cnt": None}, ['{   "n":1}'], ['{"n":""}']),
    ({"type": "json_schema", "json_schema": SIZE, "max_whitespace_cnt": 1000}, ['{   "n":1}'], ["{" + " " * 65 + "}"]),
    (FREE, ["", "any <thing>\n"], []),
    (FREE | {"excludes": ["ab", "c"]}, ["", "ba"], ["xaby", "c"]),
    (FREE | {"max_chars": 2, "excludes": ["a"]}, ["", "éx"], ["bcd", "a"]),
    ({"type": "sequence", "elements": [A, {"type": "star", "content": A}, A]}, ["aa", "aaaa"], ["a"]),
    ({"type": "or", "elements": [A, {"type": "const_string", "value": "b"}]}, ["a", "b"], ["", "ab"]),
    ({"type": "optional", "content": A}, ["", "a"], ["aa"]),
    ({"type": "plus", "content": A}, ["a", "aaa"], [""]),
    ({"type": "repeat", "min": 1, "max": 2, "content": A}, ["a", "aa"], ["", "aaa"]),
    ({"type": "repeat", "min": 2, "max": -1, "content": A}, ["aa", "aaaa"], ["a"]),
    (tag("<t>", FREE, "</t>"), ["<t></t>", "<t>x<y</t>"], ["<t>", "<t>x</t>y</t>"]),
    (tag("<t>", FREE, ["</t>", "</u>"]), ["<t>x</t>", "<t>x</u>"], ["<t>a</u>b</t>"]),
    (tag("", {"type": "sequence", "elements": [A, FREE]}, "."), ["a.", "axy."], ["ax.y."]),
    (switched(), ["", "text", "t<f=x>a</f>u<f=y>{}</f>".replace("{}", '{"n":2}')], ["<f=z>", "<f=x>b</f>", "<f="]),
    (switched(stop_after_first=True), ["", "text", "t<f=x>a</f>"], ["t<f=x>a</f>u", "<f=x>a</f><f=x>a</f>"]),
    (switched(at_least_one=True), ["<f=x>a</f>", "<f=x>a</f>t<f=x>a</f>u"], ["", "t<f=x>a</f>"]),
    (switched(at_least_one=True, stop_after_first=True), ["<f=x>a</f>"], ["", "<f=x>a</f>t"]),
    (switched(excludes=["no"]), ["on<f=x>a</f>", "n"], ["no", "<f=x>a</f>no"]),
    (tag("<r>", switched(), "</r>"), ["<r>t<f=x>a</f>u</r>", "<r></r>"], ["<r>t</r>u</r>"]),
    (
        {"type": "tags_with_separator", "tags": CALLS[:1], "separator": ", "},
        ["", "<f=x>a</f>", "<f=x>a</f>, <f=x>a</f>"],
        ["<f=x>a</f>,", "t"],
    ),
    (
        {
            "type": "tags_with_separator",
            "tags": CALLS[:1],
            "separator": ",",
            "at_least_one": True,
            "stop_after_first": True,
        },
        ["<f=x>a</f>"],
        ["", "<f=x>a</f>,<f=x>a</f>"],
    ),
    ({"type": "dispatch", "rules": [["[", A]]}, ["", "x[ay[a"], ["[b"]),
    ({"type": "dispatch", "rules": [["[", A]], "loop": False}, ["x", "x[a"], ["[ax"]),
]


@pytest.mark.parametrize(("value", "inside", "outside"), MEANING, ids=[json.dumps(case[0])[:50] for case in MEANING])
def test_formats_mean_what_they_say(value: dict[str, Any], inside: list[str], outside: list[str]) -> None:
    whole = {"type": "structural_tag", "format": value}
    again = Grammar.from_structural_tag(value).to_structural_tag()
    assert not again.wider
    for given in (whole, json.dumps(whole), {"type": "structural_tag", "structural_tag": whole}, value, again):
        grammar = Grammar.from_structural_tag(given)
        assert [text for text in inside if not grammar.accepts(text)] == []
        assert [text for text in outside if grammar.accepts(text)] == []


def test_the_older_form() -> None:
    structure = {"begin": "<f=y>", "schema": SIZE, "end": "</f>"}
    grammar = Grammar.from_structural_tag({"type": "structural_tag", "structures": [structure], "triggers": ["<f="]})
    assert grammar.check('text <f=y>{"n": 3}</f> more').accepted
    assert not grammar.check("text <f=y>{}</f>").accepted


def token(value: int | str) -> dict[str, Any]:
    return {"type": "token", "token": value}


WORDS = ["a", "b", "ab", "<t>", "</t>", "<u>", "</s>"]
"""tokens by their numbers, the last four special, the last one the end"""
ENDED = {"type": "tag", "begin": token("<t>"), "end": token("</t>")}
BS: dict[str, Any] = {"type": "regex", "pattern": "b+"}

TOKEN_MEANING: list[tuple[dict[str, Any], list[list[int]], list[list[int]]]] = [
    (token(2), [[2]], [[0], [0, 1]]),
    (token("<t>"), [[3]], [[4]]),
    ({"type": "exclude_token", "exclude_tokens": [0, 2]}, [[1], [3], [5]], [[0], [2], [1, 1]]),
    ({"type": "exclude_token", "exclude_tokens": ["<t>", 0]}, [[1], [4]], [[3], [0]]),
    (ENDED | {"content": {"type": "exclude_token"}}, [[3, 0, 4], [3, 5, 4]], [[3, 4], [3, 4, 4]]),
    (ENDED | {"content": {"type": "any_tokens"}}, [[3, 4], [3, 0, 5, 3, 4]], [[3, 4, 4]]),
    (
        ENDED | {"content": {"type": "any_tokens", "exclude_tokens": ["<u>"], "max_tokens": 2}},
        [[3, 4], [3, 0, 1, 4]],
        [[3, 5, 4], [3, 0, 0, 0, 4]],
    ),
    ({"type": "any_tokens", "max_tokens": 0, "exclude_tokens": []}, [[]], [[0]]),
    (
        {"type": "token_dispatch", "rules": [["<t>", A], [5, BS]], "exclude_tokens": ["</t>"]},
        [[], [0, 1], [3, 0, 5, 1, 1], [2, 3, 0, 2]],
        [[3], [3, 1], [4], [0, 4], [5, 0]],
    ),
    (
        {"type": "token_dispatch", "rules": [[3, A]], "loop": False},
        [[0], [0, 3, 0]],
        [[3, 0, 0], [3, 0, 3, 0]],
    ),
    (
        {"type": "token_triggered_tags", "trigger_tokens": ["<t>"], "tags": [ENDED | {"content": A}]},
        [[], [1, 4], [3, 0, 4], [1, 3, 0, 4, 2, 3, 0, 4]],
        [[3], [3, 1, 4], [3, 0]],
    ),
    (
        {
            "type": "token_triggered_tags",
            "trigger_tokens": ["<t>", 5],
            "tags": [ENDED | {"content": A}],
            "exclude_tokens": [1],
            "at_least_one": True,
        },
        [[3, 0, 4], [3, 0, 4, 2, 3, 0, 4, 0]],
        [[], [0, 3, 0, 4], [3, 0, 4, 1], [3, 0, 4, 5]],
    ),
    (
        {
            "type": "token_triggered_tags",
            "trigger_tokens": ["<t>"],
            "tags": [ENDED | {"content": A}],
            "at_least_one": True,
            "stop_after_first": True,
        },
        [[3, 0, 4]],
        [[3, 0, 4, 0]],
    ),
    # Text of a format may be written in special tokens where it is a marker of the model.
    ({"type": "const_string", "value": "<t>a</t>"}, [[3, 0, 4]], [[3, 4]]),
    ({"type": "tags_with_separator", "tags": [tag("a", A, "")], "separator": "<u>"}, [[0, 0, 5, 0, 0]], [[0, 0, 0, 0]]),
]


@pytest.mark.parametrize(
    ("value", "inside", "outside"), TOKEN_MEANING, ids=[json.dumps(c[0])[:50] for c in TOKEN_MEANING]
)
def test_token_formats_mean_what_they_say(
    value: dict[str, Any], inside: list[list[int]], outside: list[list[int]]
) -> None:
    words = [word.encode() for word in WORDS]
    info = TokenizerInfo.from_tokens(words, eos_token_ids=[6], special_token_ids=[3, 4, 5, 6])
    compiler = GrammarCompiler(info)
    grammar = Grammar.from_structural_tag(value)
    written = Grammar.from_structural_tag(grammar.to_structural_tag())
    for made in (grammar, Grammar.from_ebnf(grammar.to_ebnf()), pickle.loads(pickle.dumps(grammar)), written):
        compiled = compiler.compile(made)
        assert [ids for ids in inside if not accepts_ids(compiled, ids)] == []
        assert [ids for ids in outside if accepts_ids(compiled, ids)] == []


def accepts_ids(compiled: CompiledGrammar, ids: list[int]) -> bool:
    matcher = GrammarMatcher(compiled)
    return all(matcher.accept_token(one) for one in ids) and matcher.is_accepting()


@pytest.mark.parametrize(
    ("grammar", "kind", "inside", "outside"),
    [
        (Grammar.from_choices(["a", "b", ""]), "optional", ["", "a"], ["ab"]),
        (Grammar.from_ebnf('start ::= "a" start "b" | "" ;'), "grammar", ["", "aabb"], ["aab"]),
        (Grammar.from_regex("(?<!a)b|[^b]", dialect="ecma"), "grammar", ["b", "c"], ["ab"]),
        (Grammar.repeat(Grammar.literal("a"), 2, 3, separator=Grammar.literal(",")), "sequence", ["a,a"], ["a", "a,"]),
        (Grammar.from_json_schema({"type": "integer"}, indent=2), "grammar", ["12"], ["x"]),
        (Grammar.from_json_schema({"type": "array"}, order="any"), "json_schema", ["[ 1 ]"], ["{}"]),
        (Grammar.text(without=["ab"], closer="</t>"), "any_text", ["", "ba"], ["ab", "b</t>"]),
        (Grammar.literal(""), "const_string", [""], ["a"]),
        (Grammar.from_json_schema({"type": "array"}, whitespace_pattern=" *"), "grammar", ["[ ]"], ["[\n]"]),
        (pickle.loads(pickle.dumps(Grammar.literal("a]"))), "grammar", ["a]"], ["a"]),
    ],
)
def test_any_grammar_is_written(grammar: Grammar, kind: str, inside: list[str], outside: list[str]) -> None:
    tag = grammar.to_structural_tag()
    assert tag["format"]["type"] == kind
    assert bool(tag.embedded) == (kind == "grammar")
    back = Grammar.from_structural_tag(tag)
    assert [text for text in inside if not (grammar.accepts(text) and back.accepts(text))] == []
    assert [text for text in outside if grammar.accepts(text) or back.accepts(text)] == []


def test_a_closer_that_repeats_itself_is_said_to_be_wider() -> None:
    grammar = Grammar.concat(Grammar.text(closer="aa"), Grammar.literal("aa"))
    assert list(grammar.to_structural_tag().wider) == ["/format/elements/0"]


def test_what_no_tag_can_say() -> None:
    with pytest.raises(GrammarError) as caught:
        Grammar.token_ids((1, 500_000), (1_000_000, 2**32 - 1000)).to_structural_tag()
    assert caught.value.code == "E-GRAMMAR-UNSUPPORTED"


def test_a_bound_in_tokens_forces_the_end_of_the_tag() -> None:
    info = TokenizerInfo.from_tokens([b"a", b"<", b"/t>", b"</s>"], eos_token_ids=[3], special_token_ids=[3])
    bounded = tag("a", FREE | {"max_tokens": 2}, "</t>")
    matcher = GrammarMatcher(GrammarCompiler(info).compile(Grammar.from_structural_tag(bounded)))
    for allowed, one in (({0}, 0), ({0, 1, 2}, 0), ({0, 1, 2}, 2), ({1}, 1), ({2}, 2), ({3}, 3)):
        assert {number for number in range(4) if matcher.accepts(number)} == allowed
        assert matcher.accept_token(one)


def test_tokens_as_text() -> None:
    value = {"type": "exclude_token", "exclude_tokens": [2, '<"end">', 0]}
    written = Grammar.from_structural_tag(value).to_ebnf()
    assert '<[^2,0,"<\\"end\\">"]>' in written
    assert Grammar.from_ebnf(written) == Grammar.from_structural_tag(value)
    assert "<[1,3..4294967295]>" in Grammar.from_ebnf("start ::= <[^2,0]> ;").to_ebnf()
    for wrong in ('<[^""]>', '<["a"]>', "<[^]>", '<[^"a]>'):
        with pytest.raises(GrammarError):
            Grammar.from_ebnf(f"start ::= {wrong} ;")


def test_a_token_that_the_vocabulary_does_not_have() -> None:
    grammar = Grammar.from_structural_tag({"type": "exclude_token", "exclude_tokens": ["<none>"]})
    info = TokenizerInfo.from_tokens([b"a", b"</s>"], eos_token_ids=[1], special_token_ids=[1])
    with pytest.raises(GrammarError) as caught:
        GrammarCompiler(info).compile(grammar)
    assert caught.value.code == "E-VOCAB-TOKEN"


REFUSED: list[tuple[Any, str, str]] = [
    ([], "E-GRAMMAR-TYPE", ""),
    ({}, "E-GRAMMAR-STRUCTURAL-TAG", ""),
    ({"format": 5}, "E-GRAMMAR-STRUCTURAL-TAG", "/format"),
    ({"format": {"type": "odd"}}, "E-GRAMMAR-UNSUPPORTED", "/format/type"),
    ({"format": {"type": "any_tokens", "max_tokens": -1}}, "E-GRAMMAR-STRUCTURAL-TAG", "/format/max_tokens"),
    ({"format": FREE | {"max_tokens": True}}, "E-GRAMMAR-STRUCTURAL-TAG", "/format/max_tokens"),
    (
        {"format": {"type": "star", "content": FREE | {"max_tokens": 3}}},
        "E-GRAMMAR-UNSUPPORTED",
        "/format/content/max_tokens",
    ),
    ({"format": FREE | {"exclude": ["a"]}}, "E-GRAMMAR-UNSUPPORTED", "/format/exclude"),
    ({"format": {"type": "sequence", "elements": []}}, "E-GRAMMAR-STRUCTURAL-TAG", "/format/elements"),
    ({"format": {"type": "or", "elements": []}}, "E-GRAMMAR-STRUCTURAL-TAG", "/format/elements"),
    ({"format": {"type": "grammar", "grammar": ""}}, "E-GRAMMAR-STRUCTURAL-TAG", "/format/grammar"),
    ({"format": {"type": "regex", "pattern": ""}}, "E-GRAMMAR-STRUCTURAL-TAG", "/format/pattern"),
    ({"format": tag("a", A, [])}, "E-GRAMMAR-STRUCTURAL-TAG", "/format/end"),
    ({"format": switched(tags=[])}, "E-GRAMMAR-STRUCTURAL-TAG", "/format/tags"),
    ({"format": switched(triggers=[])}, "E-GRAMMAR-STRUCTURAL-TAG", "/format/triggers"),
    ({"format": switched(at_least_one=1)}, "E-GRAMMAR-STRUCTURAL-TAG", "/format/at_least_one"),
    ({"format": switched(stop_after_first="no")}, "E-GRAMMAR-STRUCTURAL-TAG", "/format/stop_after_first"),
    ({"format": {"type": "dispatch", "rules": [["[", A]], "loop": 0}}, "E-GRAMMAR-STRUCTURAL-TAG", "/format/loop"),
    ({"format": {"type": "dispatch", "rules": []}}, "E-GRAMMAR-STRUCTURAL-TAG", "/format/rules"),
    ({"format": {"type": "dispatch", "rules": [["", A]]}}, "E-GRAMMAR-STRUCTURAL-TAG", "/format/rules/0/0"),
    (
        {"format": {"type": "token_dispatch", "rules": [[-1, A]]}},
        "E-GRAMMAR-STRUCTURAL-TAG",
        "/format/rules/0/0",
    ),
    ({"format": {"type": "token", "token": True}}, "E-GRAMMAR-STRUCTURAL-TAG", "/format/token"),
    (
        {"format": {"type": "token_triggered_tags", "trigger_tokens": [], "tags": []}},
        "E-GRAMMAR-STRUCTURAL-TAG",
        "/format/trigger_tokens",
    ),
    (
        {"format": {"type": "token_triggered_tags", "trigger_tokens": [3], "tags": [tag("a", A, "b")]}},
        "E-GRAMMAR-STRUCTURAL-TAG",
        "/format/tags/0/begin",
    ),
    (
        {"format": {"type": "json_schema", "json_schema": {}, "any_order": 1}},
        "E-GRAMMAR-STRUCTURAL-TAG",
        "/format/any_order",
    ),
    (
        {"format": {"type": "json_schema", "json_schema": {}, "max_whitespace_cnt": 0}},
        "E-GRAMMAR-STRUCTURAL-TAG",
        "/format/max_whitespace_cnt",
    ),
    (
        {"format": {"type": "json_schema", "json_schema": {}, "excludes": ["a"]}},
        "E-GRAMMAR-UNSUPPORTED",
        "/format/excludes",
    ),
    ({"format": FREE | {"max_chars": -1}}, "E-GRAMMAR-STRUCTURAL-TAG", "/format/max_chars"),
    ({"format": FREE | {"excludes": [""]}}, "E-GRAMMAR-STRUCTURAL-TAG", "/format/excludes/0"),
    ({"format": {"type": "sequence"}}, "E-GRAMMAR-STRUCTURAL-TAG", "/format/elements"),
    ({"format": {"type": "or", "elements": [A, {}]}}, "E-GRAMMAR-UNSUPPORTED", "/format/elements/1/type"),
    ({"format": {"type": "repeat", "min": 2, "max": 1, "content": A}}, "E-GRAMMAR-STRUCTURAL-TAG", "/format"),
    ({"format": {"type": "regex", "pattern": "("}}, "E-REGEX-SYNTAX", "/format/pattern"),
    ({"format": {"type": "grammar", "grammar": "root ::= x"}}, "E-GRAMMAR-UNDEFINED", "/format/grammar"),
    ({"format": {"type": "json_schema", "json_schema": {"type": 3}}}, "E-SCHEMA-INVALID", "/format/json_schema/type"),
    ({"format": {"type": "json_schema", "json_schema": {}, "style": "odd"}}, "E-GRAMMAR-UNSUPPORTED", "/format/style"),
    ({"format": tag("a", A, None)}, "E-GRAMMAR-STRUCTURAL-TAG", "/format/end"),
    ({"format": switched(tags=[tag("x", A, "y")])}, "E-GRAMMAR-STRUCTURAL-TAG", "/format/tags/0/begin"),
    (
        {"format": {"type": "exclude_token", "exclude_tokens": [1, ""]}},
        "E-GRAMMAR-STRUCTURAL-TAG",
        "/format/exclude_tokens/1",
    ),
    (
        {"structures": [{"begin": "<f", "schema": {"type": 3}, "end": "x"}], "triggers": ["<f"]},
        "E-SCHEMA-INVALID",
        "/structures/0/schema/type",
    ),
]


@pytest.mark.parametrize(("value", "code", "pointer"), REFUSED, ids=[json.dumps(case[0])[:60] for case in REFUSED])
def test_refusals_have_a_code_and_a_place(value: Any, code: str, pointer: str) -> None:
    with pytest.raises((GrammarError, TypeError)) as caught:
        Grammar.from_structural_tag(value)
    error: Any = caught.value
    assert (error.code, error.pointer or "") == (code, pointer)
    if isinstance(error, UnsupportedSchema):
        assert list(error.pointers)[:1] in ([], [pointer])


def test_text_that_is_no_json() -> None:
    with pytest.raises(GrammarError) as caught:
        Grammar.from_structural_tag('{"format":\n nothing}')
    assert (caught.value.code, caught.value.line) == ("E-GRAMMAR-STRUCTURAL-TAG", 2)


def nested(depth: int) -> dict[str, Any]:
    value = A
    for _ in range(depth - 1):
        value = {"type": "optional", "content": value}
    return {"format": value}


def test_limits_hold_at_the_edge() -> None:
    limits = Limits(grammar_nesting=5, grammar_alternatives=4, grammar_bytes=200)
    many = [{"format": {"type": "or", "elements": [A] * count}} for count in (3, 4)]
    long = [{"format": {"type": "const_string", "value": "a" * count}} for count in (200 - 49, 200 - 48)]
    assert len(json.dumps(long[0])) == 200
    for (fits, past), code in (
        ((nested(5), nested(6)), "E-LIMIT-GRAMMAR-NESTING"),
        ((many[0], many[1]), "E-LIMIT-GRAMMAR-ALTERNATIVES"),
        ((long[0], long[1]), "E-LIMIT-GRAMMAR-BYTES"),
    ):
        bounds = limits if code != "E-LIMIT-GRAMMAR-NESTING" else Limits(grammar_nesting=5)
        Grammar.from_structural_tag(fits, limits=bounds)
        with pytest.raises(LimitError) as caught:
            Grammar.from_structural_tag(past, limits=bounds)
        assert caught.value.code == code


def test_the_deepest_nesting_is_read() -> None:
    assert Grammar.from_structural_tag(nested(128)).check("a").accepted
    with pytest.raises(LimitError):
        Grammar.from_structural_tag(nested(129))
    with pytest.raises((LimitError, GrammarError)):
        Grammar.from_structural_tag(nested(100_000))
