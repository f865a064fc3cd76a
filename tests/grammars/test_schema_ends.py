"""Masks of schemas never lead to where no document can be finished."""

from __future__ import annotations

import json
from typing import Any

import pytest

import syntagma as sg
from tests.grammars.walks import accepts, byte_compiler

_ENDLESS = {"$defs": {"r": {"type": "object", "required": ["r"], "properties": {"r": {"$ref": "#/$defs/r"}}}}}
_REFERENCE = {"$ref": "#/$defs/r"}
_APART = {"type": "array", "items": {"type": "string", "pattern": "^a"}, "contains": {"pattern": "^b"}}
_UNNAMED = {
    "type": "object",
    "minProperties": 1,
    "propertyNames": {"pattern": "^a"},
    "patternProperties": {"^a": False},
}
_NONE = {"allOf": [{"pattern": "^a"}, {"pattern": "^b"}]}
_NULL = {"type": "null"}
_CASES: list[tuple[dict[str, Any], str, str]] = [
    ({"properties": {"k": _APART}}, '{"k":', '{"j":[]}'),
    ({"properties": {"k": _UNNAMED}}, '{"k":{', '{"j":1}'),
    ({"type": "array", "prefixItems": [_NULL], "items": _REFERENCE, **_ENDLESS}, "[null,", "[null]"),
    ({"type": "array", "items": {"anyOf": [_NULL, _REFERENCE]}, **_ENDLESS}, "[null,{", "[null,null]"),
    ({"type": "object", "additionalProperties": _NONE}, '{"x":"', '{"x":1}'),
]


@pytest.mark.parametrize(("schema", "dead", "ended"), _CASES, ids=range(len(_CASES)))
def test_what_can_never_be_finished_is_not_begun(schema: dict[str, Any], dead: str, ended: str) -> None:
    grammar = sg.Grammar.from_json_schema(schema, whitespace="compact")
    assert grammar.report.status == "exact"
    compiled = byte_compiler().compile(grammar)
    assert not sg.GrammarMatcher(compiled).accept_bytes(dead.encode())
    assert accepts(compiled, ended)
    assert json.loads(ended) is not None
