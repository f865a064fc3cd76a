"""Headers of Harmony messages: maps the parts read by `syntagma.parsing.message_header` to the fields of a message."""

from __future__ import annotations

import msgspec

from syntagma.openchatml.errors import CHANNEL_MISSING, HEADER, HeaderError
from syntagma.openchatml.message_header import ATTRIBUTES, is_function_role, split_role
from syntagma.openchatml.tokens import CHANNELS, ROLES, WORD
from syntagma.parsing import HeaderShape, HeaderText

__all__ = ["HarmonyHeader", "read_harmony_header", "unopened_role"]

_FIELDS = {f"{key}=": field for key, field in ATTRIBUTES.items()}
_NAMING = "to="
_DECISIVE = ("channel", _NAMING)
"""fields without which it is not known who may see the message"""
_SHAPE = HeaderShape(
    sections={"channel": CHANNELS, "constrain": ()},
    keys=frozenset(_FIELDS),
    bare="content_type=",
    role="assistant",
    leading="channel",
)
_OBJECT = "{"


class HarmonyHeader(msgspec.Struct):
    """The fields of a header, and what was wrong with it.

    Attributes:
        lacks: as in `Message`.
        intent: the attribute as written. In Harmony the channel decides a message's intent, not this attribute.
        is_sound: whether nothing is wrong with what stands in it, though the channel may lack.
        errors: pairs of code and message, in order.
        rest: text that belongs to no field: the body, if the message token is missing.
        extra, role_raw: as in `Message`.
    """

    role: str = "assistant"
    name: str | None = None
    channel: str | None = None
    recipient: str | None = None
    call_id: str | None = None
    intent: str | None = None
    content_type: str | None = None
    constrain: str | None = None
    recovered: bool = False
    lacks: str | None = None
    is_sound: bool = False
    errors: list[tuple[str, str]] = []
    rest: str = ""
    extra: dict[str, str] = {}
    role_raw: str | None = None


def unopened_role(text: str) -> str | None:
    """The text to put before `text` to make it the beginning of a header; None if it is not part of a header.

    A text that begins with a role needs nothing. A text that names a recipient needs the role: a recipient must never
    be lost.
    """
    words = WORD.findall(text)
    if words and (words[0] in ROLES or is_function_role(words[0])):
        return ""
    names = any(word.startswith(_NAMING) and word != _NAMING for word in words)
    return "assistant " if names or _SHAPE.begins(text) else None


def read_harmony_header(text: HeaderText, *, closed: bool) -> HarmonyHeader:
    """The fields of a header.

    Args:
        text: the header's sections; the first begins with the role.
        closed: whether the message token followed. Without it the body is part of `text`.
    """
    read = text.read(_SHAPE, closed=closed)
    outside = [piece for _, piece in text.text_outside_fields(read)] if read.rest else []
    header = HarmonyHeader(
        channel=read.values.get("channel"),
        constrain=read.values.get("constrain"),
        recovered=not read.is_sound,
        is_sound=read.is_sound,
        extra=read.extra,
        errors=[(HEADER, message) for message in read.problems],
        rest="".join(outside),
    )
    for key, field in _FIELDS.items():
        setattr(header, field, read.values.get(key))
    if read.role:
        _set_role(header, read.role)
    if not read.unknown.isdisjoint(_DECISIVE):
        header.channel = "analysis"
    elif header.channel is None and (header.role == "assistant" or not read.role):
        if closed and read.role:
            header.recovered = True
            header.errors.append((CHANNEL_MISSING, "an assistant message has no channel"))
        header.channel = "analysis"
    elif header.recovered and not read.guessed and header.recipient is not None:
        if closed:
            header.lacks = "beginning"
        elif len(outside) == 1 and header.rest.startswith(_OBJECT):
            header.lacks = "message"
    return header


def _set_role(header: HarmonyHeader, word: str) -> None:
    try:
        header.role, name = split_role(word, "harmony")
        header.role_raw = word if word != header.role else None
    except HeaderError as error:
        # The role is unknown: as a tool message it is neither shown nor run.
        header.role, name = "tool", word
        header.recovered = True
        header.errors.insert(0, (HEADER, error.message))
    if header.name is None:
        header.name = name
    elif name is not None and header.name != name:
        header.recovered = True
        header.errors.append((HEADER, "attribute name has two values"))
