"""Headers of messages in patterns: the fields before the body, each with a pattern of its value."""

from __future__ import annotations

import functools

import msgspec

from syntagma.format_schema.markers import Markers
from syntagma.format_schema.parts import MessagesSpec
from syntagma.format_schema.pattern import Pattern

__all__ = ["HeaderPattern", "default_fields", "message_ends", "opening", "split_header"]


class HeaderPattern(msgspec.Struct, frozen=True):
    """A pattern of a format with headers, split where the body begins.

    Attributes:
        fields: prefix and value of each field in the pattern, in order. A value is one word; further words are only
            written.
        body: the pattern of the body, with the marker that ends the message.
    """

    fields: tuple[tuple[str, Pattern], ...]
    body: Pattern


def opening(start: str, markers: Markers) -> tuple[str, str]:
    """The marker that begins a message, and the role after it, as in `<begin>writer`."""
    first = next(iter(markers.pieces(start.strip())), None)
    if first is None or not first.is_marker:
        return start.strip(), ""
    return first.text, start.strip()[len(first.text) :].strip()


def message_ends(messages: MessagesSpec, markers: Markers) -> tuple[str, ...]:
    """The texts that end a message; if the format has none, those that begin the next."""
    begins = tuple(dict.fromkeys(opening(start, markers)[0] for start in messages.start))
    return messages.end or begins or tuple(field for field in messages.fields if not field[0].isspace())


def default_fields(messages: MessagesSpec) -> dict[str, str]:
    """The values of fields that a header lacks, by their prefixes.

    Raises:
        ValueError: a text is not a field, or its value is not one word.
    """
    found = {}
    for text in messages.default:
        lead, parts = _fields(text, messages.fields)
        if lead.strip() or len(parts) != 1 or len(parts[0][1].split()) != 1:
            raise ValueError(f"{text!r} is not a field with its value")
        found[parts[0][0]] = parts[0][1].strip()
    return found


@functools.lru_cache(maxsize=1024)
def split_header(pattern: Pattern, messages: MessagesSpec) -> HeaderPattern:
    """Split a pattern into the fields of its header and its body.

    Raises:
        ValueError: it has no header, or its header has text outside of fields.
    """
    header, body, rest = pattern.text.partition(messages.body)
    if not body:
        raise ValueError(f"needs a header that ends with {messages.body!r}")
    for start in messages.start:
        header = header.removeprefix(start)
    lead, parts = _fields(header, messages.fields)
    if lead.strip():
        raise ValueError(f"{lead.strip()!r} in its header belongs to no field")
    fields: list[tuple[str, Pattern]] = []
    for prefix, value in parts:
        words = value.split()
        if not words:
            raise ValueError(f"the field {prefix.strip()!r} has no value")
        if any(prefix == seen for seen, _ in fields):
            raise ValueError(f"the field {prefix.strip()!r} occurs twice in its header")
        shape = Pattern(words[0])
        if set(shape.placeholders) - {"name"} and shape.placeholders != ("id",):
            raise ValueError(f"the field {prefix.strip()!r} can have no placeholder but {{name}}, or {{id}} alone")
        fields.append((prefix, shape))
    if not fields:
        raise ValueError("shows no field of the header")
    return HeaderPattern(tuple(fields), Pattern(rest))


def _fields(header: str, prefixes: tuple[str, ...]) -> tuple[str, list[tuple[str, str]]]:
    """The text before the first field, and the fields, each with the text after its prefix."""
    longest = sorted(prefixes, key=len, reverse=True)
    lead, found, at = "", list[tuple[str, str]](), 0
    while at < len(header):
        prefix = next((one for one in longest if header.startswith(one, at)), None)
        if prefix is not None:
            found.append((prefix, ""))
            at += len(prefix)
            continue
        if found:
            found[-1] = (found[-1][0], found[-1][1] + header[at])
        else:
            lead += header[at]
        at += 1
    return lead, found
