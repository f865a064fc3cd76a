"""Headers of Harmony messages, as models write them: what can be understood is, and what is odd is said.

Two rules decide what is unclear. Nothing a model wrote is lost; and what nobody can be sure is meant to be seen or run
is neither (`analysis`, and `recovered`).
"""

from __future__ import annotations

import re

import msgspec

from syntagma.openchatml.errors import CHANNEL_MISSING, HEADER, HeaderError
from syntagma.openchatml.frames import ATTRIBUTES, split_role
from syntagma.openchatml.tokens import CHANNELS, WORD

__all__ = ["Heading", "known_role", "read_heading"]

_TYPE = re.compile(r"[A-Za-z0-9_/+.-]+")
_CHANNEL = re.compile(r"[a-z]+")


class Heading(msgspec.Struct):
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

    def odd(self, message: str) -> None:
        """Note that the header is malformed."""
        self.recovered = True
        self.errors.append((HEADER, message))


def known_role(text: str) -> bool:
    """Whether a text begins with a role, so that it may be a header without its start token."""
    words = WORD.findall(text)
    return bool(words) and (words[0] in ("system", "developer", "user", "assistant") or "functions." in words[0][:10])


def read_heading(sections: list[tuple[str, str]], *, closed: bool) -> Heading:
    """Understand a header.

    Args:
        sections: `(token before it, text)`; the first is that of the start token and begins with the role.
        closed: whether the message token followed; without it the body is in here, too.
    """
    heading = Heading()
    channels = 0
    rest: list[str] = []
    for token, text in sections:
        if token == "start":
            left = _role(heading, text)
        elif token == "channel":
            channels += 1
            left = _channel(heading, text, channels, closed=closed)
        else:
            left = _constrain(heading, text)
        if left:
            rest.append(left)
    heading.rest = " ".join(rest)
    if closed and heading.rest:
        heading.odd(f"{heading.rest[:40]!r} does not belong in a header")
    heading.recovered = heading.recovered or not closed
    if heading.role == "assistant" and heading.channel is None:
        heading.channel = "analysis"
        if closed and not channels:
            heading.recovered = True
            heading.errors.append((CHANNEL_MISSING, "an assistant's message without a channel"))
    return heading


def _role(heading: Heading, text: str) -> str:
    match = WORD.search(text)
    if match is None:
        heading.odd("a header without a role")
        heading.channel = "analysis"
        return ""
    try:
        heading.role, heading.name = split_role(match.group(), "harmony")
    except HeaderError as error:
        # No role of anything: as a tool's message it is neither shown nor run.
        heading.role, heading.name = "tool", match.group()
        heading.odd(error.message)
    return _attributes(heading, text[match.end() :], bare=False)


def _channel(heading: Heading, text: str, count: int, *, closed: bool) -> str:
    match = WORD.search(text)
    word = match.group() if match else ""
    found = _CHANNEL.match(word)
    name = found.group() if found else ""
    if count > 1:
        heading.odd("a header with two channels")
    elif word in CHANNELS:
        heading.channel = word
    elif name in CHANNELS and not word[len(name) :].isalnum():
        heading.channel = name
        heading.recovered = True
    else:
        heading.channel = "analysis"
        heading.odd(f"{word!r} is no channel")
    return _attributes(heading, text[match.end() :] if match else "", bare=closed)


def _constrain(heading: Heading, text: str) -> str:
    match = WORD.search(text)
    if match is None:
        heading.odd("an empty constraint")
        return ""
    if _TYPE.fullmatch(match.group()) is None:
        heading.odd(f"{match.group()!r} is no type")
        return text[match.start() :]
    if heading.constrain is not None:
        # The last one is the one next to the body.
        heading.recovered = True
    heading.constrain = match.group()
    return _attributes(heading, text[match.end() :], bare=False)


def _attributes(heading: Heading, text: str, *, bare: bool) -> str:
    """Take attributes off the front; what is left is given back. `bare`: one word may be the content type."""
    fields = {key: field for key, field in ATTRIBUTES.items() if key != "intent"}
    for match in WORD.finditer(text):
        key, sign, value = match.group().partition("=")
        if sign and key == "intent":
            continue
        if not sign or key not in fields or not value:
            if not bare or not _TYPE.fullmatch(match.group()) or heading.content_type is not None:
                return text[match.start() :]
            key, value, bare = "content_type", match.group(), False
        field = fields[key]
        before = getattr(heading, field)
        if before is None:
            setattr(heading, field, value)
        elif before != value:
            heading.odd(f"attribute {key} has two values")
    return ""
