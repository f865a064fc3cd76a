"""Schemas and grammars of a request as grammars, with errors that point into the request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from syntagma.constraints.whitespace import WHITESPACE, joined, whitespace_pattern
from syntagma.format_schema import Notation
from syntagma.grammars import Grammar, Order, ValueNotation
from syntagma.grammars.pointer_prefix import with_pointer_prefix
from syntagma.grammars.structural_tag import Styles
from syntagma.limits import Limits
from syntagma.messages import Tool, ToolInput
from syntagma.request import ResponseFormat

__all__ = [
    "ValueWriter",
    "allows_none",
    "arguments_schema",
    "schema_grammar",
    "shaped_answer",
    "spellings",
    "tool_input",
]

_SAY_NOTHING_OF_EMPTY = frozenset(
    (
        "type",
        "properties",
        "additionalProperties",
        "title",
        "description",
        "examples",
        "$defs",
        "definitions",
        "$schema",
    )
)
"""keywords that the empty object satisfies"""
_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
"""the escapes in strings of a notation"""
_NUMBERS = ("integer", "number")
"""types that every notation spells alike"""


def arguments_schema(tool: Tool) -> dict[str, Any]:
    """The schema of a tool's arguments: its parameters, with type object. Without parameters: the empty object."""
    if tool.parameters is None:
        return {"type": "object", "properties": {}, "additionalProperties": False}
    kind = tool.parameters.get("type", "object")
    only_object = isinstance(kind, list) and "object" in kind
    return {**tool.parameters, "type": "object"} if only_object or kind == "object" else dict(tool.parameters)


def allows_none(schema: Mapping[str, Any]) -> bool:
    """Whether it is evident that the empty object satisfies the schema of a tool's arguments."""
    return set(schema) <= _SAY_NOTHING_OF_EMPTY | {"required"} and not schema.get("required")


def spellings(notation: Notation, *, reads_json: bool) -> tuple[ValueNotation | None, ...]:
    """The ways to spell a value in a format's notation; the first is the format's own; None: JSON.

    A value uses one of them throughout: one of the quotes with the first words, or JSON.

    Args:
        notation: the notation of the format.
        reads_json: whether the parser also reads JSON, whatever the notation.
    """
    first = None if notation.writes_json else _spelling(notation, notation.quotes[0])
    words = ("true" in notation.true, "false" in notation.false, "null" in notation.null)
    others: list[ValueNotation | None] = []
    if first is not None:
        others += [_spelling(notation, quote) for quote in notation.quotes[1:] if len(quote) > 1 or quote in "\"'`"]
    if reads_json or ('"' in notation.quotes and all(words)):
        others.append(None)
    return tuple(dict.fromkeys((first, *others)))


def _spelling(notation: Notation, quote: str) -> ValueNotation:
    return ValueNotation(
        quote=quote,
        bare_keys=notation.bare_keys,
        true=notation.true[0],
        false=notation.false[0],
        null=notation.null[0],
    )


class ValueWriter:
    """Writes values as JSON, or as literals of a format's notation, in all spellings that the parser reads.

    Args:
        notation: the notation of the format.
        limits: bounds on schemas.
        reads_json: whether the parser also reads JSON, whatever the notation.
    """

    def __init__(self, notation: Notation, limits: Limits, *, reads_json: bool = False) -> None:
        self.notation = notation
        self._spellings = spellings(notation, reads_json=reads_json)
        self._limits = limits

    def write(self, schema: Mapping[str, Any] | bool, *, strict: bool, pointer: str) -> Grammar:
        """A value by its schema; see `schema_grammar`."""
        alike = isinstance(schema, Mapping) and schema.get("type") in _NUMBERS
        return Grammar.union(
            *(
                schema_grammar(
                    schema,
                    strict=strict,
                    pointer=pointer,
                    limits=self._limits,
                    notation=one,
                    order="any" if self.notation.any_order else "declared",
                )
                for one in self._spellings[: 1 if alike else None]
            )
        )

    def write_text(self, text: Grammar) -> Grammar:
        """A string whose text is one of a grammar, in all spellings that the parser reads."""
        return Grammar.union(*(_string(text, one) for one in self._spellings))

    def write_text_member(self, key: str, text: Grammar) -> Grammar:
        """An object with one member, whose value is such a string; `key` is of ASCII letters."""
        ways = []
        for one in self._spellings:
            quote = '"' if one is None else one.quote
            keys = [f"{quote}{key}{quote}", *([key] if one is not None and one.bare_keys else [])]
            parts = (Grammar.literal("{"), Grammar.from_choices(keys), Grammar.literal(":"), _string(text, one))
            ways.append(joined((*(part for each in parts for part in (each, WHITESPACE)), Grammar.literal("}"))))
        return Grammar.union(*ways)


def _string(text: Grammar, notation: ValueNotation | None) -> Grammar:
    """A string whose text is one of a grammar; notation None: in JSON."""
    if notation is None:
        quote, inner = '"', text.inside_json_string()
    else:
        quote = notation.quote
        inner = text.spelled({**_ESCAPES, quote: f"\\{quote}"}) if len(quote) == 1 else text
    return Grammar.concat(Grammar.literal(quote), inner, Grammar.literal(quote))


def tool_input(wanted: ToolInput, pointer: str, limits: Limits) -> Grammar:
    """The texts with which a custom tool may be called.

    Args:
        wanted: the tool's constraint on them; not `any text`.
        pointer: the pointer of the tool in the request.
        limits: bounds on the grammar's source.

    Raises:
        GrammarError, LimitError: the definition is refused; with its pointer in the request.
    """
    syntax: Literal["lark", "regex"] = "lark" if wanted.syntax == "lark" else "regex"
    return with_pointer_prefix(
        f"{pointer}{wanted.pointer}", lambda: Grammar.from_text(wanted.definition, syntax, limits=limits)
    )


def schema_grammar(
    schema: Mapping[str, Any] | bool,
    *,
    strict: bool,
    pointer: str,
    limits: Limits,
    notation: ValueNotation | None = None,
    order: Order = "declared",
) -> Grammar:
    """JSON, or a literal of a notation, by a schema; `strict`: a schema that can only be approximated is refused.

    Raises:
        UnsupportedSchema, LimitError: the schema is refused; `pointer` is its pointer in the request.
    """
    whole = schema if isinstance(schema, bool) else dict(schema)
    return with_pointer_prefix(
        pointer,
        lambda: Grammar.from_json_schema(
            whole,
            allow_widened=not strict,
            whitespace_pattern=whitespace_pattern(limits.json_whitespace),
            notation=notation,
            order=order,
            limits=limits,
        ),
    )


def shaped_answer(answer: ResponseFormat, limits: Limits, styles: Styles[Grammar] | None) -> Grammar:
    """The content by a response format.

    Raises:
        GrammarError, LimitError: the schema or grammar is refused; with its pointer in the request.
    """
    if answer.kind == "object":
        return schema_grammar({"type": "object"}, strict=False, pointer="", limits=limits)
    if answer.kind == "grammar":
        return with_pointer_prefix(
            answer.pointer,
            lambda: Grammar.from_text(answer.grammar, answer.syntax, start=answer.start, styles=styles, limits=limits),
        )
    if answer.kind == "choice":
        return Grammar.from_choices(answer.choices)
    if answer.tag is not None:
        tag = answer.tag
        return with_pointer_prefix(
            answer.pointer, lambda: Grammar.from_structural_tag(tag, styles=styles, limits=limits)
        )
    return schema_grammar(answer.schema, strict=answer.strict, pointer=answer.pointer, limits=limits)
