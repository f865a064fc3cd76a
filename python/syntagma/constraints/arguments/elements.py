"""Grammars of arguments that are elements named after their keys, which may hold further elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from syntagma.constraints.arguments.text_values import (
    ElementOpener,
    SplitSchema,
    declared_words,
    raw_value_writer,
    split_schema,
    without_ends,
)
from syntagma.constraints.arguments.values import (
    ALSO_JSON,
    TextEdges,
    json_type,
    properties_of,
    required_of,
    resolved,
    unsupported,
    with_definitions,
)
from syntagma.constraints.literals import literal_parts, quoted
from syntagma.constraints.whitespace import WHITESPACE
from syntagma.format_schema import ToolsSpec, leading, trailing
from syntagma.format_schema.names import is_element
from syntagma.grammars import Grammar
from syntagma.json_pointer import pointer_of
from syntagma.limits import Limits

__all__ = ["ElementArguments"]

_ANNOTATIONS = frozenset(
    ("title", "description", "default", "examples", "$comment", "deprecated", "$defs", "definitions")
)
_OF_OBJECTS = _ANNOTATIONS | {"type", "properties", "required", "additionalProperties"}
_OF_ARRAYS = _ANNOTATIONS | {"type", "items", "minItems", "maxItems"}
_EMPTY = ('"{}"', '"[]"')
"""the empty object and the empty array"""
_SPACE = "w"
"""the rule of whitespace between elements"""


class ElementArguments:
    """The grammar of `{arguments}` in a form whose arguments are elements; an `ArgumentsGrammar`.

    An element closes with its own key. With arbitrary keys, this would be a language of repeated words, which is not
    context-free: so only keys that a schema declares can be written.
    """

    any_differs = True

    def __init__(self, tools: ToolsSpec, limits: Limits) -> None:
        self._tools = tools
        self._limits = limits

    def anything(self, schema: Mapping[str, Any] | None) -> Grammar:
        """Any arguments with declared keys; empty arguments if none is declared."""
        wanted = _Wanted(schema or {}, strict=False, any_values=True)
        return _Rules(self._tools, self._limits, wanted).arguments("")

    def by_schema(self, schema: Mapping[str, Any], *, strict: bool, pointer: str) -> Grammar:
        """See `ArgumentsGrammar.by_schema`."""
        wanted = _Wanted(schema, strict=strict, any_values=False)
        return _Rules(self._tools, self._limits, wanted).arguments(pointer)

    def of_text(self, key: str, text: Grammar) -> Grammar:
        """See `ArgumentsGrammar.of_text`."""
        schema = {"properties": {key: {"type": "string"}}, "required": [key]}
        return _Rules(self._tools, self._limits, _Wanted(schema, strict=False, any_values=False), text).arguments("")


class _Member(NamedTuple):
    """The text of one key's element, and whether it is required."""

    text: str
    required: bool


class _Wanted(NamedTuple):
    """What the arguments of one tool must satisfy."""

    schema: Mapping[str, Any]
    strict: bool
    """whether to refuse a schema that can only be approximated"""
    any_values: bool
    """whether only keys are constrained: values may be anything, and a key may be left out or repeated"""


