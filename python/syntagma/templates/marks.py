"""Unguessable marks, put behind texts of a conversation to find their places in a render."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, Final

__all__ = ["THOUGHTS", "marked_text", "new_mark", "with_text"]

THOUGHTS: Final = ("reasoning_content", "reasoning", "thinking")
"""Fields in which messages carry thoughts."""


def new_mark() -> str:
    """A word that nobody can have written into a message."""
    return "Zq" + secrets.token_hex(12)


def marked_text(message: Mapping[str, Any], *, thoughts: bool) -> str | None:
    """The text of a message that `with_text` would replace, or None if there is none.

    Args:
        message: the message.
        thoughts: where the content is empty, the thoughts are taken.
    """
    field = _field(message, thoughts=thoughts)
    if field is None:
        return None
    value = message[field]
    return value if isinstance(value, str) else str(value[_last_text(value)]["text"])


def with_text(message: Mapping[str, Any], text: str, *, thoughts: bool) -> dict[str, Any]:
    """A copy of the message with another text in the place that `marked_text` reads."""
    field = _field(message, thoughts=thoughts)
    if field is None:
        return dict(message)
    value = message[field]
    if isinstance(value, str):
        return {**message, field: text}
    place = _last_text(value)
    parts = [{**part, "text": text} if index == place else part for index, part in enumerate(value)]
    return {**message, field: parts}


def _field(message: Mapping[str, Any], *, thoughts: bool) -> str | None:
    content = message.get("content")
    if thoughts and not content:
        for field in THOUGHTS:
            if isinstance(message.get(field), str) and message[field]:
                return field
    if isinstance(content, str) or (isinstance(content, list) and _last_text(content) >= 0):
        return "content"
    return None


def _last_text(parts: list[Any]) -> int:
    for index in range(len(parts) - 1, -1, -1):
        if isinstance(parts[index], dict) and isinstance(parts[index].get("text"), str):
            return index
    return -1
