"""What the grammars of arguments share: interfaces, the keys and values of a schema, and its references."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from syntagma.errors import FormatError
from syntagma.format_schema import ToolsSpec, is_open
from syntagma.grammars import Grammar
from syntagma.json_pointer import referred

__all__ = [
    "ALSO_JSON",
    "MAX_REFERENCES",
    "STRUCTURES",
    "ArgumentEnds",
    "ArgumentsGrammar",
    "TextEdges",
    "Value",
    "ValueGrammars",
    "is_spaced",
    "json_type",
    "properties_of",
    "required_of",
    "resolved",
    "unsupported",
    "with_definitions",
]

ALSO_JSON = ("object", "array", "number", "boolean", "null")
"""types whose values are written as JSON when strings are raw text"""
STRUCTURES = ALSO_JSON[:2]
"""types whose values stand in brackets"""
MAX_REFERENCES = 16
"""the most `$ref`s that are followed in a chain"""


class ArgumentsGrammar(Protocol):
    """The grammars of `{arguments}` in one form of calls."""

    @property
    def any_differs(self) -> bool:
        """Whether `anything` depends on the schema."""
        ...

    def anything(self, schema: Mapping[str, Any] | None) -> Grammar:
        """Any arguments; a schema, if given, only decides which keys there are and which values are text."""
        ...

    def by_schema(self, schema: Mapping[str, Any], *, strict: bool, pointer: str) -> Grammar:
        """Arguments by a schema: declared keys in order, required ones exactly once, each value by its schema.

        Args:
            schema: the schema of the arguments.
            strict: whether to refuse a schema that can only be approximated.
            pointer: the pointer of the schema in the request.

        Raises:
            FormatError: `E-FORMAT-UNSUPPORTED`, a required key cannot be written.
            UnsupportedSchema: a value's schema is refused; with its pointer.
        """
        ...

    def of_text(self, key: str, text: Grammar) -> Grammar:
        """One argument, whose value is a text of a grammar.

        Unless it is escaped, the end of a value also ends such a text; if the grammar is regular, texts that contain it
        are left out.

        Raises:
            FormatError: `E-FORMAT-UNSUPPORTED`, the key cannot be written.
            GrammarError: the grammar requires a token, which has no spelling inside a string.
        """
        ...


class ArgumentEnds(NamedTuple):
    """The texts that end separate arguments.

    Attributes:
        values: the texts that end a value; see `syntagma.format_schema.value_ends`.
        closer: the text that ends the arguments; empty: there is none.
    """

    values: tuple[str, ...]
    closer: str


TextEdges: TypeAlias = Literal["free", "optional", "shown"]
"""Whitespace that a format shows beside a value that is text. `free`: it is like any other text of the value;
`optional`: it may be left out; `shown`: it must be written, or another value would be read."""


class Value(NamedTuple):
    """The grammars of one value, as text and as JSON."""

    text: Grammar | None
    """as text; None: it cannot be a string"""
    text_edges: TextEdges
    """the whitespace beside the text"""
    json: Sequence[tuple[str, Grammar]]
    """as JSON or as a literal, each with its type in JSON"""


class ValueGrammars(Protocol):
    """The grammars of keys and values in one form of calls."""

    def any_value(self, schema: Any, root: Mapping[str, Any] | None) -> Value:
        """Any value of a key; `schema` only decides whether it may be text. No `root`: the key is not declared."""
        ...

    def by_schema(self, schema: Any, root: Mapping[str, Any], *, strict: bool, pointer: str) -> Value:
        """A value by its schema, which is a part of `root`."""
        ...

    def of_text(self, text: Grammar) -> Value:
        """A string whose text is one of a grammar."""
        ...

    def any_key(self, declared: Iterable[str]) -> Grammar:
        """An undeclared key that can be read back."""
        ...

    def can_be_key(self, key: str) -> bool:
        """Whether a key can be read back."""
        ...


def json_type(schema: Any) -> str:
    """The name of the JSON type of a schema that allows one type only."""
    if isinstance(schema, Mapping) and isinstance(schema.get("type"), str):
        return "number" if schema["type"] == "integer" else str(schema["type"])
    return "object"


def properties_of(schema: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The schemas of the members that an object declares."""
    found = schema.get("properties") if schema is not None else None
    return found if isinstance(found, Mapping) else {}


def required_of(schema: Mapping[str, Any]) -> list[str]:
    """The keys that an object requires."""
    return [key for key in schema.get("required", ()) if isinstance(key, str)]


def resolved(schema: Any, root: Mapping[str, Any]) -> Any:
    """The target of a schema that is a valid reference; else the schema itself."""
    for _ in range(MAX_REFERENCES):
        try:
            schema = referred(schema.get("$ref") if isinstance(schema, Mapping) else None, root)
        except LookupError:
            break
    return schema


def with_definitions(schema: Any, root: Mapping[str, Any]) -> Any:
    """A part of a schema, with the definitions of the whole schema, to which it may refer."""
    if not isinstance(schema, Mapping):
        return schema
    return {**{key: root[key] for key in ("$defs", "definitions") if key in root}, **schema}


def is_spaced(tools: ToolsSpec) -> bool:
    """Whether whitespace around arguments is optional, and neither ends a value nor belongs to it."""
    separated = tools.values == "literal" and bool(tools.argument_separator.strip())
    return not is_open(tools) or (separated and not tools.argument[0].closer.strip())


def unsupported(what: str, pointer: str | None = None, hint: str | None = None) -> FormatError:
    """The error for something without a strict reading; `pointer`: the key of the format that is the reason, if any."""
    return FormatError("E-FORMAT-UNSUPPORTED", f"{what} cannot be enforced by a grammar", hint=hint, pointer=pointer)
