"""Objects in the styles of structural tags: members between texts, strings as they are, all else JSON or nested."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from syntagma.constraints.arguments.text_values import split_schema
from syntagma.constraints.arguments.values import json_type, properties_of, required_of, resolved, with_definitions
from syntagma.constraints.literals import literal, quoted
from syntagma.errors import GrammarError
from syntagma.format_schema import Literal as LiteralItem
from syntagma.format_schema import Pattern
from syntagma.format_schema.styles import StyleSpec
from syntagma.format_schema.xml_escapes import xml_escaped
from syntagma.grammars import Grammar
from syntagma.grammars.pointer_prefix import with_pointer_prefix
from syntagma.grammars.structural_tag import StyledSchema
from syntagma.json_pointer import pointer_of

__all__ = ["style_grammar"]

_MAX_DEPTH = 24
"""objects and arrays inside of each other as elements"""
_SAY_NOTHING = frozenset(
    ("title", "description", "default", "examples", "$comment", "deprecated", "readOnly", "writeOnly", "$schema", "$id")
)
_OF_OBJECTS = _SAY_NOTHING | {
    "type",
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "$defs",
    "definitions",
}
_OF_ARRAYS = _SAY_NOTHING | {"type", "items", "minItems", "maxItems"}
_SCALARS = ("number", "boolean", "null")


class _Place(NamedTuple):
    """Where a schema stands: its pointer, and how many elements are around it."""

    pointer: str
    depth: int

    def inside(self, *steps: str) -> _Place:
        return _Place(self.pointer + pointer_of(*steps), self.depth + 1)


def style_grammar(style: StyleSpec, wanted: StyledSchema) -> Grammar:
    """The values of a schema in a style.

    Raises:
        GrammarError: `E-GRAMMAR-UNSUPPORTED`, a keyword that the style does not hold, with its pointer in the schema;
            or the code of a schema or pattern in it.
        LimitError: it nests too deeply.
    """
    return _Style(style, wanted).whole()


class _Style:
    def __init__(self, style: StyleSpec, wanted: StyledSchema) -> None:
        self._style = style
        self._wanted = wanted
        self._root: Mapping[str, Any] = wanted.schema if isinstance(wanted.schema, Mapping) else {}
        most = wanted.limits.json_whitespace
        if wanted.most_whitespace is not None:
            most = min(wanted.most_whitespace, most)
        self._space_pattern = f"[ \\t\\n\\r]{{0,{most}}}"
        self._space = Grammar.from_regex(self._space_pattern)
        self._closer = style.argument.around("value")[1].strip()
        self._ends = tuple(dict.fromkeys((self._closer, *wanted.excludes)))
        for text in wanted.excludes:
            if text != text.strip():
                raise _unsupported("an exclusion with whitespace at its edges", "")

    def whole(self) -> Grammar:
        """The values of the whole schema: the members of an object, or another value without them."""
        schema = resolved(self._wanted.schema, self._root)
        place = _Place("", 0)
        if schema is True or (isinstance(schema, Mapping) and "type" not in schema):
            schema = {"type": "object", **(schema if isinstance(schema, Mapping) else {})}
        if isinstance(schema, Mapping) and json_type(schema) == "object":
            return self._members(schema, place)
        return Grammar.union(*(value for _, value in self._values(schema, place)))

    def _members(self, schema: Mapping[str, Any], place: _Place) -> Grammar:
        """The members of an object, with whitespace around them."""
        self._check(schema, _OF_OBJECTS, place)
        properties, required = properties_of(schema), required_of(schema)
        members = [
            (self._member(key, properties.get(key, True), place), key in required)
            for key in dict.fromkeys((*properties, *required))
        ]
        rest = self._rest(schema, place)
        least, most = schema.get("minProperties", 0), schema.get("maxProperties")
        if self._wanted.any_order:
            ways = [member for member, _ in members] + ([] if rest is None else [rest])
            least = max(least, len(required))
            found = Grammar.repeat(Grammar.union(*ways), least, most) if ways else Grammar.literal("")
        elif least <= len(required) and (most is None or (rest is None and most >= len(members))):
            parts = [member if needed else Grammar.optional(member) for member, needed in members]
            found = Grammar.concat(*parts, *([] if rest is None else [Grammar.repeat(rest)]))
        else:
            found = _counted(members, rest, least, most)
        return Grammar.concat(found, self._space)

    def _rest(self, schema: Mapping[str, Any], place: _Place) -> Grammar | None:
        """One member that is not declared; None: there is none."""
        properties, patterns = properties_of(schema), schema.get("patternProperties") or {}
        named = self._names(schema.get("propertyNames", True), place)
        declared = tuple(map(self._spelled, properties))
        ways = [
            self._member(_key(declared, self._wanted.excludes, [*named, pattern], []), value, place)
            for pattern, value in patterns.items()
        ]
        further = schema.get("additionalProperties", not (properties or patterns))
        if further is not False:
            ways.append(self._member(_key(declared, self._wanted.excludes, named, list(patterns)), further, place))
        return Grammar.union(*ways) if ways else None

    def _names(self, schema: Any, place: _Place) -> list[str]:
        """The pattern of undeclared keys, if they have one."""
        if isinstance(schema, Mapping) and set(schema) <= {"pattern", "type", *_SAY_NOTHING}:
            return [schema["pattern"]] if "pattern" in schema else []
        if schema is True:
            return []
        raise _unsupported("what names must be beside a pattern", f"{place.pointer}/propertyNames")

    def _member(self, key: str | Grammar, schema: Any, place: _Place) -> Grammar:
        """One member after any whitespace; a key that is a grammar is any of its texts."""
        inside = place.inside(*(("properties", key) if isinstance(key, str) else ("additionalProperties",)))
        shown = self._spelled(key) if isinstance(key, str) else key
        ways = [
            self._filled(self._style.argument, shown, word, value)
            for kind, value in self._values(schema, inside)
            for word in self._style.words(kind)
        ]
        if not ways:
            raise _unsupported("a value for whose type the style has no word", inside.pointer)
        return Grammar.concat(self._space, Grammar.union(*ways))

    def _filled(self, pattern: Pattern, key: str | Grammar, word: str, value: Grammar) -> Grammar:
        """A pattern with its placeholders filled; texts that follow each other are one."""
        parts: list[Grammar | str] = []
        for item in pattern.items:
            if isinstance(item, LiteralItem):
                first, *others = item.text.split("\n")
                parts.append(first)
                for text in others:
                    parts += [self._space, text]
            elif item.name == "key":
                parts.append(key)
            else:
                parts.append(word if item.name == "type" else value)
        return Grammar.concat(*_texts_joined(parts))

    def _spelled(self, key: str) -> str:
        return xml_escaped(key, attribute=True) if self._style.escape else key

    def _values(self, schema: Any, place: _Place) -> Iterator[tuple[str, Grammar]]:
        """The values of a schema, each way with its type: strings as text, all else as JSON or as elements."""
        if place.depth > _MAX_DEPTH:
            raise _unsupported("a schema that refers to itself, or nests so deep,", place.pointer)
        found = split_schema(schema, self._root, ends=self._ends, escaped=False, explicit_types=True)
        if found.approximate:
            raise _unsupported("a value without a type, or with a pattern that is not regular,", place.pointer)
        if found.text is not None:
            yield "string", found.text if found.text_edges == "free" else self._spaced(found.text)
        for one in found.schemas:
            kind = json_type(one)
            if self._style.item is None or kind in _SCALARS:
                yield kind, self._spaced(self._json(one, place))
            elif kind == "object":
                if one == {"type": kind} and not isinstance(schema, Mapping):
                    continue  # of a value that may be anything, what is nested is not written
                yield kind, self._members(one, place)
            elif isinstance(one.get("items"), Mapping):
                yield kind, self._items(one, self._style.item, place)

    def _items(self, schema: Mapping[str, Any], pattern: Pattern, place: _Place) -> Grammar:
        self._check(schema, _OF_ARRAYS, place)
        ways = [
            self._filled(pattern, "", word, value)
            for kind, value in self._values(schema["items"], place.inside("items"))
            for word in self._style.words(kind)
        ]
        item = Grammar.concat(self._space, Grammar.union(*ways))
        items = Grammar.repeat(item, schema.get("minItems", 0), schema.get("maxItems"))
        return Grammar.concat(items, self._space)

    def _json(self, schema: Any, place: _Place) -> Grammar:
        return with_pointer_prefix(
            place.pointer,
            lambda: Grammar.from_json_schema(
                with_definitions(schema, self._root),
                order="any" if self._wanted.any_order else "declared",
                whitespace_pattern=self._space_pattern,
                limits=self._wanted.limits,
            ),
        )

    def _spaced(self, value: Grammar) -> Grammar:
        return Grammar.concat(self._space, value, self._space) if self._style.spaced else value

    def _check(self, schema: Mapping[str, Any], known: frozenset[str], place: _Place) -> None:
        for keyword in schema:
            if keyword not in known:
                raise _unsupported(f"the keyword {keyword} in this style", f"{place.pointer}{pointer_of(keyword)}")


def _key(declared: Sequence[str], excludes: Sequence[str], like: Sequence[str], unlike: Sequence[str]) -> Grammar:
    """A key that is not declared, in which some patterns match and others do not."""
    parts = ["#'[A-Za-z_][A-Za-z0-9_]*'", *(f"~{quoted(key)}" for key in declared)]
    parts += [f"except!({quoted(text)})" for text in excludes]
    parts += [_searched(pattern) for pattern in like] + [f"~{_searched(pattern)}" for pattern in unlike]
    return Grammar.from_ebnf(f"start ::= {' & '.join(parts)} ;")


def _searched(pattern: str) -> str:
    """Text in which a pattern matches somewhere, in EBNF."""
    shown = pattern.replace("\\", "\\\\").replace("'", "\\\\x27")
    return f"#'(?s:.*)(?:{shown})(?s:.*)'"


def _counted(members: Sequence[tuple[Grammar, bool]], rest: Grammar | None, least: int, most: int | None) -> Grammar:
    """Members in order, only the required ones needed, then others: so many in all."""
    most_known = least if most is None else most
    # By the number of members so far: what may follow; None: nothing can.
    tails: list[Grammar | None] = []
    for count in range(most_known + 1):
        low, high = max(least - count, 0), None if most is None else most - count
        if rest is None or (high is not None and high < low):
            tails.append(None if low else Grammar.literal(""))
        else:
            tails.append(Grammar.repeat(rest, low, high))
    for member, needed in reversed(members):
        following = [*tails[1:], tails[-1] if most is None else None]
        tails = [
            _either(None if after is None else Grammar.concat(member, after), None if needed else tail)
            for tail, after in zip(tails, following, strict=True)
        ]
    if tails[0] is None:
        raise _unsupported(f"an object of {least} to {most} of these properties", "")
    return tails[0]


def _either(first: Grammar | None, second: Grammar | None) -> Grammar | None:
    ways = [way for way in (first, second) if way is not None]
    return Grammar.union(*ways) if ways else None


def _texts_joined(parts: Sequence[Grammar | str]) -> Iterator[Grammar]:
    text = ""
    for part in parts:
        if isinstance(part, str):
            text += part
            continue
        yield from literal(text) if text else ()
        text = ""
        yield part
    yield from literal(text) if text else ()


def _unsupported(what: str, pointer: str) -> GrammarError:
    return GrammarError("E-GRAMMAR-UNSUPPORTED", f"{what} is not supported", pointer=pointer)
