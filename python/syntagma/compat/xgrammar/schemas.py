"""JSON Schemas as xgrammar takes them: dictionaries, text or pydantic models, and what `strict_mode` makes of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["schema_text", "strict_schema"]

_OF_ONE = ("items", "additionalProperties", "additionalItems", "contains")
_OF_MANY = ("prefixItems", "anyOf", "oneOf", "allOf", "items")
_OF_NAMES = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_JOINS = ("allOf", "anyOf", "oneOf", "$ref", "if", "then", "else", "dependentSchemas")


def schema_text(schema: Any) -> str:
    """A schema as JSON text.

    Raises:
        ValueError: neither text, nor a dictionary, nor a class with `model_json_schema`.
    """
    if isinstance(schema, str):
        return schema
    if isinstance(schema, Mapping):
        return json.dumps(schema)
    if isinstance(schema, type) and hasattr(schema, "model_json_schema"):
        return json.dumps(schema.model_json_schema())
    raise ValueError("a schema is JSON text, a dictionary or a pydantic model")


def strict_schema(text: str) -> str:
    """A schema in which objects have the properties that they declare and no others, and tuples no further items.

    Where objects are put together (`allOf` and its like), what the parts declare is not known in one place; such
    objects stay open.

    Raises:
        RuntimeError: no JSON.
    """
    try:
        schema = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RuntimeError(f"the schema is no JSON: {error}") from error
    work = [schema]
    while work:
        node = work.pop()
        if not isinstance(node, dict):
            continue
        joined = any(key in node for key in _JOINS)
        declares = "properties" in node or "patternProperties" in node
        if declares and not joined and not ("additionalProperties" in node or "unevaluatedProperties" in node):
            node["additionalProperties"] = False
        if "prefixItems" in node and not ("items" in node or "unevaluatedItems" in node):
            node["items"] = False
        if isinstance(node.get("items"), list) and not ("additionalItems" in node or "unevaluatedItems" in node):
            node["additionalItems"] = False
        work.extend(_parts(node))
    return json.dumps(schema)


def _parts(node: dict[str, Any]) -> Iterator[Any]:
    for key in _OF_ONE:
        yield node.get(key)
    for key in _OF_NAMES:
        values = node.get(key)
        if isinstance(values, dict):
            yield from values.values()
    for key in _OF_MANY:
        values = node.get(key)
        # The members of a conjunction hold of one object together: none of them may close it.
        if isinstance(values, list) and not (key == "allOf" and (len(values) > 1 or "properties" in node)):
            yield from values
