"""Structural tags: what they mean, and what is refused where."""

from __future__ import annotations

import json
from typing import Any

import pytest

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
    (FREE, ["", "any <thing>\n"], []),
    (FREE | {"excludes": ["ab", "c"]}, ["", "ba"], ["xaby", "c"]),
    (FREE | {"max_chars": 2, "excludes": ["a"]}, ["", "éx"], ["bcd", "a"]),
    ({"type": "sequence", "elements": [A, {"type": "star", "content": A}, A]}, ["aa", "aaaa"], ["a"]),
    ({"type": "sequence", "elements": []}, [""], ["a"]),
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
    for given in (whole, json.dumps(whole), {"type": "structural_tag", "structural_tag": whole}, value):
        grammar = Grammar.from_structural_tag(given)
        assert [text for text in inside if not grammar.accepts(text)] == []
        assert [text for text in outside if grammar.accepts(text)] == []


def test_the_older_form() -> None:
    structure = {"begin": "<f=y>", "schema": SIZE, "end": "</f>"}
    grammar = Grammar.from_structural_tag({"type": "structural_tag", "structures": [structure], "triggers": ["<f="]})
    assert grammar.check('text <f=y>{"n": 3}</f> more').accepted
    assert not grammar.check("text <f=y>{}</f>").accepted


def test_tokens() -> None:
    pair = [{"type": "token", "token": 7}, {"type": "token", "token": "<end>"}]
    value = {
        "type": "tag",
        "begin": pair[0],
        "content": {"type": "exclude_token", "exclude_tokens": [2, 0]},
        "end": pair[1],
    }
    written = Grammar.from_structural_tag(value).to_ebnf()
    for part in ("<[7]>", "<[1,3..4294967295]>", '@token("<end>")'):
        assert part in written


REFUSED: list[tuple[Any, str, str]] = [
    ([], "E-GRAMMAR-TYPE", ""),
    ({}, "E-GRAMMAR-STRUCTURAL-TAG", ""),
    ({"format": 5}, "E-GRAMMAR-STRUCTURAL-TAG", "/format"),
    ({"format": {"type": "odd"}}, "E-GRAMMAR-UNSUPPORTED", "/format/type"),
    ({"format": {"type": "any_tokens"}}, "E-GRAMMAR-UNSUPPORTED", "/format/type"),
    ({"format": FREE | {"max_tokens": 3}}, "E-GRAMMAR-UNSUPPORTED", "/format/max_tokens"),
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
    ({"format": {"type": "exclude_token", "exclude_tokens": ["x"]}}, "E-GRAMMAR-UNSUPPORTED", "/format/exclude_tokens"),
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
