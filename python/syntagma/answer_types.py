"""Types of Python as JSON Schemas, and JSON text read as one of them.

Pydantic's models and adapters do both by methods of their own, so that pydantic is never imported here. Dataclasses,
typed dictionaries and all else that annotations are made of go through msgspec.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, Protocol, get_origin, runtime_checkable

import msgspec

from syntagma.errors import ArgumentTypeError
from syntagma.typed import as_type

__all__ = ["JsonType", "is_answer_type", "read_as", "schema_of"]

_DATA = ("enum", "const", "default", "examples")
"""keywords whose values hold no schemas"""


@runtime_checkable
class JsonType(Protocol):
    """A type as an object, with a schema and a reader: pydantic's `TypeAdapter`."""

    def json_schema(self) -> dict[str, Any]:
        """The JSON Schema."""
        ...

    def validate_json(self, data: str, /) -> Any:
        """The value that a JSON text stands for."""
        ...


def is_answer_type(value: Any) -> bool:
    """Whether a value is a type, such as a class, `list[int]` or an adapter, rather than data."""
    return isinstance(value, type) or get_origin(value) is not None or isinstance(value, JsonType)


def schema_of(kind: Any) -> dict[str, Any]:
    """The JSON Schema of a type. Objects hold their declared properties only, unless the type says what others are.

    Raises:
        ArgumentTypeError: `E-SCHEMA-TYPE`, the type has none.
    """
    kind = _with_methods(kind)
    if hasattr(kind, "model_json_schema"):
        schema = kind.model_json_schema()
    elif isinstance(kind, JsonType) and not isinstance(kind, type):
        schema = kind.json_schema()
    else:
        try:
            schema = msgspec.json.schema(kind)
        except TypeError as error:
            why = str(error).splitlines()[-1]
            hint = "for pydantic's models inside of another type, give pydantic.TypeAdapter(…)"
            raise ArgumentTypeError("E-SCHEMA-TYPE", f"{kind!r} has no JSON Schema: {why}", hint=hint) from error
    closed: dict[str, Any] = _closed(schema)
    return closed


def read_as(kind: Any, text: str) -> Any:
    """The value of a type that a JSON text stands for.

    Raises:
        ValueError: the text is no JSON, or does not fit the type.
    """
    kind = _with_methods(kind)
    if hasattr(kind, "model_validate_json"):
        return kind.model_validate_json(text)
    if isinstance(kind, JsonType) and not isinstance(kind, type):
        return kind.validate_json(text)
    try:
        return as_type(msgspec.json.decode(text), kind)
    except msgspec.DecodeError as error:
        raise ValueError(str(error)) from error


def _with_methods(kind: Any) -> Any:
    """A dataclass of pydantic has no methods for JSON; its adapter has, and pydantic is imported already."""
    if isinstance(kind, type) and hasattr(kind, "__pydantic_validator__") and not hasattr(kind, "model_json_schema"):
        return sys.modules["pydantic"].TypeAdapter(kind)
    return kind


def _closed(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_closed(one) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    found = {key: value if key in _DATA else _closed(value) for key, value in schema.items()}
    if found.get("type") == "object" and isinstance(found.get("properties"), Mapping):
        found.setdefault("additionalProperties", False)
    return found
