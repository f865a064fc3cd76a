"""Keywords of a JSON Schema that are likely misspelt: JSON Schema ignores a word it does not know."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from syntagma.json_pointer import pointer_of

__all__ = ["CONSTRAINTS", "DATA", "NAMED", "misspelt_keywords"]

NAMED: Final = frozenset(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"))
"""keywords whose keys are names and whose values are schemas"""
DATA: Final = frozenset(("enum", "const", "default", "examples", "required", "dependentRequired"))
"""keywords whose values hold no schemas"""
CONSTRAINTS: Final = frozenset((
    *("type", "enum", "const", "$ref", "$defs", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not"),
    *("if", "then", "else", "properties", "patternProperties", "additionalProperties", "propertyNames", "required"),
    *("minProperties", "maxProperties", "dependencies", "dependentRequired", "dependentSchemas", "definitions"),
    *("items", "prefixItems", "additionalItems", "contains", "minContains", "maxContains", "minItems", "maxItems"),
    *("uniqueItems", "unevaluatedItems", "unevaluatedProperties", "minLength", "maxLength", "pattern", "format"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
))  # fmt: skip
"""keywords that constrain a value, or lead to schemas that do"""
_ANNOTATIONS: Final = frozenset((
    *("$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary", "$comment", "title"),
    *("description", "default", "examples", "example", "deprecated", "readOnly", "writeOnly", "nullable"),
    *("contentEncoding", "contentMediaType", "contentSchema", "discriminator"),
))  # fmt: skip
"""keywords that are known and constrain nothing"""
_ALIKE: Final = 0.8
"""how alike two words are, from 0 to 1, where one is taken for a misspelling of the other"""
_SHORTEST: Final = 4
"""letters of a keyword from which on a likeness means something"""


def misspelt_keywords(schema: Any) -> dict[str, str]:
    """Keywords that a schema likely misspells, such as `maxLenght`; the grammar ignores them.

    Words that resemble no keyword are left alone: a schema may have annotations of its own.

    Args:
        schema: a JSON Schema, as data.

    Returns:
        JSON pointer of each such word → the keyword that it resembles.
    """
    known = {keyword.lower(): keyword for keyword in sorted(CONSTRAINTS) if len(keyword) >= _SHORTEST}
    found: dict[str, str] = {}
    for pointer, word in _words(schema, ""):
        if word not in CONSTRAINTS and word not in _ANNOTATIONS:
            near = difflib.get_close_matches(word.lower(), known, n=1, cutoff=_ALIKE)
            if near:
                found[pointer] = known[near[0]]
    return found


def _words(part: Any, at: str) -> Iterator[tuple[str, str]]:
    """The pointer and the text of every key that stands where a keyword does."""
    if isinstance(part, list | tuple):
        for index, one in enumerate(part):
            yield from _words(one, at + pointer_of(index))
    if not isinstance(part, Mapping):
        return
    for word, value in part.items():
        here = at + pointer_of(word)
        yield here, word
        if word in NAMED and isinstance(value, Mapping):
            for name, one in value.items():
                yield from _words(one, here + pointer_of(name))
        elif word in CONSTRAINTS and word not in DATA:
            yield from _words(value, here)
