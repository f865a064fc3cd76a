"""Patterns: text with holes. `{word}` is a hole only if the word is in `HOLES`; everything else is literal."""

from __future__ import annotations

import re
from typing import TypeAlias

import msgspec

__all__ = ["HOLES", "Hole", "Item", "Literal", "Pattern"]

HOLES = (
    "reasoning",
    "content",
    "calls",
    "name",
    "arguments",
    "envelope",
    "key",
    "value",
    "type",
    "id",
    "index",
    "ordinal",
    "suffix",
)
"""every word that is a hole between braces"""

_HOLE = re.compile("\\{(" + "|".join(HOLES) + ")\\}")


class Literal(msgspec.Struct, frozen=True, tag=True):
    """Text that stands as it is, blanks included."""

    text: str


class Hole(msgspec.Struct, frozen=True, tag=True):
    """A place to fill; `name` is one of `HOLES`."""

    name: str


Item: TypeAlias = Literal | Hole


class Pattern(msgspec.Struct, frozen=True):
    """A pattern: its text, and the same as items (adjacent literals are one)."""

    text: str
    items: tuple[Item, ...]

    @classmethod
    def of(cls, text: str) -> Pattern:
        """Split `text` at its holes."""
        items: list[Item] = []
        end = 0
        for match in _HOLE.finditer(text):
            if match.start() > end:
                items.append(Literal(text[end : match.start()]))
            items.append(Hole(match[1]))
            end = match.end()
        if end < len(text):
            items.append(Literal(text[end:]))
        return cls(text, tuple(items))

    @property
    def holes(self) -> tuple[str, ...]:
        """Names of the holes in their order."""
        return tuple(item.name for item in self.items if isinstance(item, Hole))

    @property
    def written(self) -> Pattern:
        """The same where every `{suffix}` is empty: its markers are whole then."""
        return Pattern.of(self.text.replace("{suffix}", "")) if "{suffix}" in self.text else self

    @property
    def opener(self) -> str:
        """The literal before the first hole; empty if the pattern begins with a hole."""
        first = self.items[0] if self.items else None
        return first.text if isinstance(first, Literal) else ""

    @property
    def closer(self) -> str:
        """The literal behind the last hole; empty if the pattern ends with a hole or has none."""
        last = self.items[-1] if len(self.items) > 1 else None
        return last.text if isinstance(last, Literal) else ""

    def around(self, hole: str) -> tuple[str, str]:
        """The literals directly before and behind the first hole of that name (empty where there is none)."""
        at = next(i for i, item in enumerate(self.items) if isinstance(item, Hole) and item.name == hole)
        before = self.items[at - 1] if at else None
        behind = self.items[at + 1] if at + 1 < len(self.items) else None
        return (
            before.text if isinstance(before, Literal) else "",
            behind.text if isinstance(behind, Literal) else "",
        )
