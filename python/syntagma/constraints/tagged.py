"""Arguments that are written one by one, each with its key and its value, as grammars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from syntagma.constraints.schemas import schema_grammar
from syntagma.constraints.text import literal, quoted
from syntagma.constraints.text_values import text_value
from syntagma.errors import FormatError
from syntagma.format_schema import Literal as LiteralItem
from syntagma.format_schema import ToolsSpec
from syntagma.grammars import Grammar
from syntagma.limits import Limits

__all__ = ["TaggedArguments"]

_IN_JSON = frozenset(' \t\n\r{}[],:"+-.0123456789aeflnrstuE')
"""a value's closer that is made of these alone could stand inside JSON"""
_KEY = r"[^\s\x1c-\x1f<>{}()\[\]\"'"
_KINDS: tuple[Literal["string", "json"], ...] = ("string", "json")


class TaggedArguments:
    """The grammar of `{arguments}` in a form with `argument`.

    Raises:
        FormatError: `E-FORMAT-UNSUPPORTED`, the form has no strict reading.
    """

    def __init__(self, tools: ToolsSpec, limits: Limits) -> None:
        self._tools = tools
        self._limits = limits
        self._pattern = tools.argument[0]
        before, behind = self._pattern.around("value")
        self._closer = behind.strip()
        if tools.item is not None or tools.escape or tools.values == "literal" or not tools.literals.is_json:
            raise _unsupported("arguments that nest, are escaped, or are literals of a notation")
        if not before.strip() or not set(self._closer) - _IN_JSON:
            raise _unsupported("arguments whose values have no marker on both sides")

    def anything(self, schema: Mapping[str, Any] | None) -> Grammar:
        """Any arguments. Where a schema declares a key, what is not text there is JSON, so that it can be read."""
        properties = _properties(schema)
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
        properties = _properties(schema)
        required = [key for key in schema.get("required", ()) if isinstance(key, str)]
        members: list[tuple[Grammar, bool]] = []
        for key in (*properties, *(key for key in required if key not in properties)):
            if not self._can_be_key(key):
                if key in required:
                    raise _unsupported(f"the key {key!r}, which could not be read back,")
                continue
            place = f"{pointer}/properties/{key.replace('~', '~0').replace('/', '~1')}"
            string, other = self._held(properties.get(key, True), schema, strict=strict, pointer=place)
            members.append((self._argument(Grammar.literal(key), string, other), key in required))
        further = schema.get("additionalProperties", not properties)
        rest = None
        if further is not False:
            held = self._held(further, schema, strict=strict, pointer=f"{pointer}/additionalProperties")
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

    def _argument(self, key: Grammar, string: Grammar | None, other: Grammar | None) -> Grammar:
        """One argument: `string` is its value as text, `other` as JSON; the wire's type follows from which it is."""
        typed = "type" in self._pattern.holes
        ways = [
            Grammar.concat(*self._filled(key, kind, value))
            for kind, value in zip(_KINDS, (string, other), strict=True)
            if value is not None and not (typed and self._word(kind) is None)
        ]
        if not ways:
            raise _unsupported("a value that has no type on the wire")
        return Grammar.union(*ways)

    def _filled(self, key: Grammar, kind: Literal["string", "json"], value: Grammar) -> Iterator[Grammar]:
        for item in self._pattern.items:
            if isinstance(item, LiteralItem):
                yield from literal(item.text)
            elif item.name == "key":
                yield key
            elif item.name == "value":
                yield value
            elif item.name == "type":
                yield Grammar.literal(self._word(kind) or "")

    def _word(self, kind: Literal["string", "json"]) -> str | None:
        """The wire's word for text or for JSON."""
        words = [word for word, meaning in self._tools.types.items() if meaning == kind and word != "*"]
        if not words and kind == "json" and "*" in self._tools.types:
            raise _unsupported("a type on the wire that is the JSON type's name")
        return words[0] if words else None

    def _loose(self, schema: Any, root: Mapping[str, Any] | None) -> tuple[Grammar | None, Grammar | None]:
        """Any value for this key: as text, as JSON."""
        any_json = schema_grammar(True, strict=False, pointer="", limits=self._limits)
        if self._tools.types:
            return self._text(), any_json
        value = text_value(schema, root or {}, closer=self._closer)
        if self._tools.values == "json" and root is None:
            return None, any_json
        return (self._text(), None) if value.text is not None else (None, any_json)

    def _held(
        self, schema: Any, root: Mapping[str, Any], *, strict: bool, pointer: str
    ) -> tuple[Grammar | None, Grammar | None]:
        """A value by its schema: as text, as JSON."""
        value = text_value(schema, root, closer=self._closer)
        if strict and value.loose:
            raise _unsupported(f"the schema at {pointer}, of a value that is written as text,")
        others = [
            schema_grammar(one, strict=strict, pointer=pointer, limits=self._limits) for one in value.others(root)
        ]
        return value.text, Grammar.union(*others) if others else None

    def _text(self) -> Grammar:
        return Grammar.text(closer=self._closer)

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


def _properties(schema: Mapping[str, Any] | None) -> Mapping[str, Any]:
    found = schema.get("properties") if schema is not None else None
    return found if isinstance(found, Mapping) else {}


def _unsupported(what: str) -> FormatError:
    return FormatError("E-FORMAT-UNSUPPORTED", f"{what} cannot be held by a grammar yet")
