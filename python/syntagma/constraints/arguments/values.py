"""What the ways to write arguments share: their interface, the keys and values of a schema, and its references."""

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
"""types whose values are written as JSON, where a string is written as it is"""
STRUCTURES = ALSO_JSON[:2]
"""types whose values stand in brackets"""
MAX_REFERENCES = 16
"""`$ref`s that are followed one after another"""


class ArgumentsGrammar(Protocol):
    """The grammars of `{arguments}` in one form of calls."""

    @property
    def any_differs(self) -> bool:
        """Whether `anything` depends on the schema."""
        ...

    def anything(self, schema: Mapping[str, Any] | None) -> Grammar:
        """Any arguments; a schema, if there is one, says only which keys there are and what is text."""
        ...

    def by_schema(self, schema: Mapping[str, Any], *, strict: bool, pointer: str) -> Grammar:
        """Declared keys in their order, the required ones once, each value by its schema.

        Args:
            schema: of the whole arguments.
            strict: refuse what can only be approximated.
            pointer: where the schema stands in the request.

        Raises:
            FormatError: `E-FORMAT-UNSUPPORTED`, a required key cannot be written.
            UnsupportedSchema: a value's schema is refused; the pointer says where.
        """
        ...

    def of_text(self, key: str, text: Grammar) -> Grammar:
        """One argument, which is a text of a grammar.

        What ends a value in the format ends it in such a text, too, where that is not escaped; of a regular grammar,
        texts that hold it are left out.

        Raises:
            FormatError: `E-FORMAT-UNSUPPORTED`, the key cannot be written.
            GrammarError: the grammar demands a token, which has no spelling inside a string.
        """
        ...


class ArgumentEnds(NamedTuple):
    """What ends arguments that are written one by one.

    Attributes:
        values: the texts that end a value; see `syntagma.format_schema.value_ends`.
        closer: what ends the arguments; empty: nothing does.
    """

    values: tuple[str, ...]
    closer: str


TextEdges: TypeAlias = Literal["free", "optional", "shown"]
"""Whitespace that a format shows beside a value that is text: `free`: it is like any other text of the value;
`optional`: it may be missing, which changes nothing; `shown`: without it the value would be read as another one."""


class Value(NamedTuple):
    """The grammars of one value, by how it is written."""

    text: Grammar | None
    """as text; None: it cannot be a string"""
    text_edges: TextEdges
    """the whitespace beside the text"""
    json: Sequence[tuple[str, Grammar]]
    """as JSON or as a literal, each with its type in JSON"""


class ValueGrammars(Protocol):
    """The grammars of keys and values in one form of calls."""

    def any_value(self, schema: Any, root: Mapping[str, Any] | None) -> Value:
        """Any value of a key; `schema` says only whether it may be text. No `root`: the key is not declared."""
        ...

    def by_schema(self, schema: Any, root: Mapping[str, Any], *, strict: bool, pointer: str) -> Value:
        """A value by its schema, which is a part of `root`."""
        ...

    def of_text(self, text: Grammar) -> Value:
        """A string that is a text of a grammar."""
        ...

    def any_key(self, declared: Iterable[str]) -> Grammar:
        """A key that can be read back and is not declared."""
        ...

    def can_be_key(self, key: str) -> bool:
        """Whether a key can be read back."""
        ...


def json_type(schema: Any) -> str:
    """The name of the one JSON type that a schema allows."""
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
    """What a schema refers to, if it is a reference that leads somewhere; else itself."""
    for _ in range(MAX_REFERENCES):
        try:
            schema = referred(schema.get("$ref") if isinstance(schema, Mapping) else None, root)
        except LookupError:
            break
    return schema


def with_definitions(schema: Any, root: Mapping[str, Any]) -> Any:
    """A part of a schema, with the definitions of the whole that it may refer to."""
    if not isinstance(schema, Mapping):
        return schema
    return {**{key: root[key] for key in ("$defs", "definitions") if key in root}, **schema}


def is_spaced(tools: ToolsSpec) -> bool:
    """Whether whitespace around arguments is a matter of spelling, and does not end or belong to a value."""
    separated = tools.values == "literal" and bool(tools.argument_separator.strip())
    return not is_open(tools) or (separated and not tools.argument[0].closer.strip())


def unsupported(what: str, pointer: str | None = None, hint: str | None = None) -> FormatError:
    """The error of what has no strict reading; the pointer is that of a key of the format, if that is the reason."""
    return FormatError("E-FORMAT-UNSUPPORTED", f"{what} cannot be enforced by a grammar", hint=hint, pointer=pointer)
