"""Envelopes: JSON text with placeholders, the object that holds a call's name and arguments."""

from __future__ import annotations

import json
import re
from typing import Any, TypeAlias

import msgspec

from syntagma.format_schema.pattern import Pattern

__all__ = ["Constant", "Envelope", "EnvelopeNode", "EnvelopePlaceholder", "Members"]

_QUOTED = re.compile(r'"\{(name|arguments|id|index|ordinal)\}"')
_BARE = re.compile(r"(?<!\")\{(arguments|index|ordinal)\}")
_MARK = "\x00"


class EnvelopePlaceholder(msgspec.Struct, frozen=True, tag=True):
    """A placeholder that is a value; if `quoted`, a string (`arguments` quoted: the object encoded as a string)."""

    name: str
    quoted: bool


class Constant(msgspec.Struct, frozen=True, tag=True):
    """A value that is always the same; the reader does not check it."""

    json: str


class Members(msgspec.Struct, frozen=True, tag=True):
    """An object. A key that is `EnvelopePlaceholder("name", True)` means: the tool's name is the key."""

    items: tuple[tuple[str | EnvelopePlaceholder, EnvelopeNode], ...]


EnvelopeNode: TypeAlias = EnvelopePlaceholder | Constant | Members


class Envelope(msgspec.Struct, frozen=True):
    """An envelope: how it is written (`pattern`, blanks and order as shown) and what it means (`root`)."""

    pattern: Pattern
    root: Members

    @classmethod
    def of(cls, text: str) -> Envelope:
        """Read an envelope.

        Raises:
            ValueError: it is no JSON object, or has no placeholder for the arguments.
        """
        marked = _QUOTED.sub(lambda m: json.dumps(f"{_MARK}q{m[1]}"), text)
        marked = _BARE.sub(lambda m: json.dumps(f"{_MARK}b{m[1]}"), marked)
        try:
            value = json.loads(marked, object_pairs_hook=_Pairs)
        except json.JSONDecodeError as error:
            raise ValueError(f"an envelope is JSON with placeholders: {error.msg}") from error
        root = _node(value)
        if not isinstance(root, Members):
            raise ValueError("an envelope is one JSON object")
        pattern = Pattern.of(text)
        if "arguments" not in pattern.placeholders:
            raise ValueError("an envelope needs the placeholder {arguments}")
        return cls(pattern, root)


class _Pairs(list[tuple[str, Any]]):
    """An object's members in order; a list subclass tells objects from arrays."""


def _node(value: Any) -> EnvelopeNode:
    if isinstance(value, _Pairs):
        return Members(tuple((_key(key), _node(inner)) for key, inner in value))
    if isinstance(value, str) and value.startswith(_MARK):
        return EnvelopePlaceholder(value[2:], value[1] == "q")
    return Constant(json.dumps(_plain(value), ensure_ascii=False))


def _key(key: str) -> str | EnvelopePlaceholder:
    return EnvelopePlaceholder(key[2:], True) if key.startswith(_MARK) else key


def _plain(value: Any) -> Any:
    if isinstance(value, _Pairs):
        return {key: _plain(inner) for key, inner in value}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value
