"""Checks a body against the type that its header declares. Only JSON can be checked (§6)."""

from __future__ import annotations

import json
from typing import Any

from syntagma.json_types import WHITESPACE, refuse_constant
from syntagma.openchatml.errors import CALL_SCHEMA, error_for

__all__ = ["arguments_of", "is_checked", "violation"]


# Integers stay text here: JSON does not bound their length, but Python does when it converts them.
_CHECK = json.JSONDecoder(parse_constant=refuse_constant, parse_int=str)
_READ = json.JSONDecoder(parse_constant=refuse_constant)


def is_checked(kind: str) -> bool:
    """Whether bodies of this type can be checked."""
    return kind == "json"


def violation(kind: str, body: str) -> str | None:
    """A description of what is wrong with a body; None if nothing is, or if the type cannot be checked."""
    if kind != "json":
        return None
    try:
        _decode(_CHECK, body)
    except RecursionError:
        return "JSON that is nested too deeply"
    except ValueError as error:
        return f"not JSON: {error}"
    return None


def arguments_of(body: str) -> dict[str, Any]:
    """The arguments in the body of a function call.

    Raises:
        CallSchemaError: `E-CALL-SCHEMA`, the body is not JSON, or not a JSON object.
    """
    try:
        value = _decode(_READ, body)
    except (ValueError, RecursionError) as error:
        raise error_for(CALL_SCHEMA, f"the arguments are not JSON: {error}") from error
    if not isinstance(value, dict):
        raise error_for(CALL_SCHEMA, "the arguments are not a JSON object")
    return value


def _decode(decoder: json.JSONDecoder, body: str) -> Any:
    begin = len(body) - len(body.lstrip(WHITESPACE))
    value, end = decoder.raw_decode(body, begin)
    if body[end:].strip(WHITESPACE):
        raise ValueError("text follows the value")
    return value
