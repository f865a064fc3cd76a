"""The content of messages: a text, or a list of parts in the form of chat completions."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from syntagma.conversion.notes import Members, Notes

__all__ = [
    "Content",
    "content_of",
    "data_url",
    "flat_text",
    "joined_content",
    "parts_of",
    "read_part",
    "read_parts",
    "split_data_url",
]

Content: TypeAlias = str | list[dict[str, Any]] | None
_DATA_URL = re.compile(r"data:([^;,]+);base64,")


def content_of(parts: Sequence[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """Parts as content: a string for no part or one plain text, else the list."""
    if not parts:
        return ""
    if len(parts) == 1 and parts[0].keys() == {"type", "text"} and parts[0]["type"] == "text":
        return str(parts[0]["text"])
    return list(parts)


def parts_of(content: Content) -> list[dict[str, Any]]:
    """Content as a list of parts, empty for an empty text."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return list(content or ())


def joined_content(first: Content, second: Content) -> Content:
    """The concatenation of two contents."""
    if not first or not second:
        return first or second
    return [*parts_of(first), *parts_of(second)]


def read_parts(
    content: Any, pointer: str, notes: Notes, read: Callable[[Members], dict[str, Any] | None]
) -> list[tuple[dict[str, Any], str]]:
    """The parts of content, each with its place. Content is a text or a list of objects.

    Args:
        content: the content as given.
        pointer: its place.
        notes: collects the losses.
        read: converts one object to a part; None for an unknown type, which is recorded as a loss.

    Raises:
        ArgumentError: `E-CONVERT-FORM`, the content is neither.
    """
    if content is None:
        return []
    if isinstance(content, str):
        return [({"type": "text", "text": content}, pointer)] if content else []
    if not isinstance(content, list | tuple):
        raise notes.malformed(pointer, "must be a string or a list of objects")
    places = [f"{pointer}/{index}" for index in range(len(content))]
    read_all = [(read_part(item, place, notes, read), place) for item, place in zip(content, places, strict=True)]
    return [(part, place) for part, place in read_all if part is not None]


def read_part(
    item: Any, pointer: str, notes: Notes, read: Callable[[Members], dict[str, Any] | None]
) -> dict[str, Any] | None:
    """One object as a part, see `read_parts`; None, and a loss, if its type is unknown."""
    members = Members(item, pointer, notes)
    part = read(members)
    if part is None:
        notes.unknown(pointer, "content", members.data.get("type"))
    else:
        members.rest("content of messages has no such member")
    return part


def flat_text(content: Content, pointer: str, notes: Notes, *, separator: str = "\n") -> str | None:
    """The text of content, for a form with text only. Other parts are lost."""
    if content is None or isinstance(content, str):
        return content
    texts: list[str] = []
    for index, part in enumerate(content):
        members = Members(part, f"{pointer}/{index}", notes)
        kind = members.take("type")
        text = members.take(kind) if kind in ("text", "refusal") else None
        if not isinstance(text, str):
            notes.lose(members.pointer, f"content of type {kind!r}", "the form has only text")
            continue
        if kind == "refusal":
            notes.lose(f"{members.pointer}/type", "refusal", "it becomes text")
        members.rest("the form has only text")
        if texts:
            notes.lose(members.pointer, "part boundary", "the form has one text per message")
        texts.append(text)
    return separator.join(texts)


def data_url(media_type: str, data: str) -> str:
    """A data URL of base64 data."""
    return f"data:{media_type};base64,{data}"


def split_data_url(url: Any) -> tuple[str, str] | None:
    """The media type and base64 data of a data URL; None for other URLs."""
    found = _DATA_URL.match(url) if isinstance(url, str) else None
    return None if found is None else (found[1], url[found.end() :])
