"""Reads the words of a message header as fields (§4 to §6)."""

from __future__ import annotations

import re

import msgspec

from syntagma.openchatml.errors import CHANNEL_MISSING, HEADER, error_for
from syntagma.openchatml.tokens import CHANNELS, ROLES, WORD
from syntagma.openchatml.transcript import Profile

__all__ = ["ATTRIBUTES", "MessageHeader", "is_function_role", "is_key", "read_fields", "split_role"]

ATTRIBUTES = {
    "to": "recipient",
    "call_id": "call_id",
    "name": "name",
    "intent": "intent",
    "content_type": "content_type",
}
"""attributes as they are written, and the fields of `Message` they become"""

_ATTRIBUTE = re.compile(r"([A-Za-z_][A-Za-z0-9_.-]*)=(.*)", re.DOTALL)
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_FUNCTION = re.compile(r"functions\.[A-Za-z0-9_.-]+")
_TOOL = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*")
_INTENTS = ("preamble", "status", "debug")


class MessageHeader(msgspec.Struct):
    """The fields of a header, and warnings about it."""

    role: str = ""
    role_raw: str | None = None
    channel: str | None = None
    constrain: str | None = None
    attributes: dict[str, str] = {}
    extra: dict[str, str] = {}
    warnings: list[str] = []


def is_function_role(word: str) -> bool:
    """Whether a role word names a function defined by the developer."""
    return _FUNCTION.fullmatch(word) is not None


def split_role(word: str, profile: Profile) -> tuple[str, str | None]:
    """The role and the name that a role word means.

    Raises:
        HeaderError: `E-PARSE-HEADER`, the word is not a role.
    """
    if word in ROLES:
        return word, None
    if is_function_role(word):
        return "tool", word
    if profile == "harmony":
        role, colon, name = word.partition(":")
        if colon and role in ROLES and name:
            return role, name
        if _TOOL.fullmatch(word) and not word.startswith("functions"):
            return "tool", word
    raise error_for(HEADER, f"{word!r} is not a role" if word else "the header has no role")


def read_fields(sections: list[tuple[str, str]], profile: Profile) -> MessageHeader:
    """The fields of a header, given as sections `(token before the text, text)`, the start token's first.

    Raises:
        HeaderError: `E-PARSE-HEADER`, a role, channel, constraint or attribute is invalid or occurs twice.
        ChannelMissingError: `E-PARSE-CHANNEL-MISSING`, under the harmony profile: an assistant message has no channel.
    """
    fields = MessageHeader()
    channel_seen = constrain_seen = False
    for token, text in sections:
        words = WORD.findall(text)
        if token == "start":
            word = words[0] if words else ""
            fields.role, name = split_role(word, profile)
            if word != fields.role:
                fields.role_raw = word
            if name is not None:
                fields.attributes["name"] = name
            _attributes(fields, words[1:], bare=False)
        elif token == "channel":
            if channel_seen and not (profile == "harmony" and words[:1] == [fields.channel]):
                raise error_for(HEADER, "the header has two channels")
            if not words or words[0] not in CHANNELS:
                raise error_for(HEADER, f"{words[0]!r} is not a channel" if words else "the channel is empty")
            channel_seen = True
            fields.channel = words[0]
            _attributes(fields, words[1:], bare=profile == "harmony")
            if "call_id" in fields.attributes and any(word.startswith("call_id=") for word in words):
                fields.warnings.append("call_id is after the channel; it belongs before it")
        else:
            if constrain_seen and not (profile == "harmony" and words == [fields.constrain]):
                raise error_for(HEADER, "the header has two constraints")
            if len(words) != 1:
                raise error_for(HEADER, "a constraint must be one word")
            constrain_seen = True
            fields.constrain = words[0]
    if profile == "harmony" and fields.role == "assistant" and not channel_seen:
        raise error_for(CHANNEL_MISSING, "an assistant message has no channel", hint="the harmony profile requires one")
    intent = fields.attributes.get("intent")
    if intent is not None and intent not in _INTENTS:
        fields.warnings.append(f"intent {intent!r} is unknown and has no effect")
    return fields


def is_key(key: str) -> bool:
    """Whether a text can be the name of an attribute, known or unknown."""
    return _KEY.fullmatch(key) is not None


def _attributes(fields: MessageHeader, words: list[str], *, bare: bool) -> None:
    for word in words:
        match = _ATTRIBUTE.fullmatch(word)
        if match is None:
            if not bare:
                raise error_for(HEADER, f"{word!r} is not an attribute")
            key, value, bare = "content_type", word, False
        else:
            key, value = match.groups()
        if not value:
            raise error_for(HEADER, f"attribute {key} is empty")
        known = fields.attributes if key in ATTRIBUTES else fields.extra
        if known.setdefault(key, value) != value:
            raise error_for(HEADER, f"attribute {key} has two values")
        if known is fields.extra:
            fields.warnings.append(f"attribute {key} is unknown")
