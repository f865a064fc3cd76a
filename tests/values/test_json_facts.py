"""JSON pointers, references of schemas, and types of values."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntagma.json_pointer import follow, pointer_of, referred, steps_of
from syntagma.json_types import JSON_TYPES, is_of_type, json_type_of


@given(st.lists(st.text(alphabet="ab~/01", max_size=4), max_size=4))
def test_a_pointer_leads_to_what_it_was_made_for(keys: list[str]) -> None:
    document: Any = "here"
    for key in reversed(keys):
        document = {key: document, key + "x": [key]}
    assert steps_of(pointer_of(*keys)) == keys
    assert follow(document, pointer_of(*keys)) == "here"


def test_pointers_are_those_of_the_standard() -> None:
    # The examples of RFC 6901, section 5.
    document = {"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, " ": 7, "m~n": 8}
    found = {pointer: follow(document, pointer) for pointer in ("/foo", "/foo/0", "/", "/a~1b", "/c%d", "/ ", "/m~0n")}
    assert list(found.values()) == [["bar", "baz"], "bar", 0, 1, 2, 7, 8]
    assert follow(document, "") == document
    for pointer in ("/foo/2", "/foo/-", "/foo/x", "/none", "/foo/0/0"):
        with pytest.raises(LookupError):
            follow(document, pointer)


def test_a_reference_leads_inside_or_nowhere() -> None:
    schema = {"$defs": {"a": {"type": "integer"}}, "anyOf": [{"type": "null"}]}
    assert referred("#", schema) is schema
    assert referred("#/$defs/a", schema) == {"type": "integer"}
    assert referred("#/anyOf/0", schema) == {"type": "null"}
    for reference in ("#/$defs/b", "#a", "other.json#/$defs/a", "", 1, None):
        with pytest.raises(LookupError):
            referred(reference, schema)


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("null", {"null"}),
        ("true", {"boolean"}),
        ("1", {"integer", "number"}),
        ("2.0", {"integer", "number"}),
        ("2.5", {"number"}),
        ("1e400", {"number"}),
        ('"1"', {"string"}),
        ("[1]", {"array"}),
        ("{}", {"object"}),
    ],
)
def test_types_of_values(text: str, types: set[str]) -> None:
    value = json.loads(text)
    assert {name for name in (*JSON_TYPES, "unknown") if is_of_type(value, name)} == types
    assert json_type_of(value) in types
