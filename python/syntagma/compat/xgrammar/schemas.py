"""JSON Schemas as xgrammar takes them (dictionaries, text or pydantic models), and how `strict_mode` changes them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from syntagma.compat.xgrammar.arguments import wrong_type
from syntagma.compat.xgrammar.exception import WrongTypeError

__all__ = ["schema_text", "strict_schema"]

# Keywords whose schemas apply to another value than the schema around them.
_OF_ONE = ("items", "additionalProperties", "additionalItems", "contains")
_OF_MANY = ("prefixItems", "items")
_OF_NAMES = ("properties", "patternProperties")
_DEFINITIONS = ("$defs", "definitions")
# Keywords whose schemas apply to the same value: the schema around them must count the properties they declare.
_SAME_MANY = ("allOf", "anyOf", "oneOf")
_SAME = (*_SAME_MANY, "$ref", "if", "then", "else", "dependentSchemas")
_OBJECT, _TUPLE = ("properties", "patternProperties"), ("prefixItems",)


def schema_text(schema: Any) -> str:
    """A schema as JSON text.

    Raises:
        WrongTypeError: not text, a dictionary or a class with `model_json_schema`.
    """
    if isinstance(schema, str):
        return schema
    if isinstance(schema, Mapping):
        try:
            return json.dumps(schema)
        except (TypeError, RecursionError) as error:
            raise WrongTypeError("E-ARGUMENT-TYPE", f"the schema is not JSON: {error}", pointer="/schema") from error
    if isinstance(schema, type) and hasattr(schema, "model_json_schema"):
        return json.dumps(schema.model_json_schema())
    raise wrong_type("schema", "JSON text, a dictionary or a pydantic model", schema)


def strict_schema(text: str) -> str:
    """The schema, changed so that objects have only the properties they declare, and tuples no further items.

    Where a schema joins others (`allOf` and similar), the whole is closed by `unevaluatedProperties`, and its parts
    are not. Definitions are closed where they are referred to, so that they can be such parts. Before draft 2019-09,
    which allows nothing next to `$ref`, the definitions themselves are closed.

    Raises:
        RuntimeError: the text is not JSON.
    """
    try:
        schema = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RuntimeError(f"the schema is not JSON: {error}") from error
    lone = isinstance(schema, dict) and "draft-0" in str(schema.get("$schema"))
    work = [(schema, True)]
    while work:
        node, close = work.pop()
        if isinstance(node, dict):
            work.extend(_parts(node, close, lone))
            if close and not (lone and "$ref" in node):
                _close(node)
    return json.dumps(schema)


def _close(node: dict[str, Any]) -> None:
    joins = any(key in node for key in _SAME)
    declares = any(key in node for key in _OBJECT)
    if declares and not ("additionalProperties" in node or "unevaluatedProperties" in node):
        node["unevaluatedProperties" if joins else "additionalProperties"] = False
    elif ("$ref" in node or len(node.get("allOf") or ()) > 1) and "unevaluatedProperties" not in node:
        node["unevaluatedProperties"] = False
    if any(key in node for key in _TUPLE) and not ("items" in node or "unevaluatedItems" in node):
        node["items"] = False
    if isinstance(node.get("items"), list) and not ("additionalItems" in node or "unevaluatedItems" in node):
        node["additionalItems"] = False


def _parts(node: dict[str, Any], close: bool, lone: bool) -> Iterator[tuple[Any, bool]]:
    for key in _OF_ONE:
        yield node.get(key), True
    for key in _OF_NAMES:
        values = node.get(key)
        if isinstance(values, dict):
            yield from ((value, True) for value in values.values())
    for key in _DEFINITIONS:
        values = node.get(key)
        if isinstance(values, dict):
            yield from ((value, lone) for value in values.values())
    for key in _OF_MANY:
        values = node.get(key)
        if isinstance(values, list):
            yield from ((value, True) for value in values)
    declares = any(key in node for key in _OBJECT)
    for key in _SAME_MANY:
        values = node.get(key)
        if isinstance(values, list):
            alone = not declares and (key != "allOf" or len(values) == 1)
            yield from ((value, close and alone) for value in values)
