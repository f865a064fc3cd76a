"""What a chat format may say. Closed: a key that is not here does not exist.

A format is three examples with placeholders: how reasoning, content and a call are written. The same examples are read
leniently by `syntagma.parsing` and strictly by `syntagma.constraints`. `docs/reference/format-file.md` describes every
key.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from syntagma.format_schema.envelope import Envelope
from syntagma.format_schema.pattern import Literal as PatternLiteral
from syntagma.format_schema.pattern import Pattern

__all__ = [
    "ContentSpec",
    "FormatSpec",
    "MessagesSpec",
    "Notation",
    "ReasoningSpec",
    "ReasoningState",
    "ToolsSpec",
]

ReasoningState: TypeAlias = Literal["closed", "open", "off"]


class Notation(msgspec.Struct, frozen=True, kw_only=True):
    """How literal values are spelled. The default is JSON.

    `quotes`: string delimiters, the first is written; one character: backslash escapes, longer: none.
    `true`, `false`, `null`: spellings, the first is written. `bare_keys`: keys of objects stand without quotes.
    """

    quotes: tuple[str, ...] = ('"',)
    bare_keys: bool = False
    true: tuple[str, ...] = ("true",)
    false: tuple[str, ...] = ("false",)
    null: tuple[str, ...] = ("null",)

    @property
    def is_json(self) -> bool:
        """Whether it is exactly JSON."""
        return self == Notation()

    @property
    def writes_json(self) -> bool:
        """Whether what is written is JSON, whatever else is read."""
        first = (self.quotes[0], self.bare_keys, self.true[0], self.false[0], self.null[0])
        return first == ('"', False, "true", "false", "null")


class ReasoningSpec(msgspec.Struct, frozen=True, kw_only=True):
    """How thoughts are written."""

    block: tuple[Pattern, ...]
    """patterns with `{reasoning}`; all are read, the first is written; one without opener starts at once"""
    start: ReasoningState = "closed"
    """state before the first character if neither the caller nor the prompt says"""
    switch: dict[str, dict[str, str]] = {}
    """template variable → its value as JSON text → a state, or the opener that the prompt then holds"""
    interrupt: tuple[str, ...] = ()
    """markers that end open reasoning without its closer"""
    repeat: bool = False
    """further blocks are reasoning too"""
    to: Literal["reasoning", "content"] = "reasoning"


class ContentSpec(msgspec.Struct, frozen=True, kw_only=True):
    """How the answer is wrapped."""

    block: tuple[Pattern, ...] = ()
    """patterns with `{content}`"""
    when: Literal["always", "reasoning"] = "always"
    """the wrapper is written always, or only in a turn that has reasoning"""
    drop: tuple[str, ...] = ()
    """sentinels removed from content"""


class ToolsSpec(msgspec.Struct, frozen=True, kw_only=True):
    """How calls are written."""

    section: tuple[Pattern, ...] = (Pattern.of("{calls}"),)
    """what surrounds a group of calls"""
    separator: str = ""
    """between calls"""
    call: tuple[Pattern, ...]
    """one call"""
    envelope: tuple[Envelope, ...] = ()
    """what `{envelope}` stands for"""
    id: tuple[Pattern, ...] = ()
    """inner shape of `{id}`; empty: any `[A-Za-z0-9_-]+`"""
    argument: tuple[Pattern, ...] = ()
    """one argument, with `{key}` and `{value}`; empty: arguments are one literal object"""
    argument_separator: str = ""
    values: Literal["text", "json", "literal"] = "text"
    types: dict[str, Literal["string", "json"]] = {}
    item: str | None = None
    escape: frozenset[Literal["attributes", "values"]] = frozenset()
    literals: Notation = Notation()
    also: tuple[ToolsSpec, ...] = ()
    """further forms, read but never written"""

    @property
    def element(self) -> tuple[str, str, str, str] | None:
        """The literals around key, value and key, where an argument is an element that is named after its key."""
        pattern = self.argument[0] if self.argument else None
        if pattern is None or pattern.placeholders != ("key", "value", "key"):
            return None
        texts = [item.text for item in pattern.items if isinstance(item, PatternLiteral)]
        if len(texts) != 4 or not all(text.strip() for text in texts):
            return None
        return texts[0], texts[1], texts[2], texts[3]

    @property
    def forms(self) -> tuple[ToolsSpec, ...]:
        """The form itself and the further ones, in the order in which they are tried."""
        return (self, *self.also)


class MessagesSpec(msgspec.Struct, frozen=True, kw_only=True):
    """Headers of the messages that a turn is a sequence of."""

    start: tuple[str, ...] = ()
    """openers of a message, a marker and the writer's role; the prompt holds that of the first message"""
    fields: tuple[str, ...]
    """prefixes of the header's fields, the most decisive first; a marker, or a blank and a word with its sign"""
    body: str
    """ends the header"""
    end: tuple[str, ...] = ()
    """each ends any message; behind the first a further message may come, behind the others the turn may stop"""
    otherwise: Literal["content", "reasoning"] = "content"
    """where a message goes whose header leads nowhere, or had to be guessed"""


class FormatSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A whole format."""

    aliases: tuple[str, ...] = ()
    anchor: str | None = None
    """where the assistant's turn begins in a prompt; what follows its last occurrence is read before the output"""
    end_of_turn: tuple[str, ...] = ()
    """the atoms that end the turn, in order; the reader takes any leading part of them off the end of the output"""
    reasoning: ReasoningSpec | None = None
    content: ContentSpec | None = None
    tools: ToolsSpec | None = None
    messages: MessagesSpec | None = None
