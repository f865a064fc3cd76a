"""The JSON types, by their names in JSON Schema, and its keywords that constrain."""

from __future__ import annotations

from typing import Any, Final, NoReturn

__all__ = ["CONSTRAINTS", "JSON_TYPES", "WHITESPACE", "is_of_type", "json_type_of", "refuse_constant"]

WHITESPACE: Final = " \t\n\r"
"""the characters that may stand between the parts of a JSON text"""

JSON_TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
"""all names; an integer is also a number"""
CONSTRAINTS: Final = frozenset((
    *("type", "enum", "const", "$ref", "$defs", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not"),
    *("if", "then", "else", "properties", "patternProperties", "additionalProperties", "propertyNames", "required"),
    *("minProperties", "maxProperties", "dependencies", "dependentRequired", "dependentSchemas", "definitions"),
    *("items", "prefixItems", "additionalItems", "contains", "minContains", "maxContains", "minItems", "maxItems"),
    *("uniqueItems", "unevaluatedItems", "unevaluatedProperties", "minLength", "maxLength", "pattern", "format"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
))  # fmt: skip
"""keywords that constrain a value, or lead to schemas that do"""


def json_type_of(value: Any) -> str:
    """The JSON type of a value of `json.loads`. A number is an `integer` if it is an `int`.

    Subclasses count as their base class, tuples as arrays, and all other values as objects.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list | tuple) else "object"


def is_of_type(value: Any, name: str) -> bool:
    """Whether a value is of the named type of JSON Schema: integers are numbers, and 2.0 is an integer."""
    kind = json_type_of(value)
    if kind == "number":
        return name == "number" or (name == "integer" and value.is_integer())
    return name == kind or (kind == "integer" and name == "number")


def refuse_constant(word: str) -> NoReturn:
    """For `parse_constant` of `json`, which reads `NaN` and infinities otherwise.

    Raises:
        ValueError: always.
    """
    raise ValueError(f"{word} is not JSON")
