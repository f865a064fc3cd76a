"""Arguments that are elements named after their keys, and may hold further elements, as grammars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from syntagma.constraints.schemas import schema_grammar, value_notation
from syntagma.constraints.tagged import properties_of, unsupported
from syntagma.constraints.text import quoted
from syntagma.constraints.text_values import NOT_TEXT, TextValue, json_type, resolved, text_value
from syntagma.format_schema import ToolsSpec, pieces
from syntagma.grammars import Grammar
from syntagma.json_pointer import pointer_of
from syntagma.limits import Limits

__all__ = ["ElementArguments"]

_NOT_IN_KEYS = "<>{}()[]\"'/"
_NOTES = frozenset(("title", "description", "default", "examples", "$comment", "deprecated", "$defs", "definitions"))
_OF_OBJECTS = _NOTES | {"type", "properties", "required", "additionalProperties"}
_OF_ARRAYS = _NOTES | {"type", "items", "minItems", "maxItems"}


class ElementArguments:
    """The grammar of `{arguments}` in a form whose arguments are elements.

    An element closes with its own key. Any key at all would make that a language of repeated words, which is not
    context-free: only keys that a schema declares can be written.
    """

    def __init__(self, tools: ToolsSpec, limits: Limits) -> None:
        self._tools = tools
        self._limits = limits

    def anything(self, schema: Mapping[str, Any] | None) -> Grammar:
        """Any arguments with declared keys; none where nothing is declared."""
        return _Builder(self._tools, self._limits, schema or {}, strict=False, pointer="", loose=True).arguments()

    def by_schema(self, schema: Mapping[str, Any], *, strict: bool, pointer: str) -> Grammar:
        """Declared keys in their order, the required ones once, each value by its schema.

        Raises:
            FormatError: `E-FORMAT-UNSUPPORTED`, a required key cannot be written.
            UnsupportedSchema: a value's schema is refused; the pointer says where.
        """
        return _Builder(self._tools, self._limits, schema, strict=strict, pointer=pointer, loose=False).arguments()


class _Member(NamedTuple):
    """What is written for one key, and whether it must be."""

    text: str
    required: bool


class _Builder:
    """The rules of one tool's arguments, as text, and what they name."""

    def __init__(
        self,
        tools: ToolsSpec,
        limits: Limits,
        root: Mapping[str, Any],
        *,
        strict: bool,
        pointer: str,
        loose: bool,
    ) -> None:
        assert tools.element is not None
        self._element = tools.element
        self._item = tools.item
        self._tools = tools
        self._limits = limits
        self._root = root
        self._strict = strict
        self._loose = loose
        self._pointer = pointer
        self._rules: list[str] = []
        self._named: dict[str, Grammar] = {}
        self._known: dict[tuple[int, str], str] = {}

    def arguments(self) -> Grammar:
        """All that stands in a call."""
        members = self._members(self._root, self._pointer, inside=False)
        separator = _text(self._tools.argument_separator) if self._tools.argument_separator else ""
        if self._loose:
            each = " | ".join(member.text for member in members)
            body = f"[ ({each}){{1,}}{f' % ({separator})' if separator else ''} ]" if members else '""'
        else:
            body = self._sequence(members, separator)
        source = "\n".join((f"start ::= {body} ;", *self._rules))
        return Grammar.from_ebnf(source, grammars=self._named, limits=self._limits)

    def _sequence(self, members: Sequence[_Member], separator: str) -> str:
        """The members in order, with separators between those that stand."""
        if not separator:
            return " ".join(one.text if one.required else f"[ {one.text} ]" for one in members) or '""'
        first = later = '""'
        for one in reversed(members):
            here, behind = f"{one.text} {later}", f"{separator} {one.text} {later}"
            first = self._rule(here if one.required else f"{here} | {first}")
            later = self._rule(behind if one.required else f"{behind} | {later}")
        return first

    def _rule(self, body: str) -> str:
        name = f"r{len(self._rules)}"
        self._rules.append(f"{name} ::= {body} ;")
        return name

    def _members(self, schema: Mapping[str, Any], pointer: str, *, inside: bool) -> list[_Member]:
        """The declared members of an object; `inside`: of one that stands in an element."""
        properties = properties_of(schema)
        required = [key for key in schema.get("required", ()) if isinstance(key, str)]
        members = []
        for key in (*properties, *(key for key in required if key not in properties)):
            if _can_be_key(key) and not (inside and key == self._item):
                place = pointer + pointer_of("properties", key)
                members.append(_Member(self._argument(key, properties.get(key, True), place), key in required))
            elif key in required and not self._loose:
                raise unsupported(f"the key {key!r}, which could not be read back,")
        return members

    def _argument(self, key: str, schema: Any, pointer: str) -> str:
        """One element, with what it holds as a rule of its own; a schema that leads back to itself is one rule."""
        start, start_end, end, end_end = self._element
        target = resolved(schema, self._root)
        known = self._known.get((id(target), key))
        if known is None:
            known = f"c{len(self._known)}"
            self._known[id(target), key] = known
            self._rules.append(f"{known} ::= {self._content(key, target, pointer)} ;")
        return " ".join((_text(start + key + start_end), known, _text(end + key + end_end)))

    def _content(self, key: str, schema: Any, pointer: str) -> str:
        """What stands between the opener and the closer of an element of this key."""
        _, _, end, end_end = self._element
        closer = end.lstrip() + key + end_end.rstrip()
        value = self._divided(schema, closer)
        if value.text is not None and not _is_text(schema):
            # What begins as an element is one, wherever a value may be more than text.
            value = self._divided(schema, closer, not_first=self._element[0].lstrip())
        if self._strict and value.loose:
            raise unsupported(f"the schema at {pointer}, of a value that is written as text,")
        ways = [self._name(value.text)] if value.text is not None else []
        if self._loose and value.text is None:
            ways += [self._json({"type": kind}, pointer) for kind in NOT_TEXT]
        for one in value.schemas:
            if self._loose and json_type(one) in NOT_TEXT[2:]:
                continue
            ways += self._structured(one, pointer)
        return " | ".join(ways) if ways else self._json(schema, pointer)

    def _divided(self, schema: Any, closer: str, not_first: str = "") -> TextValue:
        return text_value(schema, self._root, closer=closer, escaped=False, told=False, not_first=not_first)

    def _structured(self, schema: Any, pointer: str) -> list[str]:
        """A value of one type that is no text: as elements, or as JSON where its schema says too little for them."""
        nests = self._item is not None and isinstance(schema, Mapping) and "enum" not in schema
        kind = json_type(schema) if nests else ""
        if kind == "object" and properties_of(schema):
            return self._object(schema, pointer)
        if kind == "array" and isinstance(schema.get("items"), Mapping):
            return self._array(schema, pointer)
        return [self._json(schema, pointer)]

    def _object(self, schema: Mapping[str, Any], pointer: str) -> list[str]:
        self._hold(schema, _OF_OBJECTS, pointer)
        members = self._members(schema, pointer, inside=True)
        if self._loose:
            each = " | ".join(member.text for member in members)
            return [f"({each}){{1,}}", '"{}"'] if members else ['"{}"']
        if any(member.required for member in members):
            return [self._sequence(members, "")]
        # Nothing at all would be empty text, or an array: an object without members is written out.
        some, rest = "", '""'
        for one in reversed(members):
            some = self._rule(f"{one.text} {rest}" + (f" | {some}" if some else ""))
            rest = self._rule(f"[ {one.text} ] {rest}")
        return [*([some] if some else []), '"{}"']

    def _array(self, schema: Mapping[str, Any], pointer: str) -> list[str]:
        self._hold(schema, _OF_ARRAYS, pointer)
        assert self._item is not None
        low, high = (0, None) if self._loose else (schema.get("minItems", 0), schema.get("maxItems"))
        element = self._argument(self._item, schema["items"], f"{pointer}/items")
        ways = ['"[]"'] if not low else []
        if high is None or high > 0:
            ways.append(f"({element}){{{max(1, low)},{'' if high is None else high}}}")
        return ways

    def _hold(self, schema: Mapping[str, Any], known: frozenset[str], pointer: str) -> None:
        more = sorted(set(schema) - known)
        if self._strict and more:
            raise unsupported(f"{', '.join(more)} at {pointer}, of a value that is written as elements,")

    def _json(self, schema: Any, pointer: str) -> str:
        shared = {key: self._root[key] for key in ("$defs", "definitions") if key in self._root}
        whole = {**shared, **schema} if isinstance(schema, Mapping) else schema
        notation = value_notation(self._tools.literals)
        return self._name(
            schema_grammar(whole, strict=self._strict, pointer=pointer, limits=self._limits, notation=notation)
        )

    def _name(self, grammar: Grammar) -> str:
        name = f"g{len(self._named)}"
        self._named[name] = grammar
        return name


def _is_text(schema: Any) -> bool:
    """Whether a value is a string and nothing else, so that a reader looks for no element in it."""
    if not isinstance(schema, Mapping):
        return False
    values = schema["enum"] if isinstance(schema.get("enum"), list) else [schema.get("const")]
    return schema.get("type") in ("string", ["string"]) or all(isinstance(value, str) for value in values)


def _can_be_key(key: str) -> bool:
    return bool(key) and not any(char.isspace() or char in _NOT_IN_KEYS for char in key)


def _text(literal: str) -> str:
    """A literal, its markers as markers."""
    parts = [f"@marker({quoted(piece.text)})" if piece.is_marker else quoted(piece.text) for piece in pieces(literal)]
    return " ".join(parts)
