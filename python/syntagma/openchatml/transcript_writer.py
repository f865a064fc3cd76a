"""Writes transcripts in their canonical form, so that every transcript reads back equal (§3, §6, §15)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from syntagma.entry import entry
from syntagma.openchatml.constraint import violation
from syntagma.openchatml.document_header import write_header
from syntagma.openchatml.errors import CHANNEL_MISSING, CONSTRAINT, HEADER, TRUNCATED, error_for
from syntagma.openchatml.message_header import ATTRIBUTES, is_key, split_role
from syntagma.openchatml.tokens import CHANNELS, TERMINATORS, escape, spell
from syntagma.openchatml.transcript import DocumentHeader, Message, Profile, Transcript, checked_profile

__all__ = ["checked_value", "escape_body", "is_value", "render", "render_message"]

_ORDER = ("to", "call_id", "name", "intent", "content_type")
_TOOL_ORDER = ("name", "call_id", "to", "intent", "content_type")


def escape_body(body: str) -> str:
    """A body with its control tokens escaped.

    A run of `<` at the end is written as a literal block, because its last `<` would escape the token that follows.
    """
    if not body.endswith("<"):
        return escape(body)
    head = body.rstrip("<")
    return f"{escape(head)}{spell('literal')}{body[len(head) :]}{spell('endliteral')}"


def is_value(value: str) -> bool:
    """Whether a text can be the value of an attribute: a word that does not end in `<`."""
    return bool(value) and not value.endswith("<") and not any(_splits(character) for character in value)


def checked_value(key: str, value: str) -> str:
    """An attribute's value as it is written.

    Raises:
        HeaderError: `E-PARSE-HEADER`, the value is empty, ends in `<`, or contains whitespace or control characters.
    """
    if not is_value(value):
        hint = "a value is one word without control characters and without < at the end"
        raise error_for(HEADER, f"{key}={value!r} cannot be written", hint=hint)
    return escape(value)


def _splits(character: str) -> bool:
    return character.isspace() or unicodedata.category(character) == "Cc"


@entry
def render_message(message: Message, *, profile: Profile = "ocm") -> str:
    """One message as text in canonical form.

    Raises:
        HeaderError: `E-PARSE-HEADER`, a role, channel, terminator or attribute cannot be written.
        ChannelMissingError: `E-PARSE-CHANNEL-MISSING`, under the harmony profile: an assistant message has no channel.
        ConstraintError: `E-BODY-CONSTRAINT-VIOLATION`, the body is not of the type in `constrain`.
        TruncatedError: `E-STREAM-TRUNCATED`, the message is incomplete.
        ArgumentError: `E-ARGUMENT-VALUE`, the profile is unknown.
    """
    checked_profile(profile)
    role, named = split_role(message.role, "ocm")
    if message.terminator is None:
        raise error_for(TRUNCATED, "an incomplete message cannot be written")
    if message.terminator not in TERMINATORS:
        raise error_for(HEADER, f"{message.terminator!r} is not a terminator")
    if message.channel is None and role == "assistant" and profile == "harmony":
        raise error_for(CHANNEL_MISSING, "an assistant message has no channel", hint="the harmony profile requires one")
    values = {key: getattr(message, field) for key, field in ATTRIBUTES.items()}
    if named is not None:
        if values["name"] not in (None, named):
            raise error_for(HEADER, f"role {message.role!r} contradicts the name {values['name']!r}")
        values["name"] = named
    head = [spell("start"), role]
    order = _TOOL_ORDER if role == "tool" else _ORDER
    head += [f" {key}={checked_value(key, values[key])}" for key in order if values[key] is not None]
    for key, value in message.extra.items():
        if key in ATTRIBUTES or not is_key(key):
            raise error_for(HEADER, f"{key!r} cannot be the name of an unknown attribute")
        head.append(f" {key}={checked_value(key, value)}")
    if message.channel is not None:
        if message.channel not in CHANNELS:
            raise error_for(HEADER, f"{message.channel!r} is not a channel")
        head += [spell("channel"), message.channel]
    if message.constrain is not None:
        wrong = violation(message.constrain, message.body)
        if wrong is not None:
            raise error_for(CONSTRAINT, wrong)
        head += [spell("constrain"), checked_value("constrain", message.constrain)]
    return "".join([*head, spell("message"), escape_body(message.body), spell(message.terminator)])


@entry
def render(
    transcript: Transcript | Iterable[Message], *, header: DocumentHeader | None = None, separator: str = "\n"
) -> str:
    r"""A transcript as text in canonical form.

    Args:
        transcript: a transcript, or its messages.
        header: the document header; None: the transcript's, if it has one.
        separator: whitespace between messages; the canonical form has one line feed.

    Raises:
        OpenChatMLError: a message or header cannot be written so that it reads back equal.
    """
    if separator.strip(" \t\r\n"):
        raise error_for(HEADER, "the separator must be whitespace")
    if isinstance(transcript, Transcript):
        header = header or transcript.header
        messages: Iterable[Message] = transcript.messages
    else:
        messages = transcript
    profile = "ocm" if header is None else header.profile
    text = separator.join([render_message(message, profile=profile) for message in messages])
    return text if header is None else write_header(header) + text
