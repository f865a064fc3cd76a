"""Arguments that are written one by one, each with its key and its value, as grammars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from syntagma.constraints.schemas import schema_grammar, value_notation
from syntagma.constraints.text import literal, quoted
from syntagma.constraints.text_values import NOT_TEXT, TextValue, any_text, json_type, plain_text, text_value
from syntagma.errors import FormatError
from syntagma.format_schema import Literal as LiteralItem
from syntagma.format_schema import ToolsSpec
from syntagma.grammars import Grammar
from syntagma.json_pointer import pointer_of
from syntagma.limits import Limits

__all__ = ["TaggedArguments", "Value", "properties_of", "unsupported"]

_IN_JSON = frozenset(' \t\n\r{}[],:"+-.0123456789aeflnrstuE')
"""a value's closer that is made of these alone could stand inside JSON"""
_KEY = r"[^\s\x1c-\x1f<>{}()\[\]\"'"
Value: TypeAlias = tuple[Grammar | None, Sequence[tuple[str, Grammar]]]
"""a value as text, and as JSON of each type"""


class TaggedArguments:
    """The grammar of `{arguments}` in a form with `argument`.

    Raises:
        FormatError: `E-FORMAT-UNSUPPORTED`, the form has no strict reading.
    """

    def __init__(self, tools: ToolsSpec, limits: Limits) -> None:
        self._tools = tools
        self._limits = limits
        self._pattern = tools.argument[0].written
        self._closer = self._pattern.around("value")[1].strip()
        self._escaped = "values" in tools.escape
        self._check()

    def _check(self) -> None:
        if not self._pattern.around("value")[0].strip() or not set(self._closer) - _IN_JSON:
            raise unsupported("arguments whose values have no marker on both sides")

    def anything(self, schema: Mapping[str, Any] | None) -> Grammar:
        """Any arguments. Where a schema declares a key, what is not text there is JSON, so that it can be read."""
        properties = properties_of(schema)
        choices = [
            self._argument(Grammar.literal(key), *self._loose(properties[key], schema))
            for key in properties
            if self._can_be_key(key)
        ]
        choices.append(self._argument(self._any_key(properties), *self._loose(True, None)))
        return Grammar.repeat(Grammar.union(*choices), separator=self._separator())

    def by_schema(self, schema: Mapping[str, Any], *, strict: bool, pointer: str) -> Grammar:
        """Declared keys in their order, the required ones once, each value by its schema.

        Raises:
            FormatError: `E-FORMAT-UNSUPPORTED`, a required key cannot be written.
            UnsupportedSchema: a value's schema is refused; the pointer says where.
        """
        properties = properties_of(schema)
        required = [key for key in schema.get("required", ()) if isinstance(key, str)]
        members: list[tuple[Grammar, bool]] = []
        for key in (*properties, *(key for key in required if key not in properties)):
            if not self._can_be_key(key):
                if key in required:
                    raise unsupported(f"the key {key!r}, which could not be read back,")
                continue
            place = pointer + pointer_of("properties", key)
            string, others = self._held(properties.get(key, True), schema, strict=strict, pointer=place)
            members.append((self._argument(Grammar.literal(key), string, others), key in required))
        further = schema.get("additionalProperties", not properties)
        rest = None
        if further is not False:
            place = f"{pointer}/additionalProperties"
            by_looks = self._tools.values == "json"
            held = self._loose(True, None) if by_looks else self._held(further, schema, strict=strict, pointer=place)
            rest = self._argument(self._any_key(properties), *held)
        return self._sequence(members, rest)

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
            here, behind = Grammar.concat(one, later), Grammar.concat(separator, one, later)
            first = here if required else Grammar.union(here, first)
            later = behind if required else Grammar.union(behind, later)
        return first

    def _separator(self) -> Grammar | None:
        text = self._tools.argument_separator
        return Grammar.concat(*literal(text)) if text else None

    def _argument(self, key: Grammar, string: Grammar | None, others: Sequence[tuple[str, Grammar]]) -> Grammar:
        """One argument: `string` is its value as text, `others` as JSON of a type; the wire's type follows."""
        typed = "type" in self._pattern.placeholders
        ways = [(self._word("string", "string"), string)] if string is not None else []
        ways += [(self._word("json", kind), value) for kind, value in others]
        said = [Grammar.concat(*self._filled(key, word or "", value)) for word, value in ways if word or not typed]
        if not said:
            raise unsupported("a value that has no type on the wire")
        return Grammar.union(*said)

    def _filled(self, key: Grammar, word: str, value: Grammar) -> Iterator[Grammar]:
        for item in self._pattern.items:
            if isinstance(item, LiteralItem):
                yield from literal(item.text)
            elif item.name == "key":
                yield key
            elif item.name == "value":
                yield value
            elif item.name == "type":
                yield Grammar.literal(word)

    def _word(self, meaning: Literal["string", "json"], kind: str) -> str | None:
        """The wire's word for text, or for JSON of this type."""
        words = [word for word, told in self._tools.types.items() if told == meaning and word != "*"]
        return words[0] if words else kind if self._tools.types.get("*") == meaning else None

    def _loose(self, schema: Any, root: Mapping[str, Any] | None) -> Value:
        """Any value for this key: as text, as JSON."""
        anything = [(kind, self._json({"type": kind})) for kind in NOT_TEXT]
        if self._tools.types:
            return self._text(), anything
        if self._tools.values == "json" and root is None:
            plain = plain_text(closer=self._closer, notation=self._tools.literals)
            return plain, [*anything, ("string", self._json({"type": "string"}))]
        value = self._divided(schema, root or {})
        return (self._text(), []) if value.text is not None else (None, anything)

    def _held(self, schema: Any, root: Mapping[str, Any], *, strict: bool, pointer: str) -> Value:
        """A value by its schema: as text, as JSON."""
        value = self._divided(schema, root)
        if strict and value.loose:
            raise unsupported(f"the schema at {pointer}, of a value that is written as text,")
        others = [(json_type(one), self._literal(one, strict=strict, pointer=pointer)) for one in value.others(root)]
        return value.text, others

    def _divided(self, schema: Any, root: Mapping[str, Any]) -> TextValue:
        told = bool(self._tools.types)
        return text_value(schema, root, closer=self._closer, escaped=self._escaped, told=told)

    def _json(self, schema: Mapping[str, Any]) -> Grammar:
        return self._literal(schema, strict=False, pointer="")

    def _literal(self, schema: Any, *, strict: bool, pointer: str) -> Grammar:
        """A value by its schema, as JSON or as the notation of the format spells it."""
        notation = value_notation(self._tools.literals)
        return schema_grammar(schema, strict=strict, pointer=pointer, limits=self._limits, notation=notation)

    def _text(self) -> Grammar:
        return any_text(closer=self._closer, escaped=self._escaped)

    def _any_key(self, but: Mapping[str, Any]) -> Grammar:
        """A key that can be read and is none of the declared ones."""
        follower = self._pattern.around("key")[1][:1]
        more = f"\\{follower}" if follower and follower not in "<>{}()[]\"'" and not follower.isspace() else ""
        others = "".join(f" & ~{quoted(key)}" for key in but)
        return Grammar.from_ebnf(f"start ::= #'{_KEY.replace(chr(39), chr(92) + chr(39))}{more}]+'{others} ;")

    def _can_be_key(self, key: str) -> bool:
        follower = self._pattern.around("key")[1].strip()
        bad = any(char.isspace() or char in "<>{}()[]\"'" for char in key)
        return bool(key) and not bad and not (follower and follower in key)


def properties_of(schema: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The schemas of the members that an object declares."""
    found = schema.get("properties") if schema is not None else None
    return found if isinstance(found, Mapping) else {}


def unsupported(what: str) -> FormatError:
    """The error of a form that has no strict reading."""
    return FormatError("E-FORMAT-UNSUPPORTED", f"{what} cannot be held by a grammar yet")
