"""References to the published meta-schemas are followed without a network; no other reference leaves the schema."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft4Validator, Draft6Validator, Draft7Validator, Draft201909Validator, Draft202012Validator

import syntagma as sg

_VERSIONS: dict[str, Any] = {
    "http://json-schema.org/draft-04/schema": Draft4Validator,
    "http://json-schema.org/draft-06/schema": Draft6Validator,
    "http://json-schema.org/draft-07/schema": Draft7Validator,
    "https://json-schema.org/draft/2019-09/schema": Draft201909Validator,
    "https://json-schema.org/draft/2020-12/schema": Draft202012Validator,
}
_DOCUMENTS: list[Any] = [
    {},
    True,
    3,
    "string",
    {"type": "object", "properties": {"a": {"type": ["string", "null"]}}, "required": ["a"]},
    {"type": "nonsense"},
    {"minLength": -1},
    {"minLength": 2.5},
    {"minimum": 0, "exclusiveMinimum": True},
    {"exclusiveMinimum": 3},
    {"required": []},
    {"required": ["a", 1]},
    {"items": [{"type": "integer"}, {"type": "strin"}]},
    {"items": {"allOf": [{"not": {"enum": [1, {"a": []}]}}]}},
    {"allOf": []},
    {"allOf": [{"properties": {"x": {"items": {"type": 3}}}}]},
    {"if": True, "then": {"const": 1}},
    {"dependentRequired": {"a": ["b"]}},
    {"dependentRequired": {"a": "b"}},
    {"prefixItems": [True], "unevaluatedItems": False},
    {"unevaluatedItems": 3},
    {"$defs": {"a": {"type": "null"}}, "$ref": "#/$defs/a"},
    {"$anchor": "9"},
    {"default": 1, "multipleOf": 0},
    {"contentMediaType": 3},
]


@pytest.mark.parametrize("uri", _VERSIONS)
@pytest.mark.parametrize("whole", [True, False])
def test_documents_are_judged_as_a_validator_does(uri: str, whole: bool) -> None:
    reference = {"$ref": uri}
    schema = reference if whole else {"properties": {"inner": reference}, "required": ["inner"]}
    grammar = sg.Grammar.from_json_schema(schema, order="any")
    validator = _VERSIONS[uri](_VERSIONS[uri].META_SCHEMA)
    for document in _DOCUMENTS:
        text = json.dumps(document if whole else {"inner": document})
        assert grammar.accepts(text) == validator.is_valid(document), document


@pytest.mark.parametrize("uri", _VERSIONS)
def test_what_is_not_enforced_is_told_at_the_reference(uri: str) -> None:
    report = sg.Grammar.from_json_schema({"properties": {"a": {"$ref": uri + "#"}}}).report
    assert report.status == "widened"
    assert set(report.pointers) == {"/properties/a/$ref"}


@pytest.mark.parametrize(
    ("reference", "accepted", "refused"),
    [
        ("https://json-schema.org/draft/2020-12/meta/validation#/$defs/simpleTypes", "string", "text"),
        ("https://json-schema.org/draft/2019-09/meta/core#/properties/$comment", "a", 1),
        ("http://json-schema.org/draft-07/schema#/definitions/nonNegativeInteger", 1, -1),
        ("http://json-schema.org/draft-04/schema#/definitions/positiveInteger", 1, -1),
    ],
)
def test_parts_of_meta_schemas(reference: str, accepted: Any, refused: Any) -> None:
    grammar = sg.Grammar.from_json_schema({"$ref": reference})
    assert grammar.report.status == "exact"
    assert grammar.accepts(json.dumps(accepted))
    assert not grammar.accepts(json.dumps(refused))


def test_a_relative_reference_beside_a_meta_schema() -> None:
    schema = {"$id": "https://json-schema.org/draft/2020-12/mine", "$ref": "meta/validation#/$defs/simpleTypes"}
    assert sg.Grammar.from_json_schema(schema).accepts('"null"')


def test_what_the_schema_itself_declares_wins() -> None:
    uri = "https://json-schema.org/draft/2020-12/schema"
    grammar = sg.Grammar.from_json_schema({"$defs": {"own": {"$id": uri, "type": "integer"}}, "$ref": uri})
    assert grammar.accepts("3")
    assert not grammar.accepts("{}")


def test_the_meta_schemas_take_no_name_from_the_schema() -> None:
    schema = {"$metaschemas": {"a": 1}, "$ref": "http://json-schema.org/draft-07/schema"}
    assert sg.Grammar.from_json_schema(schema).accepts('{"type":"null"}')


@pytest.mark.parametrize(
    "reference",
    [
        "http://json-schema.org/draft-03/schema",
        "http://json-schema.org/draft-07/hyper-schema",
        "https://json-schema.org/draft/2020-12/meta/other",
        "http://json-schema.org/draft-07/schema#/definitions/none",
        "https://example.com/schema",
        "file:///etc/schema.json",
        "other.json",
    ],
)
def test_every_other_outside_reference_is_refused(reference: str) -> None:
    with pytest.raises(sg.UnsupportedSchema) as caught:
        sg.Grammar.from_json_schema({"items": {"$ref": reference}})
    assert caught.value.code == "E-SCHEMA-REF"
    assert caught.value.pointer == "/items/$ref"
    assert caught.value.hint
