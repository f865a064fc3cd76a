"""Headers of Harmony messages: what `syntagma.parsing.message_header` reads, as the fields of a message."""

from __future__ import annotations

import msgspec

from syntagma.openchatml.errors import CHANNEL_MISSING, HEADER, HeaderError
from syntagma.openchatml.message_header import ATTRIBUTES, split_role
from syntagma.openchatml.tokens import CHANNELS, WORD
from syntagma.parsing import HeaderShape, read_header

__all__ = ["HarmonyHeader", "known_role", "read_heading"]

_FIELDS = {f"{key}=": field for key, field in ATTRIBUTES.items()}
_SHAPE = HeaderShape(sections={"channel": CHANNELS, "constrain": ()}, keys=frozenset(_FIELDS), bare="content_type=")


class HarmonyHeader(msgspec.Struct):
    """What a header says.

    Attributes:
        errors: codes and sentences, in their order.
        rest: text that belongs to no field: the body, where the message token is missing.
    """

    role: str = "assistant"
    name: str | None = None
    channel: str | None = None
    recipient: str | None = None
    call_id: str | None = None
    content_type: str | None = None
    constrain: str | None = None
    recovered: bool = False
    errors: list[tuple[str, str]] = []
    rest: str = ""


def known_role(text: str) -> bool:
    """Whether a text begins with a role, so that it may be a header without its start token."""
    words = WORD.findall(text)
    return bool(words) and (words[0] in ("system", "developer", "user", "assistant") or "functions." in words[0][:10])


def read_heading(sections: list[tuple[str, str]], *, closed: bool) -> HarmonyHeader:
    """Understand a header.

    Args:
        sections: `(token before it, text)`; the first is that of the start token and begins with the role.
        closed: whether the message token followed; without it the body is in here, too.
    """
    header = read_header(sections, _SHAPE, closed=closed)
    heading = HarmonyHeader(
        channel=header.values.get("channel"),
        constrain=header.values.get("constrain"),
        recovered=header.guessed,
        errors=[(HEADER, message) for message in header.odd],
        rest="".join(sections[number][1][left:] for number, left in header.rest),
    )
    for key, field in _FIELDS.items():
        # What a message is for follows from its channel here, whatever the header says.
        if field != "intent":
            setattr(heading, field, header.values.get(key))
    if header.role:
        _role(heading, header.role)
    if heading.channel is None and (heading.role == "assistant" or header.unknown or not header.role):
        if closed and not header.unknown and header.role:
            heading.recovered = True
            heading.errors.append((CHANNEL_MISSING, "an assistant's message without a channel"))
        heading.channel = "analysis"
    return heading


def _role(heading: HarmonyHeader, word: str) -> None:
    try:
        heading.role, name = split_role(word, "harmony")
    except HeaderError as error:
        # No role of anything: as a tool's message it is neither shown nor run.
        heading.role, name = "tool", word
        heading.recovered = True
        heading.errors.insert(0, (HEADER, error.message))
    if heading.name is None:
        heading.name = name
    elif name is not None and heading.name != name:
        heading.recovered = True
        heading.errors.append((HEADER, "attribute name has two values"))
