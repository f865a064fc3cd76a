"""`StyleSpec`: how structural tags write the members of an object that are not JSON, under one name."""

from __future__ import annotations

from typing import Literal

import msgspec

from syntagma.format_schema.pattern import Pattern

__all__ = ["StyleSpec"]


class StyleSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A style. In its patterns a line break stands for any whitespace or none."""

    argument: Pattern
    """one member: `{key}`, `{value}` and, with `types`, `{type}`"""
    item: Pattern | None = None
    """one item of an array, if objects and arrays nest as such elements; None: they are JSON"""
    types: dict[str, str] = {}
    """word in `{type}` → its meaning: a type of JSON, or `json` for every type without a word of its own"""
    spaced: bool = True
    """whether whitespace may stand beside values that are neither free text nor nested"""
    escape: frozenset[Literal["attributes"]] = frozenset()
    """whether keys have XML escapes"""

    def words(self, kind: str) -> tuple[str, ...]:
        """The word in `{type}` for a value of a JSON type, an empty one without `types`; none: it cannot be written."""
        if not self.types:
            return ("",)
        exact = [word for word, meaning in self.types.items() if meaning == kind]
        return tuple(exact or [word for word, meaning in self.types.items() if meaning == "json"])[:1]
