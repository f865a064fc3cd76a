"""Styles of structural tags: the rule that holds for each, and what is refused."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import syntagma as sg
from syntagma.errors import FormatError, GrammarError
from syntagma.format_schema import read_toml
from syntagma.formats import styled
from syntagma.formats.registry import registry

STYLES = [name for each in registry.names() for name in registry.tables(each).get("styles", {})]
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "n": {"type": "integer"}, "b": {"type": "boolean"}},
    "required": ["a"],
}


def grammar(style: str, schema: Any, **more: Any) -> sg.Grammar:
    tag = {"format": {"type": "json_schema", "style": style, "json_schema": schema, **more}}
    return sg.Grammar.from_structural_tag(tag, styles=styled)


def member(style: str, key: str, kind: str, value: str) -> str:
    spec = registry.style(style)
    word = next(iter(spec.words(kind)))
    return re.sub("{key}", key, spec.argument.text).replace("{type}", word).replace("\n", "").replace("{value}", value)


@pytest.mark.parametrize("style", STYLES)
@given(text=st.text("ab <&\"'\n{}", max_size=8), number=st.integers(-99, 99), data=st.data())
def test_members_stand_in_the_order_of_the_schema(style: str, text: str, number: int, data: st.DataObject) -> None:
    written = [member(style, "a", "string", text), member(style, "n", "number", str(number))]
    gap = data.draw(st.sampled_from(["", "\n", "  "]))
    whole = grammar(style, SCHEMA)
    assert whole.accepts(gap.join([*written, member(style, "b", "boolean", "true")]) + gap)
    assert whole.accepts(written[0])
    assert not whole.accepts(written[1])
    assert not whole.accepts(gap.join(reversed(written)))
    assert not whole.accepts(written[0] + member(style, "n", "number", "x"))
    assert grammar(style, SCHEMA, any_order=True).accepts(gap.join(reversed(written)))


@pytest.mark.parametrize("style", STYLES)
def test_a_string_ends_at_its_closer_and_holds_nothing_excluded(style: str) -> None:
    closer = registry.style(style).argument.around("value")[1]
    text = member(style, "a", "string", "x<end>y")
    assert grammar(style, SCHEMA).accepts(text)
    assert not grammar(style, SCHEMA, excludes=["<end>"]).accepts(text)
    assert not grammar(style, SCHEMA).accepts(text + closer)


@pytest.mark.parametrize("low", range(4))
@pytest.mark.parametrize("high", [None, 1, 2, 4])
def test_the_number_of_members_is_held(low: int, high: int | None) -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {key: {"type": "integer"} for key in "abc"},
        "required": ["b"],
        "patternProperties": {"^x": {"type": "integer"}},
        "additionalProperties": False,
        "minProperties": low,
    }
    if high is not None:
        schema["maxProperties"] = high
        if high < max(low, 1):
            with pytest.raises(GrammarError):
                grammar("qwen_xml", schema)
            return
    held = grammar("qwen_xml", schema)
    for keys in (["b"], ["a", "b"], ["a", "b", "c"], ["b", "x1"], ["a", "b", "c", "x1", "x2"], ["a"], ["b", "y"]):
        fits = "b" in keys and low <= len(keys) <= (9 if high is None else high) and "y" not in keys
        text = "".join(f"<parameter={key}>1</parameter>" for key in keys)
        assert held.accepts(text) is fits, keys


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ({"type": "object", "if": {}}, "/if"),
        ({"type": "object", "properties": {"a": {"minLength": 2}}}, "/properties/a"),
        ({"type": "object", "propertyNames": {"minLength": 2}}, "/propertyNames"),
        (
            {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "x"}}}},
            "/properties/a/items/type",
        ),
    ],
)
def test_what_a_style_does_not_hold_is_refused_at_its_place(schema: Any, pointer: str) -> None:
    with pytest.raises(GrammarError) as caught:
        grammar("qwen_xml", schema)
    assert caught.value.pointer == f"/format/json_schema{pointer}"


def test_recursion_through_elements_is_refused() -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "#"}}}
    with pytest.raises(GrammarError, match="refers to itself"):
        grammar("minimax_m3_xml", schema)
    assert grammar("qwen_xml", schema).accepts('<parameter=a>{"a": {}}</parameter>')


def test_without_the_function_a_style_is_refused_with_a_hint() -> None:
    tag = {"format": {"type": "json_schema", "style": "qwen_xml", "json_schema": {}}}
    with pytest.raises(GrammarError) as caught:
        sg.Grammar.from_structural_tag(tag)
    assert "syntagma.formats.styled" in (caught.value.hint or "")
    assert sg.Grammar.from_text(str(tag).replace("'", '"'), "structural_tag", styles=styled).accepts("")


@pytest.mark.parametrize(
    ("table", "code"),
    [
        ('argument = "<{key}>"', "E-FORMAT-PATTERN"),
        ('argument = "<{key}>{value}</>"\ntypes = { a = "json" }', "E-FORMAT-PATTERN"),
        ('arguments = "<{key}>{value}</>"', "E-FORMAT-TYPE"),
        ("argument = 1", "E-FORMAT-TYPE"),
    ],
)
def test_a_style_is_checked_where_its_file_is_read(table: str, code: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_toml(f'[tools]\ncall = "<{{name}}>{{arguments}}</>"\n[styles.own]\n{table}\n')
    assert caught.value.code == code
