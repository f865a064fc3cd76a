"""Schemas with their defaults written out, for readers that take what a schema does not mention for forbidden."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["opened"]

_OF_NAMES = frozenset(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"))
"""keywords whose value has a schema for each name"""
_OF_SCHEMAS = frozenset(
    (
        "additionalProperties",
        "additionalItems",
        "items",
        "prefixItems",
        "contains",
        "propertyNames",
        "anyOf",
        "oneOf",
        "allOf",
        "not",
        "if",
        "then",
        "else",
    )
)
"""keywords whose value is a schema, or a list of them"""


def opened(schema: Any) -> Any:
    """A schema that means the same, and says that undeclared properties and further items are allowed where they are.

    Where something depends on what is evaluated, the schema stays as it is: there, saying so would make a difference.
    """
    return schema if "unevaluated" in str(schema) else _opened(schema)


def _opened(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_opened(one) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    found: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _OF_NAMES and isinstance(value, Mapping):
            found[key] = {name: _opened(one) for name, one in value.items()}
        else:
            found[key] = _opened(value) if key in _OF_SCHEMAS else value
    if found.keys() & {"properties", "patternProperties"}:
        found.setdefault("additionalProperties", True)
    if "prefixItems" in found:
        found.setdefault("items", True)
    elif isinstance(found.get("items"), list):
        found.setdefault("additionalItems", True)
    return found
