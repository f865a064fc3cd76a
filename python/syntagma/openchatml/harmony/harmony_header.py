"""Headers of Harmony messages: what `syntagma.parsing.message_header` reads, as the fields of a message."""

from __future__ import annotations

import msgspec

from syntagma.openchatml.errors import CHANNEL_MISSING, HEADER, HeaderError
from syntagma.openchatml.message_header import ATTRIBUTES, is_function_role, split_role
from syntagma.openchatml.tokens import CHANNELS, ROLES, WORD
from syntagma.parsing import HeaderShape, HeaderText

__all__ = ["HarmonyHeader", "read_harmony_header", "unopened_role"]

_FIELDS = {f"{key}=": field for key, field in ATTRIBUTES.items()}
_NAMING = "to="
_SHAPE = HeaderShape(sections={"channel": CHANNELS, "constrain": ()}, keys=frozenset(_FIELDS), bare="content_type=")


class HarmonyHeader(msgspec.Struct):
    """What a header says.

    Attributes:
        intent: as it is written; what a message is for follows from its channel here, whatever the header says.
        errors: codes and sentences, in their order.
        rest: text that belongs to no field: the body, where the message token is missing.
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
    errors: list[tuple[str, str]] = []
    rest: str = ""


def unopened_role(text: str) -> str | None:
    """What a text lacks to be the beginning of a header without its start token; None: it is no part of one.

    It begins with a role and lacks nothing, or it names a recipient and lacks the role: for whom a message is must not
    be passed over.
    """
    words = WORD.findall(text)
    if words and (words[0] in ROLES or is_function_role(words[0])):
        return ""
    return "assistant " if any(word.startswith(_NAMING) and word != _NAMING for word in words) else None


def read_harmony_header(text: HeaderText, *, closed: bool) -> HarmonyHeader:
    """Understand a header.

    Args:
        text: its sections; the first begins with the role.
        closed: whether the message token followed; without it the body is in here, too.
    """
    read = text.read(_SHAPE, closed=closed)
    header = HarmonyHeader(
        channel=read.values.get("channel"),
        constrain=read.values.get("constrain"),
        recovered=read.guessed,
        errors=[(HEADER, message) for message in read.problems],
        rest="".join(piece for _, piece in text.text_outside_fields(read)) if read.rest else "",
    )
    for key, field in _FIELDS.items():
        setattr(header, field, read.values.get(key))
    if read.role:
        _set_role(header, read.role)
    if header.channel is None and (header.role == "assistant" or read.unknown or not read.role):
        if closed and not read.unknown and read.role:
            header.recovered = True
            header.errors.append((CHANNEL_MISSING, "an assistant's message without a channel"))
        header.channel = "analysis"
    return header


def _set_role(header: HarmonyHeader, word: str) -> None:
    try:
        header.role, name = split_role(word, "harmony")
    except HeaderError as error:
        # No known role: as a tool's message it is neither shown nor run.
        header.role, name = "tool", word
        header.recovered = True
        header.errors.insert(0, (HEADER, error.message))
    if header.name is None:
        header.name = name
    elif name is not None and header.name != name:
        header.recovered = True
        header.errors.append((HEADER, "attribute name has two values"))
