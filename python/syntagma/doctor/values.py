"""Reading values of strangers: nothing here raises, whatever they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

__all__ = ["at", "is_count", "listed", "object_of", "word"]


def at(value: Any, *path: str | int) -> Any:
    """What stands at a path of keys and positions; None where nothing does."""
    for step in path:
        if isinstance(step, str) and isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and -len(value) <= step < len(value):
            value = value[step]
        else:
            return None
    return value


def listed(value: Any, *path: str | int) -> list[Any]:
    """The list at a path; an empty one where there is none."""
    found = at(value, *path)
    return found if isinstance(found, list) else []


def word(value: Any, *path: str | int) -> str:
    """The text at a path; an empty one where there is none."""
    found = at(value, *path)
    return found if isinstance(found, str) else ""


def is_count(value: Any) -> bool:
    """Whether a value is a whole number that is not negative."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def object_of(text: Any) -> dict[str, Any] | None:
    """The JSON object that a text is, or None."""
    if not isinstance(text, str):
        return None
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
