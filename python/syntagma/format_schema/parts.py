"""The parts of a format: how reasoning, the answer, calls and headers of messages are written.

The fields are the keys of a format file, which `docs/reference/format-file.md` describes; there are no others. Their
types are checked by `validation`, for files and for values built in Python alike.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from syntagma.format_schema.envelope import Envelope
from syntagma.format_schema.pattern import Literal as PatternLiteral
from syntagma.format_schema.pattern import Pattern

__all__ = [
    "ContentSpec",
    "MessagesSpec",
    "Notation",
    "Part",
    "PromptSpec",
    "ReasoningSpec",
    "ReasoningState",
    "ToolsSpec",
    "TypeMeaning",
]

ReasoningState: TypeAlias = Literal["closed", "open", "off"]
TypeMeaning: TypeAlias = Literal["string", "json", "number", "integer", "boolean", "null", "array", "object"]


class Notation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How literal values are spelled. The default is JSON.

    Attributes:
        quotes: delimiters of strings; the first is written. With a delimiter of one character, strings have backslash
            escapes; with a longer one, none.
        bare_keys: whether keys of objects have no quotes.
        true: spellings of true; the first is written.
        false: spellings of false.
        null: spellings of null.
        member_separator: a comma with the whitespace that is written around it; None: a space after it, or nothing if
            keys are bare.
        key_separator: the colon after a key, likewise.
        any_order: whether the grammar lets keys of objects come in any order, as where a model sorts them.
    """

    quotes: tuple[str, ...] = ('"',)
    bare_keys: bool = False
    true: tuple[str, ...] = ("true",)
    false: tuple[str, ...] = ("false",)
    null: tuple[str, ...] = ("null",)
    member_separator: str | None = None
    key_separator: str | None = None
    any_order: bool = False

    @property
    def is_json(self) -> bool:
        """Whether it is exactly JSON, with any whitespace."""
        words = (self.true, self.false, self.null)
        return not self.bare_keys and self.quotes == ('"',) and words == (("true",), ("false",), ("null",))

    @property
    def separators(self) -> tuple[str, str]:
        """The texts that are written between members and after a key."""
        space = "" if self.bare_keys else " "
        between, after = self.member_separator, self.key_separator
        return "," + space if between is None else between, ":" + space if after is None else after

    @property
    def writes_json(self) -> bool:
        """Whether literals are written as JSON; other spellings may still be read."""
        first = (self.quotes[0], self.bare_keys, self.true[0], self.false[0], self.null[0])
        return first == ('"', False, "true", "false", "null")


class ReasoningSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How reasoning is written."""

    block: tuple[Pattern, ...]
    """patterns with `{reasoning}`; all are read, the first is written; without an opener, a block begins the output"""
    start: ReasoningState = "closed"
    """the state before the first character, unless the caller or the prompt determines it"""
    switch: dict[str, dict[str, str]] = {}
    """template variable → its value as JSON text → a state, or the opener that the prompt then holds"""
    interrupt: tuple[str, ...] | None = None
    """markers that end open reasoning without its closer; None: the openers of the calls"""
    repeat: bool = False
    """whether further blocks are reasoning too"""
    join: str = ""
    """the text that is put between the texts of two blocks"""
    to: Literal["reasoning", "content"] = "reasoning"


class ContentSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the answer is written."""

    block: tuple[Pattern, ...] = ()
    """patterns with `{content}`"""
    before_calls: tuple[Pattern, ...] = ()
    """the same for an answer before calls, if it is written differently; `{content}` alone: without a wrapper"""
    when: Literal["always", "reasoning"] = "always"
    """when the wrapper is written: always, or only in a turn that has reasoning"""
    drop: tuple[str, ...] = ()
    """texts that are removed from content"""

    @property
    def wrappers(self) -> tuple[Pattern, ...]:
        """All wrappers of an answer."""
        return (*self.block, *(one for one in self.before_calls if one.opener.strip() or one.closer.strip()))


class ToolsSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How calls are written."""

    section: tuple[Pattern, ...] = (Pattern("{calls}"),)
    """patterns with `{calls}`: the text around a group of calls"""
    separator: str = ""
    """the text between calls"""
    call: tuple[Pattern, ...]
    """patterns of one call"""
    envelope: tuple[Envelope, ...] = ()
    """the alternatives for `{envelope}`"""
    id: tuple[Pattern, ...] = ()
    """patterns of an id; empty: any `[A-Za-z0-9_-]+`"""
    numbers: Literal["turn", "conversation"] = "turn"
    """what `{index}` and `{ordinal}` count: the calls of the turn, or also those before it"""
    argument: tuple[Pattern, ...] = ()
    """patterns of one argument, with `{key}` and `{value}`; empty: arguments are one literal object"""
    argument_separator: str = ""
    """the text between arguments"""
    values: Literal["text", "json", "literal"] = "text"
    """`text`: values are text, typed by the schema; `json`: likewise, but JSON without a schema; `literal`: literals"""
    types: dict[str, TypeMeaning] = {}
    """word in `{type}` → its meaning: text, any JSON, or one type of JSON; `*` is any other word"""
    item: str | None = None
    """the key of an array's elements, if values nest as elements; None: they do not"""
    escape: frozenset[Literal["attributes", "values"]] = frozenset()
    """where XML escapes are written"""
    literals: Notation = Notation()
    """how literals are spelled"""
    also: tuple[ToolsSpec, ...] = ()
    """further forms, which are read but never written, and have no further forms themselves"""

    @property
    def element(self) -> tuple[str, str, str, str] | None:
        """The four literals around key, value and key, if an argument is an element named after its key; else None."""
        pattern = self.argument[0] if self.argument else None
        if pattern is None or pattern.placeholders != ("key", "value", "key"):
            return None
        texts = [item.text for item in pattern.items if isinstance(item, PatternLiteral)]
        if len(texts) != 4 or not all(text.strip() for text in texts):
            return None
        return texts[0], texts[1], texts[2], texts[3]

    def type_words(self, kind: str) -> tuple[str, ...]:
        """The words of `types` for a value of a JSON type; the first is written.

        A word for exactly this type comes before one for any JSON. An integer is also a number.
        """
        meanings = {"string": ("string",), "integer": ("integer", "number"), "number": ("number", "integer")}
        by_meaning: dict[str, str] = {}
        for word, meaning in self.types.items():
            if word != "*":
                by_meaning.setdefault(meaning, word)
        found = [by_meaning[one] for one in meanings.get(kind, (kind,)) if one in by_meaning]
        if not found and kind != "string" and "json" in by_meaning:
            found = [by_meaning["json"]]
        if not found and self.types.get("*") == ("string" if kind == "string" else "json"):
            found = [kind]
        return tuple(found)

    @property
    def forms(self) -> tuple[ToolsSpec, ...]:
        """The form itself and the further ones, in the order in which they are tried."""
        return (self, *self.also)

    @property
    def placed_forms(self) -> tuple[tuple[str, ToolsSpec], ...]:
        """`forms`, each with its JSON pointer in the format."""
        return (("/tools", self), *((f"/tools/also/{index}", form) for index, form in enumerate(self.also)))


class MessagesSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Headers of messages, for turns that are a sequence of messages."""

    start: tuple[str, ...] = ()
    """openers of a message, each a marker and the writer's role; that of the first message is part of the prompt"""
    fields: tuple[str, ...]
    """prefixes of the header's fields, the most decisive first; a marker, or a space and a word with its sign"""
    body: str
    """the marker that ends the header"""
    end: tuple[str, ...] = ()
    """texts that end a message; after the first a further message may follow, after the others the turn may be over"""
    default: tuple[str, ...] = ()
    """fields, each with its value, that are assumed if a sound header lacks them"""
    otherwise: Literal["content", "reasoning"] = "content"
    """the kind of a message whose header fits no example, or had to be guessed"""
    recover: bool = False
    """whether a header that is whole but for its beginning leads where it says"""


class PromptSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a prompt of the model shows tools and their results between markers.

    Prompts are rendered by chat templates, never by a format: this part identifies the format that a template is for.
    """

    tool_list: str
    """pattern with `{tools}`: the text around the list of declared tools"""
    tool: str = "{tool}"
    """pattern of one tool as JSON: `{tool}`, all of it, or `{function}`, the value of its key `function`"""
    separator: str = ""
    """the text between tools"""
    result: tuple[str, ...] = ()
    """patterns with `{result}`: the text around a tool's result; `{id}` and `{name}` are those of the call"""


Part: TypeAlias = ReasoningSpec | ContentSpec | ToolsSpec | MessagesSpec | PromptSpec | Notation
"""A part of a format, whose fields `validation` checks."""
