"""JSON text in canonical form: whitespace and escapes are normalised, numbers keep their text."""

from __future__ import annotations

import json
import re
from typing import Any

from syntagma.json_types import refuse_constant

__all__ = ["canonical_object", "elements", "members", "same_json"]

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]|[,:]|[^\s"{}\[\],:]+')
_PUNCTUATION = {",": ", ", ":": ": "}


def canonical_object(text: str) -> str:
    """One JSON object with `", "` and `": "`, without ASCII escapes, and with its keys in the same order.

    Raises:
        ValueError: it is not one JSON object.
    """
    try:
        value = json.loads(text, parse_int=str, parse_float=str, parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"no JSON: {error}") from error
    if not isinstance(value, dict):
        raise ValueError("no JSON object")
    return "".join(_canonical_token(match[0]) for match in _TOKEN.finditer(text))


def elements(text: str) -> list[str]:
    """The elements of one JSON array, each as canonical JSON text.

    Raises:
        ValueError: it is not JSON.
    """
    return ["".join(part) for part in _parts(text)]


def members(text: str) -> list[tuple[str, str]]:
    """The members of one JSON object: each key, and its value as canonical JSON text.

    Raises:
        ValueError: it is not one JSON object.
    """
    return [(json.loads(part[0]), "".join(part[2:])) for part in _parts(canonical_object(text))]


def _parts(text: str) -> list[list[str]]:
    """The members or elements of the outermost object or array, each as canonical tokens."""
    parts: list[list[str]] = [[]]
    depth = 0
    for token in (match[0] for match in _TOKEN.finditer(text)):
        depth -= token in ("}", "]")
        if depth == 1 and token == ",":
            parts.append([])
        elif depth:
            parts[-1].append(_canonical_token(token))
        depth += token in ("{", "[")
    return [part for part in parts if part]


def _canonical_token(token: str) -> str:
    if token[0] != '"':
        return _PUNCTUATION.get(token, token)
    if "\\" not in token:
        return token
    plain = json.dumps(json.loads(token), ensure_ascii=False)
    # A lone surrogate cannot be encoded as UTF-8, so it keeps its escape.
    return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", plain)


def same_json(first: str, second: str) -> bool:
    """Whether two JSON texts are equal: keys may be in any order, numbers must have the same text."""
    try:
        return bool(_exact(first) == _exact(second))
    except (ValueError, RecursionError):
        return first == second


def _exact(text: str) -> Any:
    # Numbers as tagged text, so that 1 is not true and no digit is lost.
    return json.loads(text, parse_float=lambda n: ("number", n), parse_int=lambda n: ("number", n))
