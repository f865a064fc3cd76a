"""Arguments that are written one by one, each with its key and its value, as grammars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from syntagma.constraints.arguments.literal_values import LiteralValues
from syntagma.constraints.arguments.text_values import TextValues
from syntagma.constraints.arguments.values import (
    ArgumentEnds,
    Value,
    ValueGrammars,
    properties_of,
    required_of,
    unsupported,
)
from syntagma.constraints.literals import literal
from syntagma.format_schema import Literal as LiteralItem
from syntagma.format_schema import ToolsSpec
from syntagma.format_schema.xml_escapes import xml_escaped
from syntagma.grammars import Grammar
from syntagma.json_pointer import pointer_of
from syntagma.limits import Limits

__all__ = ["SeparateArguments"]


class SeparateArguments:
    """The grammar of `{arguments}` in a form with `argument`; an `ArgumentsGrammar`.

    Args:
        tools: the form.
        limits: bounds on schemas.
        ends: what ends the arguments and their values.

    Raises:
        FormatError: `E-FORMAT-UNSUPPORTED`, the form has no strict reading.
    """

    any_differs = True

    def __init__(self, tools: ToolsSpec, limits: Limits, ends: ArgumentEnds) -> None:
        self._tools = tools
        self._pattern = tools.argument[0].written
        literals = tools.values == "literal"
        self._values: ValueGrammars = LiteralValues(tools, limits) if literals else TextValues(tools, limits, ends)

    def anything(self, schema: Mapping[str, Any] | None) -> Grammar:
        """Any arguments. Where a schema declares a key, what is not text there is JSON, so that it can be read."""
        values, properties = self._values, properties_of(schema)
        choices = [
            self._argument(Grammar.literal(self._spelled(key)), values.any_value(properties[key], schema))
            for key in properties
            if values.can_be_key(self._spelled(key))
        ]
        choices.append(self._argument(values.any_key(map(self._spelled, properties)), values.any_value(True, None)))
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
        if further is not False:
            place = f"{pointer}/additionalProperties"
            if self._tools.values == "json":
                # The reader tells the types of undeclared keys by what their values look like.
                value = values.any_value(True, None)
            else:
                value = values.by_schema(further, schema, strict=strict, pointer=place)
            rest = self._argument(values.any_key(map(self._spelled, properties)), value)
        return self._sequence(members, rest)

    def _spelled(self, key: str) -> str:
        """A key as the format writes it."""
        return xml_escaped(key, attribute=True) if "attributes" in self._tools.escape else key

    def _sequence(self, members: list[tuple[Grammar, bool]], rest: Grammar | None) -> Grammar:
        """The members in order, those that are not required optional, with separators between those that stand."""
        separator = self._separator()
        empty = Grammar.literal("")
        if separator is None:
            parts = [one if required else Grammar.optional(one) for one, required in members]
            return Grammar.concat(empty, *parts, *([] if rest is None else [Grammar.repeat(rest)]))
        first, later = empty, empty
        if rest is not None:
            first = Grammar.repeat(rest, separator=separator)
            later = Grammar.repeat(Grammar.concat(separator, rest))
        for one, required in reversed(members):
            begins, follows = Grammar.concat(one, later), Grammar.concat(separator, one, later)
            first = begins if required else Grammar.union(begins, first)
            later = follows if required else Grammar.union(follows, later)
        return first

    def _separator(self) -> Grammar | None:
        text = self._tools.argument_separator
        return Grammar.concat(*literal(text)) if text else None

    def _argument(self, key: Grammar, value: Value) -> Grammar:
        """One argument, its value written in any way that the format has for it."""
        typed = "type" in self._pattern.placeholders
        written = [(self._type_word("string", "string"), value.text)] if value.text is not None else []
        written += [(self._type_word("json", kind), grammar) for kind, grammar in value.json]
        alternatives = [
            Grammar.concat(*self._filled(key, word or "", grammar)) for word, grammar in written if word or not typed
        ]
        if not alternatives:
            raise unsupported("a value for whose type the format has no word")
        return Grammar.union(*alternatives)

    def _filled(self, key: Grammar, type_word: str, value: Grammar) -> Iterator[Grammar]:
        for item in self._pattern.items:
            if isinstance(item, LiteralItem):
                yield from literal(item.text)
            elif item.name == "key":
                yield key
            elif item.name == "value":
                yield value
            elif item.name == "type":
                yield Grammar.literal(type_word)

    def _type_word(self, meaning: Literal["string", "json"], kind: str) -> str | None:
        """The format's word for text, or for JSON of this type."""
        words = [word for word, stands_for in self._tools.types.items() if stands_for == meaning and word != "*"]
        return words[0] if words else kind if self._tools.types.get("*") == meaning else None
