"""JSON text, respelled but not re-valued: blanks and escapes become canonical, numbers stay as they were written."""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["canonical_object", "elements", "members", "same_json"]

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]|[,:]|[^\s"{}\[\],:]+')
_PUNCTUATION = {",": ", ", ":": ": "}


def canonical_object(text: str) -> str:
    """One JSON object with `", "` and `": "` and without ASCII escapes; the order of keys stays.

    Raises:
        ValueError: it is not one JSON object.
    """
    try:
        value = json.loads(text, parse_int=str, parse_float=str, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"no JSON: {error}") from error
    if not isinstance(value, dict):
        raise ValueError("no JSON object")
    return "".join(_respelled(match[0]) for match in _TOKEN.finditer(text))


def elements(text: str) -> list[str]:
    """The elements of one JSON array, each as canonical JSON text.

    Raises:
        ValueError: it is no JSON.
    """
    return ["".join(part) for part in _parts(text)]


def members(text: str) -> list[tuple[str, str]]:
    """The members of one JSON object: each key, and its value as canonical JSON text.

    Raises:
        ValueError: it is not one JSON object.
    """
    return [(json.loads(part[0]), "".join(part[2:])) for part in _parts(canonical_object(text))]


def _parts(text: str) -> list[list[str]]:
    """What stands between the commas of the outermost object or array, as canonical tokens."""
    parts: list[list[str]] = [[]]
    depth = 0
    for token in (match[0] for match in _TOKEN.finditer(text)):
        depth -= token in ("}", "]")
        if depth == 1 and token == ",":
            parts.append([])
        elif depth:
            parts[-1].append(_respelled(token))
        depth += token in ("{", "[")
    return [part for part in parts if part]


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def _respelled(token: str) -> str:
    if token[0] != '"':
        return _PUNCTUATION.get(token, token)
    if "\\" not in token:
        return token
    plain = json.dumps(json.loads(token), ensure_ascii=False)
    # Half of a surrogate pair has no UTF-8; it keeps its escape.
    return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", plain)


def same_json(first: str, second: str) -> bool:
    """Whether two JSON texts say the same: numbers as they are written, keys in any order."""
    try:
        return bool(_exact(first) == _exact(second))
    except (ValueError, RecursionError):
        return first == second


def _exact(text: str) -> Any:
    # Numbers as tagged text: 1 is not true, and no digit is lost.
    return json.loads(text, parse_float=lambda n: ("number", n), parse_int=lambda n: ("number", n))
