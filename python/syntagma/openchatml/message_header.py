"""The header of one message, from its words to its fields (§4 to §6)."""

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
"""attributes as they are written, and the fields of `Message` that hold them"""

_ATTRIBUTE = re.compile(r"([A-Za-z_][A-Za-z0-9_.-]*)=(.*)", re.DOTALL)
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_FUNCTION = re.compile(r"functions\.[A-Za-z0-9_.-]+")
_TOOL = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*")
_INTENTS = ("preamble", "status", "debug")


class MessageHeader(msgspec.Struct):
    """What a header says; `warnings` collects what deserves a warning."""

    role: str = ""
    role_raw: str | None = None
    channel: str | None = None
    constrain: str | None = None
    attributes: dict[str, str] = {}
    extra: dict[str, str] = {}
    warnings: list[str] = []


def is_function_role(word: str) -> bool:
    """Whether a role word is that of a function that a developer defined."""
    return _FUNCTION.fullmatch(word) is not None


def split_role(word: str, profile: Profile) -> tuple[str, str | None]:
    """Role and name that a role word stands for.

    Raises:
        HeaderError: `E-PARSE-HEADER`, no such role.
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
    raise error_for(HEADER, f"{word!r} is not a role" if word else "a header without a role")


def read_fields(sections: list[tuple[str, str]], profile: Profile) -> MessageHeader:
    """The fields of a header, given as `(token before it, text)` with the start token's text first.

    Raises:
        HeaderError: `E-PARSE-HEADER`.
        ChannelMissingError: `E-PARSE-CHANNEL-MISSING`, only under the harmony profile.
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
            if channel_seen:
                raise error_for(HEADER, "a header with two channels")
            if not words or words[0] not in CHANNELS:
                raise error_for(HEADER, f"{words[0]!r} is not a channel" if words else "an empty channel")
            channel_seen = True
            fields.channel = words[0]
            _attributes(fields, words[1:], bare=profile == "harmony")
            if "call_id" in fields.attributes and any(word.startswith("call_id=") for word in words):
                fields.warnings.append("call_id after the channel; its place is the start of the header")
        else:
            if constrain_seen:
                raise error_for(HEADER, "a header with two constraints")
            if len(words) != 1:
                raise error_for(HEADER, "a constraint is one word")
            constrain_seen = True
            fields.constrain = words[0]
    if profile == "harmony" and fields.role == "assistant" and not channel_seen:
        raise error_for(CHANNEL_MISSING, "an assistant's message without a channel", hint="the profile requires one")
    intent = fields.attributes.get("intent")
    if intent is not None and intent not in _INTENTS:
        fields.warnings.append(f"intent {intent!r} is not known and shows nothing")
    return fields


def is_key(key: str) -> bool:
    """Whether an attribute of ours or of others can have this name."""
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
            fields.warnings.append(f"attribute {key} is not known")
