"""Envelopes: JSON text with placeholders, the object that holds a call's name and arguments."""

from __future__ import annotations

import json
import re
from typing import Any, TypeAlias

import msgspec

from syntagma.format_schema.pattern import Pattern, Spelled

__all__ = ["Constant", "Envelope", "EnvelopeNode", "EnvelopePlaceholder", "Members"]

_QUOTED = re.compile(r'"\{(name|arguments|id|index|ordinal)\}"')
_BARE = re.compile(r"(?<!\")\{(arguments|index|ordinal)\}")
_MARK = "\x00"


class EnvelopePlaceholder(msgspec.Struct, frozen=True, tag=True):
    """A placeholder for a value; `quoted`: for a string (of the arguments: the object encoded as a string)."""

    name: str
    quoted: bool


class Constant(msgspec.Struct, frozen=True, tag=True):
    """A constant value: it is written as it is; the parser accepts any value instead."""

    json: str


class Members(msgspec.Struct, frozen=True, tag=True):
    """An object. The key `EnvelopePlaceholder("name", True)` stands for the tool's name."""

    items: tuple[tuple[str | EnvelopePlaceholder, EnvelopeNode], ...]


EnvelopeNode: TypeAlias = EnvelopePlaceholder | Constant | Members


class Envelope(Spelled):
    """The JSON object that `{envelope}` in a call stands for.

    Attributes:
        pattern: how it is written: order, whitespace and constants as the text shows them.
        root: its members and their meaning.

    Raises:
        ValueError: the text is not a JSON object, or has no placeholder for the arguments.
    """

    __slots__ = ("pattern", "root")

    pattern: Pattern
    root: Members

    def __init__(self, text: str) -> None:
        super().__init__(text)
        object.__setattr__(self, "pattern", Pattern(text))
        object.__setattr__(self, "root", _root(text))
        if "arguments" not in self.pattern.placeholders:
            raise ValueError("an envelope needs the placeholder {arguments}")


def _root(text: str) -> Members:
    marked = _QUOTED.sub(lambda m: json.dumps(f"{_MARK}q{m[1]}"), text)
    marked = _BARE.sub(lambda m: json.dumps(f"{_MARK}b{m[1]}"), marked)
    try:
        value = json.loads(marked, object_pairs_hook=_Pairs)
    except json.JSONDecodeError as error:
        raise ValueError(f"an envelope is JSON with placeholders: {error.msg}") from error
    root = _node(value)
    if not isinstance(root, Members):
        raise ValueError("an envelope is one JSON object")
    return root


class _Pairs(list[tuple[str, Any]]):
    """The members of an object in their order; arrays are plain lists."""


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
