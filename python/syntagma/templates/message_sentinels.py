"""Sentinels: random words appended to texts of a conversation, to find where a template writes these texts."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, Final

__all__ = ["message_text", "new_sentinel", "with_text"]

_REASONING_FIELDS: Final = ("reasoning_content", "reasoning", "thinking")
"""Fields in which messages carry reasoning."""


def new_sentinel() -> str:
    """A word that no message contains: it is random and 26 characters long."""
    return "Zq" + secrets.token_hex(12)


def message_text(message: Mapping[str, Any], *, or_reasoning: bool) -> str | None:
    """The text of a message that `with_text` would replace; None if there is none.

    Args:
        message: the message.
        or_reasoning: use the reasoning if the content is empty.
    """
    field = _field(message, or_reasoning=or_reasoning)
    if field is None:
        return None
    value = message[field]
    return value if isinstance(value, str) else str(value[_last_text(value)]["text"])


def with_text(message: Mapping[str, Any], text: str, *, or_reasoning: bool) -> dict[str, Any]:
    """A copy of the message; `text` replaces the text that `message_text` returns."""
    field = _field(message, or_reasoning=or_reasoning)
    if field is None:
        return dict(message)
    value = message[field]
    if isinstance(value, str):
        return {**message, field: text}
    last = _last_text(value)
    parts = [{**part, "text": text} if index == last else part for index, part in enumerate(value)]
    return {**message, field: parts}


def _field(message: Mapping[str, Any], *, or_reasoning: bool) -> str | None:
    content = message.get("content")
    if or_reasoning and not content:
        for field in _REASONING_FIELDS:
            if isinstance(message.get(field), str) and message[field]:
                return field
    if isinstance(content, str) or (isinstance(content, list) and _last_text(content) >= 0):
        return "content"
    return None


def _last_text(parts: list[Any]) -> int:
    """The index of the last part that is text; -1 if none is."""
    for index in range(len(parts) - 1, -1, -1):
        if isinstance(parts[index], dict) and isinstance(parts[index].get("text"), str):
            return index
    return -1
