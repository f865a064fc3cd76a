"""Values by a schema in notations that are not JSON: what may be written reads back as a value that it allows."""

from __future__ import annotations

import json
import random
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntagma import Grammar
from syntagma.constraints.schemas import spellings
from syntagma.decoding import GrammarCompiler, GrammarMatcher, TokenizerInfo
from syntagma.errors import ArgumentError, GrammarError, UnsupportedSchema
from syntagma.format_schema import Notation
from syntagma.formats.notation import in_notation
from syntagma.grammars import ValueNotation
from syntagma.parsing.arguments.literal_machine import literal_to_json
from tests.constraints.walks import accepts, walk

NOTATIONS = {
    "single quotes": Notation(quotes=("'",), true=("True",), false=("False",), null=("None",)),
    "double quotes": Notation(quotes=('"',), true=("yes",), false=("no",), null=("nil",)),
    "marks and bare keys": Notation(quotes=("<q|>",), bare_keys=True),
    "quotes and bare keys": Notation(quotes=("'",), bare_keys=True),
    "marks that overlap themselves": Notation(quotes=("'''",)),
}
SCHEMAS: dict[str, Any] = {
    "anything": True,
    "text": {"type": "string"},
    "short text": {"type": "string", "minLength": 1, "maxLength": 3},
    "pattern": {"type": "string", "pattern": "^[a'\"\\\\\n<q|>]{2,9}$"},
    "refused pattern": {"type": "string", "not": {"pattern": "[a-z]"}, "maxLength": 5},
    "format": {"type": "string", "format": "date"},
    "words": {"enum": ["it's", 'a "b"', "\\", "\n\x01\x7f", "", "ends in <q|", "''", 1, 2.5, True, False, None]},
    "whole values": {"enum": [{"a b": ["x'y", None], "c": {}}, [], [True, -1]]},
    "properties": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "odd key": {"type": "boolean"}, "it's": {"type": "null"}},
        "required": ["odd key"],
    },
    "named": {"type": "object", "propertyNames": {"maxLength": 2}, "additionalProperties": {"type": "number"}},
    "patterned": {"type": "object", "patternProperties": {"^x": {"const": 1}}, "additionalProperties": {"const": "o"}},
    "distinct": {"type": "array", "items": {"enum": ["a", "b'", None]}, "uniqueItems": True},
    "nested": {
        "$defs": {"node": {"type": "object", "properties": {"is": True, "of": {"$ref": "#/$defs/node"}}}},
        "$ref": "#/$defs/node",
    },
}
# What strings are likely to be ended or confused by.
TEXTS = st.text(alphabet=st.sampled_from("ab'\"\\<q|> é\n\x01\x7f\u2028ツ😀"), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=5,
)


def _grammar(schema: Any, notation: Notation) -> Grammar:
    return Grammar.from_json_schema(schema, notation=spellings(notation, reads_json=False)[0])


@pytest.mark.parametrize("schema", SCHEMAS)
@pytest.mark.parametrize("name", NOTATIONS)
def test_what_may_be_written_is_a_value_that_the_schema_allows(name: str, schema: str) -> None:
    notation = NOTATIONS[name]
    grammar = _grammar(SCHEMAS[schema], notation)
    rng = random.Random(f"{name} {schema}")
    quote = notation.quotes[0]
    read = 0
    for _ in range(30):
        text = walk(grammar, rng, [quote, quote, "\\", "\\x4", "\\u00e", "\\U0001f6", "{", "}", "]", ": 1"], steps=40)
        if text is None:
            continue
        read += 1
        spelled = literal_to_json(text, notation)
        assert spelled is not None, text
        jsonschema.validate(json.loads(spelled), SCHEMAS[schema])
    assert read > 10


@pytest.mark.parametrize("name", NOTATIONS)
@settings(max_examples=60, deadline=None)
@given(value=VALUES)
def test_what_is_written_is_accepted_if_it_reads_back(name: str, value: Any) -> None:
    notation = NOTATIONS[name]
    text = in_notation(json.dumps(value, ensure_ascii=False), notation)
    spelled = literal_to_json(text, notation)
    reads_back = spelled is not None and json.loads(spelled) == value
    for schema in (True, {"const": value}, {"enum": [value]}):
        try:
            assert accepts(_grammar(schema, notation), text) or not reads_back, text
        except UnsupportedSchema:
            assert not reads_back, value


@pytest.mark.parametrize("name", NOTATIONS)
@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ("short text", "abcd"),
        ("pattern", "ax"),
        ("format", "2026-02-30"),
        ("words", "its"),
        ("properties", {"a": 1}),
        ("named", {"abc": 1}),
        ("named", {"a b": 1}),
        ("patterned", {"xy": "o"}),
        ("patterned", {"a": 1}),
        ("patterned", {"a b": 1}),
        ("distinct", ["b'", "b'"]),
    ],
)
def test_other_values_are_refused(name: str, schema: str, value: Any) -> None:
    notation = NOTATIONS[name]
    assert not accepts(_grammar(SCHEMAS[schema], notation), in_notation(json.dumps(value), notation))


def test_marks_around_strings_are_special_tokens_where_there_are_such() -> None:
    info = TokenizerInfo.from_tokens(
        [bytes([byte]) for byte in range(256)] + [b"<q|>", b"<|eos|>"],
        eos_token_ids=[257],
        special_token_ids=[256, 257],
    )
    schema = {"type": "object", "properties": {"a b": {"enum": ["x", 1]}, "c": {"type": "string"}}}
    compiled = GrammarCompiler(info).compile(_grammar(schema, NOTATIONS["marks and bare keys"]))
    text = [*b"{", 256, *b"a b", 256, *b":", 256, *b"x", 256, *b",c:", 256, *"<|>é".encode(), 256, *b"}"]
    matcher = GrammarMatcher(compiled)
    assert all(matcher.accept_token(token) for token in text)
    assert matcher.is_accepting()
    matcher = GrammarMatcher(compiled)
    assert all(matcher.accept_token(token) for token in b"{")
    assert not matcher.accept_token(ord("<"))


def test_words_are_those_of_the_notation_alone() -> None:
    grammar = _grammar({"enum": [True, None]}, NOTATIONS["single quotes"])
    assert accepts(grammar, "True")
    assert accepts(grammar, "None")
    assert not accepts(grammar, "true")
    assert not accepts(grammar, "null")


@pytest.mark.parametrize(
    "notation", [{"quote": ""}, {"quote": "a"}, {"quote": "{"}, {"quote": "\\n"}, {"true": "1"}, {"null": "not one"}]
)
def test_notations_that_could_not_be_read_are_refused(notation: Any) -> None:
    with pytest.raises((ArgumentError, GrammarError)) as caught:
        Grammar.from_json_schema(True, notation=ValueNotation(**notation))
    assert caught.value.code == "E-SCHEMA-OPTION"
