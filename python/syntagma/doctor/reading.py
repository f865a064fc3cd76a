"""What a stream of server-sent events holds; what breaks the rules of the format is noted, not raised."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from syntagma.doctor.values import object_of

__all__ = ["DONE", "Events", "read_events"]

DONE: Final = "[DONE]"
_OTHER_FIELDS: Final = (b"event", b"id", b"retry")


class Events(msgspec.Struct, frozen=True, kw_only=True):
    """The events of a stream.

    Attributes:
        data: what each event says, as text.
        chunks: those that are JSON objects, decoded.
        broken: what breaks the rules of server-sent events or is no JSON, each with the line.
        unended: whether the last event lacks its empty line.
    """

    data: tuple[str, ...]
    chunks: tuple[dict[str, Any], ...]
    broken: tuple[tuple[str, str], ...]
    unended: bool


def read_events(received: bytes) -> Events:
    """The events that bytes hold."""
    data: list[str] = []
    broken: list[tuple[str, str]] = []
    held: list[bytes] = []
    lines = received.replace(b"\r\n", b"\n").split(b"\n")
    rest = lines.pop()
    for line in [*lines, *([rest] if rest else [])]:
        name, colon, value = line.partition(b":")
        if not line:
            if held:
                data.append(_text(b"\n".join(held), broken))
                held = []
        elif name == b"data" and colon:
            held.append(value.removeprefix(b" "))
        elif name and not (colon and name in _OTHER_FIELDS):
            broken.append(("a line that is not a field of an event", line.decode("utf-8", "replace")))
    if held:
        data.append(_text(b"\n".join(held), broken))
    chunks: list[dict[str, Any]] = []
    for one in data:
        if one.strip() != DONE:
            if (chunk := object_of(one)) is None:
                broken.append(("an event that is not a JSON object", one))
            else:
                chunks.append(chunk)
    unended = bool(held) or bool(rest)
    return Events(data=tuple(data), chunks=tuple(chunks), broken=tuple(broken), unended=unended)


def _text(value: bytes, broken: list[tuple[str, str]]) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        text = value.decode("utf-8", "replace")
        broken.append(("an event that is not UTF-8", text))
        return text
