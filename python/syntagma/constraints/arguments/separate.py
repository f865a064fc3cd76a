"""Grammars of separate arguments, each with its key and its value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from syntagma.constraints.arguments.literal_values import LiteralValues
from syntagma.constraints.arguments.text_values import TextValues
from syntagma.constraints.arguments.values import (
    ArgumentEnds,
    TextEdges,
    Value,
    ValueGrammars,
    is_spaced,
    properties_of,
    required_of,
    unsupported,
)
from syntagma.constraints.literals import literal, structure
from syntagma.constraints.whitespace import SOME_WHITESPACE, WHITESPACE, joined
from syntagma.format_schema import Literal as LiteralItem
from syntagma.format_schema import Markers, Pattern, Placeholder, ToolsSpec, leading, trailing
from syntagma.format_schema.xml_escapes import xml_escaped
from syntagma.grammars import Grammar
from syntagma.json_pointer import pointer_of
from syntagma.limits import Limits

__all__ = ["SeparateArguments"]

_VALUE = Placeholder("value")

_Edges: TypeAlias = TextEdges | Literal["typed"]
"""whitespace beside a value: see `TextEdges`; `typed`: any, beside a value that is read by its type"""


class SeparateArguments:
    """The grammar of `{arguments}` in a form with `argument`; an `ArgumentsGrammar`.

    Args:
        tools: the form.
        limits: bounds on schemas.
        ends: the texts that end the arguments and their values.

    Raises:
        FormatError: `E-FORMAT-UNSUPPORTED`, the form has no strict reading.
    """

    any_differs = True

    def __init__(self, tools: ToolsSpec, markers: Markers, limits: Limits, ends: ArgumentEnds) -> None:
        self._tools = tools
        self._markers = markers
        self._pattern = tools.argument[0]
        self._is_spaced = is_spaced(tools)
        self._texts = tuple(_literals(self._pattern, stripped=self._is_spaced))
        literals = tools.values == "literal"
        self._repeats_key = self._pattern.placeholders.count("key") > 1
        """whether only declared keys can be written: an arbitrary key written twice is not context-free"""
        self._values: ValueGrammars = LiteralValues(tools, limits) if literals else TextValues(tools, limits, ends)

    def anything(self, schema: Mapping[str, Any] | None) -> Grammar:
        """Any arguments. The value of a declared key that is not text is JSON, so that the parser can read it."""
        values, properties = self._values, properties_of(schema)
        choices = [
            self._argument(Grammar.literal(self._spelled(key)), values.any_value(properties[key], schema))
            for key in properties
            if values.can_be_key(self._spelled(key))
        ]
        if not self._repeats_key:
            choices.append(self._argument(values.any_key(map(self._spelled, properties)), values.any_value(True, None)))
        if not choices:
            return Grammar.literal("")
        return Grammar.repeat(Grammar.union(*choices), separator=self._separator())

    def by_schema(self, schema: Mapping[str, Any], *, strict: bool, pointer: str) -> Grammar:
        """See `ArgumentsGrammar.by_schema`."""
        values, properties, required = self._values, properties_of(schema), required_of(schema)
        members: list[tuple[Grammar, bool]] = []
        for key in (*properties, *(key for key in required if key not in properties)):
            if not values.can_be_key(self._spelled(key)):
                if key in required:
                    raise unsupported(f"the key {key!r}, which could not be read back,")
                continue
            place = pointer + pointer_of("properties", key)
            value = values.by_schema(properties.get(key, True), schema, strict=strict, pointer=place)
            members.append((self._argument(Grammar.literal(self._spelled(key)), value), key in required))
        further = schema.get("additionalProperties", not properties)
        rest = None
        if further is not False and not self._repeats_key:
            place = f"{pointer}/additionalProperties"
            if self._tools.values == "json":
                # The parser types the values of undeclared keys by what they look like.
                value = values.any_value(True, None)
            else:
                value = values.by_schema(further, schema, strict=strict, pointer=place)
            rest = self._argument(values.any_key(map(self._spelled, properties)), value)
        return self._sequence(members, rest)

    def of_text(self, key: str, text: Grammar) -> Grammar:
        """See `ArgumentsGrammar.of_text`."""
        if not self._values.can_be_key(self._spelled(key)):
            raise unsupported(f"the key {key!r}, which could not be read back,")
        return self._argument(Grammar.literal(self._spelled(key)), self._values.of_text(text))

    def _spelled(self, key: str) -> str:
        """A key as the format writes it."""
        return xml_escaped(key, attribute=True) if "attributes" in self._tools.escape else key

    def _sequence(self, members: list[tuple[Grammar, bool]], rest: Grammar | None) -> Grammar:
        """The members in order, with separators between those that are written; only required ones must be."""
        separator = self._separator()
        empty = Grammar.literal("")
        first, later = empty, empty
        if rest is not None:
            first = Grammar.repeat(rest, separator=separator)
            later = Grammar.repeat(Grammar.concat(separator, rest))
        for one, required in reversed(members):
            begins, follows = Grammar.concat(one, later), Grammar.concat(separator, one, later)
            first = begins if required else Grammar.union(begins, first)
            later = follows if required else Grammar.union(follows, later)
        return first

    def _separator(self) -> Grammar:
        """The separator between arguments, with whitespace around it."""
        if not self._is_spaced:
            return Grammar.concat(*literal(self._tools.argument_separator))
        return joined((WHITESPACE, *structure(self._tools.argument_separator, self._markers), WHITESPACE))

    def _argument(self, key: Grammar, value: Value) -> Grammar:
        """One argument, with its value in all the ways to write it."""
        typed = "type" in self._pattern.placeholders
        written: list[tuple[str, Grammar, _Edges]] = []
        if value.text is not None:
            written.append(("string", value.text, value.text_edges))
        written += [(kind, grammar, "typed") for kind, grammar in value.json]
        alternatives = [
            self._filled(key, word, grammar, edges)
            for kind, grammar, edges in written
            for word in (self._tools.type_words(kind) if typed else ("",))
        ]
        if not alternatives:
            raise unsupported("a value for whose type the format has no word")
        return Grammar.union(*alternatives)

    def _filled(self, key: Grammar, type_word: str, value: Grammar, edges: _Edges) -> Grammar:
        """One argument, without whitespace at its ends.

        Args:
            key: its key.
            type_word: the word in place of `{type}`.
            value: its value.
            edges: the whitespace beside the value.
        """
        spaced = self._between_edges(value, edges) if self._is_spaced else [value]
        values = {"key": [key], "type": [Grammar.literal(type_word)], "value": spaced}
        parts: list[Grammar] = []
        after_value = False
        for item, text in zip(self._pattern.items, self._texts, strict=True):
            if isinstance(item, LiteralItem):
                # The parser looks for the whole text that closes a value, with its whitespace.
                parts += literal(text) if after_value else self._spaced(text)
            else:
                parts += values.get(item.name, [])
            after_value = item == _VALUE
        return joined(parts)

    def _spaced(self, text: str) -> Sequence[Grammar]:
        """A literal of the argument; a literal of whitespace alone keeps two words apart, so it must stay."""
        if not self._is_spaced:
            return literal(text)
        return [SOME_WHITESPACE] if text.isspace() else structure(text, self._markers)

    def _between_edges(self, value: Grammar, edges: _Edges) -> list[Grammar]:
        """A value, with the whitespace that the format shows beside it."""
        before, after = self._pattern.around("value")
        if edges == "free":
            return [value]
        if edges == "typed":
            return [WHITESPACE, value, *([WHITESPACE] if after else [])]
        shown = (trailing(before), leading(after))
        first, last = (Grammar.literal(one) for one in shown)
        if edges == "optional":
            first, last = Grammar.optional(first), Grammar.optional(last)
        return [first, value, last]


def _literals(pattern: Pattern, *, stripped: bool) -> Iterator[str]:
    """The literals of an argument; empty for a placeholder.

    Args:
        pattern: the argument.
        stripped: whether to leave out whitespace at the argument's ends and beside its value.
    """
    items = pattern.items
    for at, item in enumerate(items):
        if not isinstance(item, LiteralItem):
            yield ""
            continue
        text = item.text
        if not stripped:
            yield text
            continue
        if at == 0 or items[at - 1] == _VALUE:
            text = text.lstrip()
        if at == len(items) - 1 or items[at + 1] == _VALUE:
            text = text.rstrip()
        yield text
