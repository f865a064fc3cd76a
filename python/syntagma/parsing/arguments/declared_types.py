"""The types that a tool's schema allows for an argument, and the schemas of what is inside it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from syntagma.json_pointer import referred
from syntagma.json_types import JSON_TYPES, json_type_of

__all__ = ["allowed_types", "inner_schema", "takes_number"]

_EVERY = frozenset(JSON_TYPES)
_MAX_SCHEMAS = 64
"""schemas that may be read to find one type"""


def allowed_types(schema: Any, root: Any) -> frozenset[str]:
    """The JSON types that a schema allows, through `$ref`, unions, `enum` and `const`; all types, if it has none."""
    return _types(schema, root, _MAX_SCHEMAS)


def _types(schema: Any, root: Any, left: int) -> frozenset[str]:
    if not isinstance(schema, Mapping) or left <= 0:
        return _EVERY
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return _types(_referred(reference, root), root, left - 1)
    found = _EVERY
    declared = schema.get("type")
    if isinstance(declared, str):
        found = frozenset((declared,))
    elif isinstance(declared, list):
        found = frozenset(str(one) for one in declared)
    values = (
        schema["enum"] if isinstance(schema.get("enum"), list) else [schema["const"]] if "const" in schema else None
    )
    if values is not None:
        found &= frozenset(json_type_of(value) for value in values)
    for union in ("anyOf", "oneOf"):
        options = schema.get(union)
        if isinstance(options, list) and options:
            each = left // (len(options) + 1)
            found &= frozenset().union(*(_types(option, root, each) for option in options))
    return found or _EVERY


def takes_number(types: Collection[str]) -> bool:
    """Whether a value of these types may be a number, and no string."""
    return "string" not in types and ("integer" in types or "number" in types)


def inner_schema(schema: Any, root: Any, key: str | None) -> Any:
    """The schema of a member of an object, or (without a key) of an array's elements; None: it is not declared."""
    pending = [schema]
    for _ in range(_MAX_SCHEMAS):
        if not pending:
            return None
        one = pending.pop(0)
        if not isinstance(one, Mapping):
            continue
        if isinstance(one.get("$ref"), str):
            pending.append(_referred(one["$ref"], root))
        properties = one.get("properties")
        if key is None:
            found = one.get("items")
        elif isinstance(properties, Mapping) and key in properties:
            found = properties[key]
        else:
            found = one.get("additionalProperties")
        if isinstance(found, Mapping):
            return found
        for union in ("anyOf", "oneOf", "allOf"):
            options = one.get(union)
            pending += options if isinstance(options, list) else []
    return None


def _referred(reference: str, root: Any) -> Any:
    try:
        return referred(reference, root)
    except LookupError:
        return None
