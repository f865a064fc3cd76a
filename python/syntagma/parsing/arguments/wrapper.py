"""A wrapper around the arguments: one argument that is not declared, with the declared ones inside."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from syntagma.format_schema import Notation
from syntagma.parsing.arguments.json_machine import JsonMachine
from syntagma.parsing.arguments.literal_machine import LiteralMachine
from syntagma.parsing.end_of_call import after_whitespace, stands_at

__all__ = ["WRAPPER_FIRSTS", "Around", "Wrapper", "may_wrap", "members_of", "wrapper_keys"]

_WRAPPERS = ("arguments", "input")
WRAPPER_FIRSTS = frozenset(("", *(key[0] for key in _WRAPPERS)))
"""the first characters of these keys, and none, where the text ends"""
_MAX_HELD = 1 << 16
"""the most code points of a wrapper that are held until its end"""


def may_wrap(key: str, properties: Mapping[str, Any]) -> bool:
    """Whether an argument of this key may be a wrapper: the tool declares arguments, but not this one."""
    return key in _WRAPPERS and bool(properties) and key not in properties


def wrapper_keys(schema: Mapping[str, Any] | None) -> tuple[str, ...]:
    """The keys that a wrapper may have around arguments of this schema."""
    properties = schema.get("properties") if schema is not None else None
    return tuple(key for key in _WRAPPERS if may_wrap(key, properties)) if isinstance(properties, Mapping) else ()


def members_of(text: str, schema: Mapping[str, Any]) -> str | None:
    """The object of JSON inside a wrapper, if it is the arguments: members are declared, and required ones there."""
    try:
        members = json.loads(text)
    except (ValueError, RecursionError):
        return None
    required = schema.get("required", [])
    if not isinstance(members, dict) or not members or not members.keys() <= schema["properties"].keys():
        return None
    return text.strip() if isinstance(required, list) and all(key in members for key in required) else None


class Around(NamedTuple):
    """The literals around the object in a wrapper; whitespace may stand between them."""

    before: tuple[str, ...]
    after: tuple[str, ...]


class Wrapper:
    """Looks ahead for a wrapper that is the only argument. The text stays unread until that is known.

    Args:
        schema: the schema of the tool's parameters.
        ways: the ways to write a wrapper.
        notation: how the object inside may be spelled beside JSON.
    """

    __slots__ = ("_around", "_found", "_machines", "_object", "_parts", "_read", "_schema", "_ways")

    def __init__(self, schema: Mapping[str, Any], ways: Iterable[Around], notation: Notation | None = None) -> None:
        self._schema = schema
        self._ways = tuple(ways)
        # Those that may read the object inside, the last of them now.
        self._machines: list[JsonMachine | LiteralMachine] = [JsonMachine()]
        if notation is not None:
            self._machines.append(LiteralMachine(notation))
        self._around: Around | None = None
        # How far the object inside is from the beginning, and how much of it was read.
        self._object = self._read = 0
        self._parts: list[str] = []
        self._found: tuple[str, int] | None = None

    def find(self, text: str, pos: int, end: int) -> tuple[str, int] | Literal["none"] | None:
        """Look at `text[pos:end]`, where a wrapper may begin; the position is the same each time.

        Returns:
            the arguments inside, and the index of the last literal after them; None: more text is needed.
        """
        if self._found is not None:
            return self._found[0], pos + self._found[1]
        if self._around is None:
            places = [(way, _after(way.before, text, pos, end)) for way in self._ways]
            self._around, at = next(((way, at) for way, at in places if at is not None and at >= 0), (None, None))
            if self._around is None or at is None:
                return None if any(at is None for _, at in places) else "none"
            self._object = at - pos
        at = after_whitespace(text, pos + self._object, end)
        if at == end or text[at] != "{":
            return None if at == end else "none"
        machine = self._machines[-1]
        before = -1
        while before < self._read and not (machine.bad or machine.done):
            before = self._read
            after, fragment = machine.feed(text, at + before, end)
            self._parts.append(fragment)
            self._read = after - at
        if machine.bad and len(self._machines) > 1:
            self._machines.pop()
            self._parts, self._read = [], 0
            return self.find(text, pos, end)
        if machine.bad or not machine.done:
            return "none" if machine.bad or self._read > _MAX_HELD else None
        *closers, last = self._around.after
        inner, after_all = members_of("".join(self._parts), self._schema), _after(closers, text, at + self._read, end)
        if inner is None or after_all is None or after_all < 0:
            return None if inner is not None and after_all is None else "none"
        place = after_whitespace(text, after_all, end)
        found = stands_at(last, text, place, end, final=False)
        if not found:
            return None if found is None else "none"
        self._found = inner, place - pos
        return inner, place


def _after(literals: Iterable[str], text: str, pos: int, end: int) -> int | None:
    """The index after literals with whitespace between them; -1: they do not stand here; None: more text decides."""
    for literal in literals:
        pos = after_whitespace(text, pos, end)
        found = stands_at(literal, text, pos, end, final=False)
        if not found:
            return None if found is None else -1
        pos += len(literal)
    return pos
