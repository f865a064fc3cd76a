"""Patterns: text with placeholders. `{word}` is one only if the word is in `PLACEHOLDERS`; other text is literal."""

from __future__ import annotations

import re
from typing import TypeAlias

import msgspec

__all__ = ["PLACEHOLDERS", "Item", "Literal", "Pattern", "Placeholder"]

PLACEHOLDERS = (
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
"""every word that is a placeholder between braces"""

_PLACEHOLDER = re.compile("\\{(" + "|".join(PLACEHOLDERS) + ")\\}")


class Literal(msgspec.Struct, frozen=True, tag=True):
    """Text that stands as it is, blanks included."""

    text: str


class Placeholder(msgspec.Struct, frozen=True, tag=True):
    """A place to fill; `name` is one of `PLACEHOLDERS`."""

    name: str


Item: TypeAlias = Literal | Placeholder


class Pattern(msgspec.Struct, frozen=True):
    """A pattern: its text, and the same as items (adjacent literals are one)."""

    text: str
    items: tuple[Item, ...]

    @classmethod
    def of(cls, text: str) -> Pattern:
        """Split `text` at its placeholders."""
        items: list[Item] = []
        end = 0
        for match in _PLACEHOLDER.finditer(text):
            if match.start() > end:
                items.append(Literal(text[end : match.start()]))
            items.append(Placeholder(match[1]))
            end = match.end()
        if end < len(text):
            items.append(Literal(text[end:]))
        return cls(text, tuple(items))

    @property
    def placeholders(self) -> tuple[str, ...]:
        """Names of the placeholders in their order."""
        return tuple(item.name for item in self.items if isinstance(item, Placeholder))

    @property
    def written(self) -> Pattern:
        """The same where every `{suffix}` is empty: its markers are whole then."""
        return Pattern.of(self.text.replace("{suffix}", "")) if "{suffix}" in self.text else self

    @property
    def opener(self) -> str:
        """The literal before the first placeholder; empty if the pattern begins with a placeholder."""
        first = self.items[0] if self.items else None
        return first.text if isinstance(first, Literal) else ""

    @property
    def closer(self) -> str:
        """The literal behind the last placeholder; empty if the pattern ends with a placeholder or has none."""
        last = self.items[-1] if len(self.items) > 1 else None
        return last.text if isinstance(last, Literal) else ""

    def around(self, placeholder: str) -> tuple[str, str]:
        """The literals directly before and behind the first placeholder of that name (empty where there is none)."""
        at = next(i for i, item in enumerate(self.items) if isinstance(item, Placeholder) and item.name == placeholder)
        before = self.items[at - 1] if at else None
        behind = self.items[at + 1] if at + 1 < len(self.items) else None
        return (
            before.text if isinstance(before, Literal) else "",
            behind.text if isinstance(behind, Literal) else "",
        )
