"""The JSON value of an argument's text, by its declared type, or by what it looks like."""

from __future__ import annotations

import json
from typing import Any

from syntagma.format_schema import Notation
from syntagma.json_types import JSON_TYPES, refuse_constant
from syntagma.parsing.arguments.literal_machine import literal_to_json

__all__ = ["any_json", "to_json"]

_EVERY = frozenset(JSON_TYPES)
_MAX_DEPTH = 256
"""nesting up to which a value is typed; a deeper one stays text"""


def to_json(text: str, allowed: frozenset[str], notation: Notation = Notation()) -> str:  # noqa: B008  # frozen
    """The JSON text of a raw value; text that fits no allowed type is a string.

    Numbers keep their digits. An object or array that parses wins over a string; a string, if allowed, keeps the text.
    Words, objects and arrays may be written as JSON or as the notation writes them.
    """
    bare = text.strip()
    if "null" in allowed and (bare == "null" or bare in notation.null):
        return "null"
    kind = _structure(bare)
    if kind is None and not notation.is_json and bare[:1] in ("{", "["):
        bare = literal_to_json(bare, notation) or bare
        kind = _structure(bare)
    if kind is not None and kind in allowed:
        return bare
    if "string" not in allowed:
        if "boolean" in allowed:
            for word, spellings in (("true", notation.true), ("false", notation.false)):
                if bare.lower() == word or bare in spellings:
                    return word
        if kind is None and _is_number(bare, allowed):
            return bare
    return json.dumps(text, ensure_ascii=False)


def _structure(bare: str) -> str | None:
    """`object` or `array` if the text is one, as JSON."""
    if bare[:1] not in ("{", "["):
        return None
    depth = deepest = 0
    for char in bare:
        depth += (char in "{[") - (char in "}]")
        deepest = max(deepest, depth)
    if deepest > _MAX_DEPTH:
        return None
    value = _load(bare)
    if isinstance(value, dict):
        return "object"
    return "array" if isinstance(value, list) else None


def _is_number(bare: str, allowed: frozenset[str]) -> bool:
    if not allowed & {"integer", "number"} or bare[:1] not in "-0123456789" or not bare or len(bare) > 4096:
        return False
    value = _load(bare)
    if isinstance(value, _Digits):
        return "number" in allowed or value.is_integer
    return False


class _Digits(str):
    """The digits of a number, kept as they were written."""

    __slots__ = ()

    @property
    def is_integer(self) -> bool:
        return self.lstrip("-").isdigit() or float(self).is_integer()


def _load(text: str) -> Any:
    try:
        return json.loads(text, parse_int=_Digits, parse_float=_Digits, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        return None


def any_json(text: str, notation: Notation = Notation()) -> str:  # noqa: B008  # frozen
    """The text itself if it is JSON; a literal of the notation as JSON; else the text as a JSON string."""
    bare = text.strip()
    known = bare in ("null", "true", "false") or _structure(bare) is not None or _is_number(bare, _EVERY)
    if not known and bare.startswith('"'):
        known = isinstance(_load(bare), str)
    if known:
        return bare
    if not notation.is_json:
        words = (*notation.true, *notation.false, *notation.null)
        if bare in words or bare.startswith(("{", "[", *notation.quotes)):
            return literal_to_json(bare, notation) or json.dumps(text, ensure_ascii=False)
    return json.dumps(text, ensure_ascii=False)
