"""Words of a schema that resemble keywords, and the keyword that forbids a text."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntagma.grammars import Grammar, forbidding_keyword, misspelt_keywords
from syntagma.grammars.schema_keywords import CONSTRAINTS, DATA, NAMED

LONG = sorted(keyword for keyword in CONSTRAINTS if len(keyword) > 5)


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        ({"typ": "string"}, {"/typ": "type"}),
        ({"items": {"max_length": 3}}, {"/items/max_length": "maxLength"}),
        ({"anyOf": [True, {"ref": "#"}]}, {"/anyOf/1/ref": "$ref"}),
        ({"$defs": {"a/b": {"Properties": {}}}}, {"/$defs/a~1b/Properties": "properties"}),
        ({"title": "a", "example": 1, "x-order": 2, "unit": "m", "note": "n"}, {}),
        ({"properties": {"requird": {}, "typ": {}}}, {}),
        ({"enum": [{"typ": 1}], "const": {"typ": 1}, "default": {"typ": 1}}, {}),
        ({"annotation": {"typ": 1}}, {}),
        (True, {}),
        (None, {}),
    ],
)
def test_what_is_found(schema: Any, found: dict[str, str]) -> None:
    assert misspelt_keywords(schema) == found


@given(st.sampled_from(LONG), st.data())
def test_two_neighbouring_letters_exchanged(keyword: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(1, len(keyword) - 2))
    wrong = keyword[:at] + keyword[at + 1] + keyword[at] + keyword[at + 2 :]
    expected = {} if wrong in CONSTRAINTS else {f"/not/{wrong}"}
    assert set(misspelt_keywords({"not": {wrong: True}})) == set(expected)


@given(st.recursive(st.booleans(), lambda inner: st.dictionaries(st.sampled_from(sorted(CONSTRAINTS)), inner)))
def test_keywords_are_not_reported(schema: Any) -> None:
    assert not {p for p in misspelt_keywords(schema) if p.rpartition("/")[2] in CONSTRAINTS}


def test_named_and_data_are_keywords() -> None:
    assert NAMED <= CONSTRAINTS
    assert {"default", "examples"} == DATA - CONSTRAINTS


FORECAST = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 4},
        "unit": {"enum": ["celsius", "kelvin"]},
        "days": {"type": "integer", "maximum": 7},
        "tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}, "maxItems": 1},
    },
    "required": ["city"],
    "additionalProperties": False,
    "$defs": {"tag": {"pattern": "^[a-z]$", "type": "string"}},
}


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        ('{"city": "Paris', "/properties/city/maxLength"),
        ('{"city": 7', "/properties/city/type"),
        ('{"city": "Rome", "unit": "f', "/properties/unit/enum"),
        ('{"city": "Rome", "days": 8,', "/properties/days/maximum"),
        ('{"city": "Rome", "tags": ["A', "/$defs/tag/pattern"),
        ('{"city": "Rome", "tags": ["a",', "/properties/tags/maxItems"),
        ('{"city": "Rome", "x', "/additionalProperties"),
        ("{}", "/required"),
        ("[", "/type"),
        ('{"city": "Rome"}', None),
        ('{"city": ]', None),
    ],
)
def test_the_keyword_that_forbids_a_text(text: str, pointer: str | None) -> None:
    assert forbidding_keyword(FORECAST, text, seconds=60) == pointer


@given(st.sampled_from(sorted({"minimum", "maximum", "multipleOf"})), st.integers(2, 9), st.integers(-99, 99))
def test_the_only_keyword_is_the_one_that_forbids(keyword: str, bound: int, value: int) -> None:
    schema = {"type": "integer", keyword: bound}
    check = Grammar.from_json_schema({"type": "array", "items": schema}).check(f"[{value}]")
    found = forbidding_keyword({"type": "array", "items": schema}, f"[{value}]", seconds=60)
    assert found == (None if check.accepted else f"/items/{keyword}")


@pytest.mark.parametrize(
    ("schema", "code", "pointer", "text"),
    [
        ({"type": "object", "properties": {}, "required": None}, "W-SCHEMA-NULL", "/required", "{}"),
        ({"items": {"type": "string", "pattern": "^(?P<a>x)$"}}, "W-SCHEMA-PATTERN", "/items/pattern", '["x"]'),
    ],
)
def test_what_is_read_with_a_warning_has_a_place(schema: dict[str, Any], code: str, pointer: str, text: str) -> None:
    grammar = Grammar.from_json_schema(schema)
    (warning,) = grammar.warnings
    assert (warning.code, warning.pointer, warning.line) == (code, pointer, None)
    assert f"(at {pointer})" in str(warning)
    assert grammar.report.status == "exact"
    assert grammar.accepts(text)
    assert pickle.loads(pickle.dumps(grammar)).warnings == (warning,)
    assert grammar.with_pointer_prefix("/tools/0").warnings[0].pointer == f"/tools/0{pointer}"
