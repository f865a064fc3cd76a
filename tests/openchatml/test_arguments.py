"""Whether arguments fit a schema is what another implementation of JSON Schema says."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntagma.parsing.arguments.argument_check import mismatch

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from([None, True, False, 0, 1, 2, 2.0, 0.3, -1.5, 10**30, "", "a", "ab", "é"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(["a", "b", "c"])
COUNTS = st.integers(0, 3)


def schemas() -> st.SearchStrategy[Any]:
    """Schemas of every keyword that can refuse a value."""

    def grown(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        some = st.lists(inner, min_size=1, max_size=2)
        named = st.dictionaries(NAMES, inner, max_size=2)
        return st.fixed_dictionaries(
            {},
            optional={
                "properties": named,
                "patternProperties": st.dictionaries(st.sampled_from(["^a", "b$"]), inner, max_size=1),
                "additionalProperties": inner,
                "propertyNames": inner,
                "prefixItems": some,
                "items": inner,
                "contains": inner,
                "minContains": COUNTS,
                "maxContains": COUNTS,
                "allOf": some,
                "anyOf": some,
                "oneOf": some,
                "not": inner,
                "if": inner,
                "then": inner,
                "else": inner,
                "dependentSchemas": named,
                "unevaluatedProperties": inner,
                "unevaluatedItems": inner,
                "$ref": st.just("#/$defs/x"),
            },
        )

    types = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])
    leaves = st.booleans() | st.fixed_dictionaries(
        {},
        optional={
            "type": types | st.lists(types, min_size=1, max_size=2, unique=True),
            "enum": st.lists(VALUES, min_size=1, max_size=3),
            "const": VALUES,
            "minimum": st.sampled_from([0, 1.5]),
            "exclusiveMinimum": st.sampled_from([0, 1]),
            "maximum": st.sampled_from([1, 2]),
            "exclusiveMaximum": st.sampled_from([1, 2]),
            "multipleOf": st.sampled_from([1, 2, 0.5]),
            "minLength": COUNTS,
            "maxLength": COUNTS,
            "pattern": st.sampled_from(["^a", "b$", "é"]),
            "minItems": COUNTS,
            "maxItems": COUNTS,
            "uniqueItems": st.booleans(),
            "minProperties": COUNTS,
            "maxProperties": COUNTS,
            "required": st.lists(NAMES, max_size=2, unique=True),
            "dependentRequired": st.dictionaries(NAMES, st.lists(NAMES, max_size=2, unique=True), max_size=1),
        },
    )
    return st.recursive(leaves, grown, max_leaves=5)


@settings(deadline=None, max_examples=300)
@given(schemas(), st.fixed_dictionaries({}, optional={"type": st.just("object"), "minProperties": COUNTS}), VALUES)
def test_arguments_fit_where_another_implementation_says_so(schema: Any, definition: Any, value: Any) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    whole = {**schema, "$defs": {"x": definition}} if isinstance(schema, dict) else schema
    wanted = jsonschema.Draft202012Validator(whole).is_valid(value)
    assert (mismatch(whole, value) is None) == wanted


@pytest.mark.parametrize(
    ("schema", "value", "fits"),
    [
        ({"multipleOf": 0.1}, 0.3, True),
        ({"multipleOf": 0.01}, 19.99, True),
        ({"multipleOf": 0.1}, 0.35, False),
        ({"multipleOf": 3}, 10**400, False),
        ({"multipleOf": 0.5}, 1e308, True),
        ({"uniqueItems": True}, [1, True, "1", [1], {"a": 1}], True),
        ({"uniqueItems": True}, [{"a": 1, "b": [2]}, {"b": [2.0], "a": 1.0}], False),
        ({"items": [{"type": "string"}], "additionalItems": False}, ["a"], True),
        ({"items": [{"type": "string"}], "additionalItems": False}, ["a", 1], False),
        ({"dependencies": {"a": ["b"], "b": {"minProperties": 3}}}, {"a": 1}, False),
        ({"dependencies": {"a": ["b"], "b": {"minProperties": 3}}}, {"a": 1, "b": 2}, False),
        ({"dependencies": {"a": ["b"], "b": {"minProperties": 3}}}, {"a": 1, "b": 2, "c": 3}, True),
        ({"minimum": 1, "exclusiveMinimum": True}, 2, False),  # what cannot be checked lets nothing through
        ({"$dynamicRef": "#meta"}, {}, False),
    ],
    ids=str,
)
def test_values_and_schemas_of_older_drafts(schema: Any, value: Any, fits: bool) -> None:
    assert (mismatch(schema, value) is None) == fits


def test_long_lists_are_compared_in_little_time() -> None:
    begun = time.process_time()
    assert mismatch({"uniqueItems": True}, [{"n": number} for number in range(30_000)]) is None
    assert time.process_time() - begun < 5
