"""Patterns: text with placeholders. `{word}` is one only if the word is in `PLACEHOLDERS`; other text is literal."""

from __future__ import annotations

import re
from typing import Any, NoReturn, TypeAlias

import msgspec

__all__ = ["PLACEHOLDERS", "Item", "Literal", "Pattern", "Placeholder", "Spelled", "leading", "trailing"]

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
)
"""the words that are placeholders between braces"""

_PLACEHOLDER = re.compile("\\{(" + "|".join(PLACEHOLDERS) + ")\\}")


class Literal(msgspec.Struct, frozen=True, tag=True):
    """Text that is read and written unchanged, with its whitespace."""

    text: str


class Placeholder(msgspec.Struct, frozen=True, tag=True):
    """A place to fill; `name` is one of `PLACEHOLDERS`."""

    name: str


Item: TypeAlias = Literal | Placeholder


class Spelled:
    """An immutable value that a format file writes as one string; values of equal strings are equal.

    Attributes:
        text: the text.
    """

    __slots__ = ("text",)

    text: str

    def __init__(self, text: str) -> None:
        object.__setattr__(self, "text", text)

    def __setattr__(self, name: str, _value: Any) -> NoReturn:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be changed")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Spelled) and other.text == self.text

    def __hash__(self) -> int:
        return hash((type(self), self.text))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.text!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.text,)


class Pattern(Spelled):
    """A pattern: its text, and its items.

    Attributes:
        items: literals and placeholders in their order; no two literals follow each other.
        placeholders: names of the placeholders in their order.
        opener: the literal before the first placeholder; empty if the pattern begins with a placeholder.
        closer: the literal after the last placeholder; empty if the pattern ends with a placeholder or has none.
    """

    __slots__ = ("closer", "items", "opener", "placeholders")

    closer: str
    items: tuple[Item, ...]
    opener: str
    placeholders: tuple[str, ...]

    def __init__(self, text: str) -> None:
        super().__init__(text)
        items = _split(text)
        object.__setattr__(self, "items", items)
        object.__setattr__(self, "placeholders", tuple(one.name for one in items if isinstance(one, Placeholder)))
        object.__setattr__(self, "opener", _text(items[0]) if items else "")
        object.__setattr__(self, "closer", _text(items[-1]) if len(items) > 1 else "")

    def around(self, placeholder: str) -> tuple[str, str]:
        """The literals directly before and after the first placeholder of that name; empty if there is none."""
        if placeholder not in self.placeholders:
            return "", ""
        at = next(i for i, item in enumerate(self.items) if isinstance(item, Placeholder) and item.name == placeholder)
        before, after = self.items[max(at - 1, 0)], self.items[min(at + 1, len(self.items) - 1)]
        return _text(before), _text(after)


def _text(item: Item) -> str:
    """The text of a literal; empty for a placeholder."""
    return item.text if isinstance(item, Literal) else ""


def leading(text: str) -> str:
    """The whitespace at the beginning of a text."""
    return text[: len(text) - len(text.lstrip())]


def trailing(text: str) -> str:
    """The whitespace at the end of a text."""
    return text[len(text.rstrip()) :]


def _split(text: str) -> tuple[Item, ...]:
    items: list[Item] = []
    end = 0
    for match in _PLACEHOLDER.finditer(text):
        if match.start() > end:
            items.append(Literal(text[end : match.start()]))
        items.append(Placeholder(match[1]))
        end = match.end()
    if end < len(text):
        items.append(Literal(text[end:]))
    return tuple(items)