class _Rules:
    """The rules of one tool's arguments as EBNF, and the grammars that they name."""

    def __init__(self, tools: ToolsSpec, limits: Limits, wanted: _Wanted, text: Grammar | None = None) -> None:
        assert tools.element is not None
        self._element = tools.element
        self._item = tools.item
        self._tools = tools
        self._limits = limits
        self._writer = raw_value_writer(tools, limits)
        self._root, self._strict, self._any_values = wanted
        self._text = text
        """the grammar of every value; None: each has a schema"""
        self._rules: list[str] = []
        self._named: dict[str, Grammar] = {_SPACE: WHITESPACE}
        self._contents: dict[tuple[int, str], str] = {}
        """the rule of an element's content, by its schema and key"""

    def arguments(self, pointer: str) -> Grammar:
        """The arguments of a call; the schema stands at `pointer`."""
        members = self._members(self._root, pointer, inside=False)
        if self._any_values:
            each = " | ".join(member.text for member in members)
            body = f"[ ({each}){{1,}} % ({_SPACE}) ]" if members else '""'
        else:
            body = self._sequence(members)
        source = "\n".join((f"start ::= {body} ;", *self._rules))
        return Grammar.from_ebnf(source, grammars=self._named, limits=self._limits)

    def _sequence(self, members: Sequence[_Member], *, empty: bool = True) -> str:
        """The members in order, with whitespace between those that are written; `empty`: there may be none."""
        first, later = '""' if empty else "", '""'
        for one in reversed(members):
            begins, follows = f"{one.text} {later}", f"{_SPACE} {one.text} {later}"
            first = self._rule(begins if one.required or not first else f"{begins} | {first}")
            later = self._rule(follows if one.required else f"{follows} | {later}")
        return first

    def _rule(self, body: str) -> str:
        name = f"r{len(self._rules)}"
        self._rules.append(f"{name} ::= {body} ;")
        return name

    def _members(self, schema: Mapping[str, Any], pointer: str, *, inside: bool) -> list[_Member]:
        """The declared members of an object; `inside`: the object stands in an element."""
        properties = properties_of(schema)
        required = required_of(schema)
        members = []
        for key in (*properties, *(key for key in required if key not in properties)):
            if is_element(key) and not (inside and key == self._item):
                place = pointer + pointer_of("properties", key)
                members.append(_Member(self._argument(key, properties.get(key, True), place), key in required))
            elif key in required and not self._any_values:
                raise unsupported(f"the key {key!r}, which could not be read back,")
        return members

    def _argument(self, key: str, schema: Any, pointer: str) -> str:
        """One element, with a rule for its content; a recursive schema has one rule."""
        start, start_end, end, end_end = self._element
        target = resolved(schema, self._root)
        content = self._contents.get((id(target), key))
        if content is None:
            content = f"c{len(self._contents)}"
            self._contents[id(target), key] = content
            self._rules.append(f"{content} ::= {self._content(key, target, pointer)} ;")
        opener, closer = start.lstrip() + key + start_end.rstrip(), end.lstrip() + key + end_end.rstrip()
        return " ".join((_text(opener), content, _text(closer)))

    def _content(self, key: str, schema: Any, pointer: str) -> str:
        """The text between the opener and the closer of an element with this key."""
        start, start_end, end, end_end = self._element
        closer = end.lstrip() + key + end_end.rstrip()
        if self._text is not None:
            edges = self._split({"const": "text"}, closer).text_edges
            return self._edged(self._name(without_ends(self._text, (closer,))), edges)
        value = self._split(schema, closer)
        if value.text is not None and not _is_text(schema):
            # If a value may be more than text, text that begins like an element is read as one.
            element = ElementOpener(start.lstrip(), start_end.rstrip())
            value = self._split(schema, closer, not_first=element)
        if self._strict and value.approximate:
            raise unsupported(f"the schema at {pointer}, of a value that is written as text,")
        alternatives = [self._edged(self._name(value.text), value.text_edges)] if value.text is not None else []
        others: list[str] = []
        if self._any_values and value.text is None:
            others += [self._json({"type": kind}, pointer) for kind in ALSO_JSON]
        for one in value.schemas:
            if self._any_values and json_type(one) in ALSO_JSON[2:]:
                continue
            others += self._structured(one, pointer, beside_text=value.text is not None)
        if not alternatives and not others:
            others.append(self._json(schema, pointer))
        if others:
            alternatives.append(f"{_SPACE} ({' | '.join(others)}) {_SPACE}")
        return " | ".join(alternatives)

    def _edged(self, text: str, edges: TextEdges) -> str:
        """Text, with the whitespace that the format shows beside it."""
        _, start_end, end, _ = self._element
        shown = (trailing(start_end), leading(end))
        if edges == "free" or not any(shown):
            return text
        first, last = (_text(one) if edges == "shown" or not one else f"[ {_text(one)} ]" for one in shown)
        return f"{first} {text} {last}"

    def _split(self, schema: Any, closer: str, not_first: ElementOpener | None = None) -> SplitSchema:
        return split_schema(
            schema, self._root, ends=(closer,), escaped=False, explicit_types=False, not_first=not_first
        )

    def _structured(self, schema: Any, pointer: str, *, beside_text: bool) -> list[str]:
        """A value of one type other than text: as elements, if its schema declares enough, and as JSON.

        Args:
            schema: the schema of the value.
            pointer: the pointer of that schema.
            beside_text: whether the value may also be text, so that an element's closer ends JSON even in a string.
        """
        nests = self._item is not None and isinstance(schema, Mapping) and "enum" not in schema
        kind = json_type(schema) if nests else ""
        if kind == "object" and properties_of(schema):
            elements = self._object(schema, pointer)
        elif kind == "array" and isinstance(schema.get("items"), Mapping):
            elements = self._array(schema, pointer)
        else:
            return [self._json(schema, pointer)]
        if beside_text:
            return elements
        return [*(one for one in elements if one not in _EMPTY), self._json(schema, pointer)]

    def _object(self, schema: Mapping[str, Any], pointer: str) -> list[str]:
        self._check(schema, _OF_OBJECTS, pointer)
        members = self._members(schema, pointer, inside=True)
        if self._any_values:
            each = " | ".join(member.text for member in members)
            return [f"({each}){{1,}} % ({_SPACE})", '"{}"'] if members else ['"{}"']
        # An empty element would be read as empty text or an array, so an object without members is written as `{}`.
        some = self._sequence(members, empty=False)
        return [*([some] if some else []), *([] if any(member.required for member in members) else ['"{}"'])]

    def _array(self, schema: Mapping[str, Any], pointer: str) -> list[str]:
        self._check(schema, _OF_ARRAYS, pointer)
        assert self._item is not None
        low, high = (0, None) if self._any_values else (schema.get("minItems", 0), schema.get("maxItems"))
        element = self._argument(self._item, schema["items"], f"{pointer}/items")
        alternatives = ['"[]"'] if not low else []
        if high is None or high > 0:
            alternatives.append(f"({element}){{{max(1, low)},{'' if high is None else high}}} % ({_SPACE})")
        return alternatives

    def _check(self, schema: Mapping[str, Any], known: frozenset[str], pointer: str) -> None:
        more = sorted(set(schema) - known)
        if self._strict and more:
            raise unsupported(f"{', '.join(more)} at {pointer}, of a value that is written as elements,")

    def _json(self, schema: Any, pointer: str) -> str:
        whole = with_definitions(schema, self._root)
        words = declared_words(whole, self._writer.notation)
        return self._name(words or self._writer.write(whole, strict=self._strict, pointer=pointer))

    def _name(self, grammar: Grammar) -> str:
        name = f"g{len(self._named)}"
        self._named[name] = grammar
        return name


def _is_text(schema: Any) -> bool:
    """Whether a value is always a string, so that the parser looks for no element in it."""
    if not isinstance(schema, Mapping):
        return False
    values = schema["enum"] if isinstance(schema.get("enum"), list) else [schema.get("const")]
    return schema.get("type") in ("string", ["string"]) or all(isinstance(value, str) for value in values)


def _text(literal: str) -> str:
    """A literal in EBNF."""
    return " ".join(
        f"@marker({quoted(part.text)})" if part.may_be_tokens else quoted(part.text) for part in literal_parts(literal)
    )
