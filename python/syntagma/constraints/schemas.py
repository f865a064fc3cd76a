"""JSON of a request as grammars, with errors that point into the request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from syntagma.format_schema import Notation
from syntagma.grammars import Grammar, ValueNotation
from syntagma.grammars.pointer_prefix import with_pointer_prefix
from syntagma.limits import Limits
from syntagma.messages import Tool
from syntagma.request import ResponseFormat

__all__ = [
    "ValueWriter",
    "arguments_schema",
    "model_limits",
    "schema_grammar",
    "shaped_answer",
    "value_notation",
]

_MAX_WHITESPACE = 8
"""whitespace characters in a row"""


def model_limits(limits: Limits) -> Limits:
    """The limits for JSON that a model writes: at most eight whitespace characters in a row.

    Models that must write JSON may fall into endless whitespace, the one thing that the grammar lets them repeat. A
    document that fits its token limit must not be lost to it.
    """
    return msgspec.structs.replace(limits, json_whitespace=min(limits.json_whitespace, _MAX_WHITESPACE))


def arguments_schema(tool: Tool) -> dict[str, Any]:
    """The schema of a tool's arguments: its parameters, said to be an object. No parameters: the empty object."""
    if tool.parameters is None:
        return {"type": "object", "properties": {}, "additionalProperties": False}
    kind = tool.parameters.get("type", "object")
    only_object = isinstance(kind, list) and "object" in kind
    return {**tool.parameters, "type": "object"} if only_object or kind == "object" else dict(tool.parameters)


def value_notation(notation: Notation) -> ValueNotation | None:
    """What is written in a format's notation: its first spellings; None: JSON."""
    if notation.writes_json:
        return None
    return ValueNotation(
        quote=notation.quotes[0],
        bare_keys=notation.bare_keys,
        true=notation.true[0],
        false=notation.false[0],
        null=notation.null[0],
    )


class ValueWriter:
    """Writes values as JSON, or as literals of a format's notation.

    Args:
        notation: the format's.
        limits: bounds on schemas.
    """

    def __init__(self, notation: Notation, limits: Limits) -> None:
        self.notation = notation
        self._spelling = value_notation(notation)
        self._limits = limits

    def write(self, schema: Mapping[str, Any] | bool, *, strict: bool, pointer: str) -> Grammar:
        """A value by its schema; see `schema_grammar`."""
        return schema_grammar(schema, strict=strict, pointer=pointer, limits=self._limits, notation=self._spelling)


def schema_grammar(
    schema: Mapping[str, Any] | bool,
    *,
    strict: bool,
    pointer: str,
    limits: Limits,
    notation: ValueNotation | None = None,
) -> Grammar:
    """JSON, or a literal of a notation, by a schema; with `strict`, one that can only be approximated is refused.

    Raises:
        UnsupportedSchema, LimitError: pointers begin with `pointer`, the schema's place in the request.
    """
    whole = schema if isinstance(schema, bool) else dict(schema)
    return with_pointer_prefix(
        pointer,
        lambda: Grammar.from_json_schema(whole, allow_widened=not strict, notation=notation, limits=limits),
    )


def shaped_answer(answer: ResponseFormat, limits: Limits) -> Grammar:
    """The content that a response format asks for.

    Raises:
        GrammarError, LimitError: pointers begin with the place of the schema or grammar in the request.
    """
    if answer.kind == "object":
        return Grammar.json(limits=limits)
    if answer.kind == "grammar":
        return Grammar.from_ebnf(answer.grammar, limits=limits)
    if answer.tag is not None:
        tag = answer.tag
        return with_pointer_prefix(answer.pointer, lambda: Grammar.from_structural_tag(tag, limits=limits))
    return schema_grammar(answer.schema, strict=answer.strict, pointer=answer.pointer, limits=limits)
