"""What may be asked of the grammar of a schema, and what its report says and checks."""

from __future__ import annotations

import json
from typing import Any

import pytest

import syntagma as sg
from syntagma.grammars.lru_cache import LruCache
from tests.grammars.walks import accepts, byte_compiler

_COMPILER = byte_compiler()
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "array", "items": {"type": "null"}}},
    "required": ["b"],
}
_VALUE = {"a": 1, "b": [None, None]}


def _accepts(text: str, **options: Any) -> bool:
    return accepts(_COMPILER.compile(sg.Grammar.from_json_schema(_SCHEMA, **options)), text)


def test_what_json_dumps_writes_is_what_may_be_asked_for() -> None:
    for given in ({"indent": 2}, {"indent": 0}, {"separators": (", ", ": ")}, {"separators": (",", ":")}):
        written = json.dumps(_VALUE, **given)
        assert _accepts(written, **given)
        assert not _accepts(json.dumps(_VALUE, indent=1), **given)
    assert _accepts(json.dumps(_VALUE, separators=(",", ":")), whitespace="compact")
    assert _accepts(json.dumps(_VALUE), whitespace_pattern=" ?")
    assert not _accepts(json.dumps(_VALUE, indent=1), whitespace_pattern=" ?")


def test_properties_come_as_declared_or_in_any_order() -> None:
    turned = json.dumps({"x": 0, "b": [], "a": 1})
    assert not _accepts(turned)
    assert _accepts(turned, order="any")
    assert not _accepts('{"a": 1}', order="any")


def test_the_draft_may_be_said() -> None:
    schema = {"$ref": "#/$defs/i", "maximum": 3, "$defs": {"i": {"type": "integer"}}}
    for draft, accepted in (("draft-07", True), ("2020-12", False)):
        grammar = sg.Grammar.from_json_schema(schema, draft=draft)
        assert accepts(_COMPILER.compile(grammar), "4") is accepted


@pytest.mark.parametrize(
    "options",
    [
        {"order": "sorted"},
        {"draft": "draft-03"},
        {"whitespace": "any"},
        {"indent": 2, "whitespace": "compact"},
        {"indent": 2, "separators": (",", ":")},
        {"indent": 99},
        {"separators": (";", ":")},
        {"separators": (",",)},
        {"whitespace_pattern": "x"},
    ],
)
def test_options_that_are_not_known_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(sg.SyntagmaError) as caught:
        sg.Grammar.from_json_schema(_SCHEMA, **options)
    assert caught.value.code == "E-SCHEMA-OPTION"


def test_finished_output_is_checked_where_the_grammar_holds_less() -> None:
    schema = {"type": "object", "properties": {"tags": {"type": "array", "uniqueItems": True}}}
    report = sg.Grammar.from_json_schema(schema).report
    assert list(report.pointers) == ["/properties/tags/uniqueItems"]
    assert report.validate({"tags": [1, 2]}) == ()
    [violation] = report.validate({"tags": [1, 1]})
    assert (violation.path, violation.keyword) == ("/tags", "/properties/tags/uniqueItems")
    assert sg.Grammar.from_json_schema(_SCHEMA).report.validate({}) == ()
    both = sg.Grammar.union(sg.Grammar.from_json_schema(schema), sg.Grammar.literal("x"))
    with pytest.raises(sg.ArgumentError) as caught:
        both.report.validate({})
    assert caught.value.code == "E-SCHEMA-CHECK"


def test_reports_point_into_what_the_schema_is_part_of() -> None:
    schema = {"type": "array", "uniqueItems": True}
    tag = {"type": "structural_tag", "format": {"type": "json_schema", "json_schema": schema}}
    assert list(sg.Grammar.from_structural_tag(tag).report.pointers) == ["/format/json_schema/uniqueItems"]
    older = {"structures": [{"begin": "<a>", "schema": schema, "end": "</a>"}], "triggers": ["<a"]}
    assert list(sg.Grammar.from_structural_tag(older).report.pointers) == ["/structures/0/schema/uniqueItems"]
    lark = sg.Grammar.from_lark("start: %json " + json.dumps(schema))
    assert list(lark.report.pointers) == ["%json@1:14/uniqueItems"]


@pytest.mark.parametrize(
    ("schema", "valid", "invalid"),
    [
        ({"enum": [f"value {at}" for at in range(5_000)]}, '"value 4999"', '"value 5000"'),
        ({"type": "string", "maxLength": 1_000_000}, json.dumps("x" * 5_000), "1"),
        ({"type": "array", "items": {"type": "integer"}, "maxItems": 10_000}, json.dumps([1] * 300), "[null]"),
        (
            {"type": "object", "properties": {f"p{at}": {"type": "integer"} for at in range(587)}},
            json.dumps({f"p{at}": at for at in range(0, 587, 7)}),
            '{"p3": "x"}',
        ),
        (
            {
                "type": "object",
                "properties": {f"p{at}": {"type": "integer"} for at in range(300)},
                "additionalProperties": False,
            },
            json.dumps({f"p{at}": at for at in range(299, 300)}),
            '{"p300": 1}',
        ),
    ],
)
@pytest.mark.parametrize("order", ["declared", "any"])
def test_large_schemas_stay_within_the_default_limits(schema: Any, valid: str, invalid: str, order: Any) -> None:
    grammar = sg.Grammar.from_json_schema(schema, order=order)
    assert grammar.report.status == "exact"
    compiled = _COMPILER.compile(grammar)
    assert accepts(compiled, valid)
    assert not accepts(compiled, invalid)


def test_a_schema_that_was_read_before_is_read_with_the_options_of_the_moment() -> None:
    schema = {"type": "object", "properties": {"a": {"const": 1}, "b": {"const": 2}}, "required": ["a", "b"]}
    declared, in_any = (sg.Grammar.from_json_schema(schema, order=order) for order in ("declared", "any"))
    assert declared == sg.Grammar.from_json_schema(schema) != in_any
    with pytest.raises(sg.LimitError):
        sg.Grammar.from_json_schema(schema, limits=sg.Limits(schema_bytes=20))
    widened = {"type": "array", "items": {"type": "object"}, "uniqueItems": True}
    assert sg.Grammar.from_json_schema(widened).report.status == "widened"
    with pytest.raises(sg.UnsupportedSchema):
        sg.Grammar.from_json_schema(widened, allow_widened=False)


def test_cached_schemas_are_bounded() -> None:
    cache = LruCache[str](10)
    made: list[str] = []

    def value(key: str, size: int) -> str:
        return cache.get(key, size, lambda: (made.append(key), key.upper())[1])

    assert [value("a", 4), value("b", 4), value("a", 4)] == ["A", "B", "A"]
    value("c", 4)  # "b" is the least recently used
    assert value("a", 4) == "A"
    assert made == ["a", "b", "c"]
    value("b", 4)
    assert made == ["a", "b", "c", "b"]
    value("too large", 11)
    value("too large", 11)
    assert made[4:] == ["too large", "too large"]
