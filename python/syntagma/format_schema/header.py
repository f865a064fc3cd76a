"""Headers of messages as patterns show them: the fields in front of the body, each with the shape of its value."""

from __future__ import annotations

import msgspec

from syntagma.format_schema.markers import pieces
from syntagma.format_schema.pattern import Pattern
from syntagma.format_schema.spec import ContentSpec, FormatSpec, MessagesSpec

__all__ = ["HeaderPattern", "answer_before_calls", "message_ends", "opening", "required_fields", "shown_headers"]
__all__ += ["split_header"]


class HeaderPattern(msgspec.Struct, frozen=True):
    """A pattern of a format with headers, cut where the body begins.

    Attributes:
        fields: prefix and value of every field that is shown, in order; further words of a value are only written.
        body: the pattern of the body, with the marker that ends the message.
    """

    fields: tuple[tuple[str, Pattern], ...]
    body: Pattern


def opening(start: str) -> tuple[str, str]:
    """What a message is recognised by, and the role behind it: `<begin>writer` is a marker and a role."""
    first = next(iter(pieces(start.strip())), None)
    if first is None or not first.is_marker:
        return start.strip(), ""
    return first.text, start.strip()[len(first.text) :].strip()


def message_ends(messages: MessagesSpec) -> tuple[str, ...]:
    """What ends a message; where the format says nothing of it, what begins the next."""
    begins = tuple(dict.fromkeys(opening(start)[0] for start in messages.start))
    return messages.end or begins or tuple(field for field in messages.fields if not field[0].isspace())


def split_header(pattern: Pattern, messages: MessagesSpec) -> HeaderPattern:
    """Cut a pattern into the fields of its header and its body.

    Raises:
        ValueError: it has no header, or one that holds something else than fields.
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
            raise ValueError(f"the field {prefix.strip()!r} stands twice in its header")
        shape = Pattern.of(words[0])
        if set(shape.placeholders) - {"name"}:
            raise ValueError(f"only names can stand in the field {prefix.strip()!r}")
        fields.append((prefix, shape))
    if not fields:
        raise ValueError("shows no field of the header")
    return HeaderPattern(tuple(fields), Pattern.of(rest))


def _fields(header: str, prefixes: tuple[str, ...]) -> tuple[str, list[tuple[str, str]]]:
    """What stands in front of the first field, and the fields, each with the text behind its prefix."""
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


def required_fields(spec: FormatSpec) -> tuple[str, ...]:
    """The fields that every header must have: those that begin with a marker, and tell thoughts or answers apart."""
    messages = spec.messages
    if messages is None:
        return ()
    blocks = (*(spec.reasoning.block if spec.reasoning else ()), *(spec.content.block if spec.content else ()))
    told = {field for block in blocks for field, _ in split_header(block, messages).fields}
    return tuple(field for field in messages.fields if field in told and not field[0].isspace())


def shown_headers(spec: FormatSpec) -> tuple[Pattern, ...]:
    """The headers of calls that may be written: they lack nothing, and stand before a body like that of the first."""
    messages, tools = spec.messages, spec.tools
    if messages is None or tools is None:
        return ()
    body = split_header(tools.call[0], messages).body
    found = []
    for pattern in tools.call:
        header = split_header(pattern, messages)
        if header.body == body and {field for field, _ in header.fields}.issuperset(required_fields(spec)):
            found.append(Pattern.of(pattern.text.partition(messages.body)[0] + messages.body))
    return tuple(found)


def answer_before_calls(content: ContentSpec, messages: MessagesSpec) -> Pattern:
    """How an answer is written that calls follow: as the first pattern behind which a message may come."""
    return next((one for one in content.block if one.closer.strip() in messages.end[:1]), content.block[0])
