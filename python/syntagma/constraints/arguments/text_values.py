"""Grammars of values that are raw text if they are strings, and JSON if they are not."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from syntagma.constraints.arguments.values import (
    ALSO_JSON,
    MAX_REFERENCES,
    STRUCTURES,
    ArgumentEnds,
    TextEdges,
    Value,
    json_type,
    resolved,
    unsupported,
    with_definitions,
)
from syntagma.constraints.literals import free_text, joined_ends, quoted, text_without
from syntagma.constraints.schemas import ValueWriter
from syntagma.errors import GrammarError
from syntagma.format_schema import Notation, ToolsSpec, is_open
from syntagma.format_schema.facts import shortest
from syntagma.format_schema.names import ELEMENT_ENDS, WORD_ENDS, excluding, is_element, is_word, spelled
from syntagma.format_schema.xml_escapes import TEXT_ENTITIES, xml_escaped
from syntagma.grammars import Grammar
from syntagma.json_types import is_of_type
from syntagma.limits import Limits

__all__ = [
    "ElementOpener",
    "SplitSchema",
    "TextValues",
    "declared_words",
    "raw_value_writer",
    "split_schema",
    "without_ends",
]

_ANNOTATIONS = frozenset(
    ("title", "description", "default", "examples", "format", "$comment", "deprecated", "readOnly", "writeOnly")
)
_UNIONS = ("anyOf", "oneOf")
_STRUCTURE = r"\s*(?:\{[\s\S]*\}|\[[\s\S]*\])\s*"
"""text that the parser may read as an object or array"""
_BRACKET_FIRST = r"\s*[\{\[][\s\S]*"
"""text that begins like an object or array"""
_EDGE = r"[\s\x1c-\x1f]*"
"""whitespace that the parser strips before it types a value"""
_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_IN_SCALARS = frozenset("+-.0123456789aeflnrstuE")
"""characters of numbers and words: an end of values made of these alone could stand inside one"""
_IN_JSON = frozenset(' \t\n\r{}[],:"+-.0123456789aeflnrstuE')
"""characters of JSON outside of strings: a closer of values made of these alone could stand inside JSON"""


class TextValues:
    """The grammars of keys and values, if strings are written as raw text.

    Raises:
        FormatError: `E-FORMAT-UNSUPPORTED`, the parser could not find the end of a value.
    """

    def __init__(self, tools: ToolsSpec, limits: Limits, ends: ArgumentEnds) -> None:
        self._writer = raw_value_writer(tools, limits)
        self._by_looks = tools.values == "json"
        self._explicit_types = bool(tools.types)
        self._escaped = "values" in tools.escape
        pattern = tools.argument[0]
        self._after_key = pattern.around("key")[1].strip()
        self._ends = shortest(ends.values)
        self._is_open = is_open(tools)
        in_value = _IN_SCALARS if self._is_open else _IN_JSON
        if any(not set(end) - in_value for end in self._ends):
            hint = (
                "a line break, or a marker with signs of its own, after the value; where the quotes around it are a "
                'string\'s, leave them out of the pattern and say values = "literal"'
            )
            raise unsupported(f"values that end at one of {self._ends}", "/tools/argument", hint)
        # If nothing stands before a key, the parser first looks for the closer or separator of the arguments.
        taken = () if pattern.opener.strip() else (ends.closer, tools.argument_separator.strip())
        self._not_keys = tuple(text for text in taken if text)

    def any_value(self, schema: Any, root: Mapping[str, Any] | None) -> Value:
        """Any value, as text and as JSON."""
        anything = [(kind, self._json({"type": kind})) for kind in ALSO_JSON]
        text = _any_text(self._ends, escaped=self._escaped)
        if self._explicit_types:
            return Value(text, "free", anything)
        if self._by_looks and root is None:
            plain = _plain_text(self._ends, notation=self._writer.notation)
            return Value(plain, "free", [*anything, ("string", self._json({"type": "string"}))])
        found = self._split(schema, root or {})
        if found.text is None:
            return Value(None, "free", anything)
        if self._is_open and isinstance(schema, Mapping) and found.may_be_structure:
            unbracketed = Grammar.from_ebnf(f"start ::= {_unbracketed(self._ends)} ;")
            return Value(unbracketed, "free", [(kind, self._json({"type": kind})) for kind in STRUCTURES])
        return Value(text, "free", [])

    def by_schema(self, schema: Any, root: Mapping[str, Any], *, strict: bool, pointer: str) -> Value:
        """A value by its schema, as text and as JSON."""
        found = self._split(schema, root)
        if strict and found.approximate:
            raise unsupported(f"the schema at {pointer}, of a value that is written as text,")
        others = [with_definitions(one, root) for one in found.schemas]
        typed = [(json_type(one), self._typed(one, strict=strict, pointer=pointer)) for one in others]
        return Value(found.text, found.text_edges, typed)

    def of_text(self, text: Grammar) -> Value:
        """A string that is a text of a grammar."""
        shown = self._split({"const": "text"}, {}).text_edges
        return Value(text.spelled(TEXT_ENTITIES) if self._escaped else without_ends(text, self._ends), shown, [])

    def any_key(self, declared: Iterable[str]) -> Grammar:
        """An undeclared key that can be read back."""
        sign = self._after_key[:1]
        ends = WORD_ENDS + (sign if is_word(sign) else "")
        others = "".join(f" & ~{quoted(key)}" for key in declared)
        others += "".join(f" & ~({quoted(end)} any!)" for end in self._not_keys)
        return Grammar.from_ebnf(f"start ::= #'[^{excluding(ends)}]+'{others} ;")

    def can_be_key(self, key: str) -> bool:
        """Whether a key can be read back."""
        after = self._after_key
        return is_word(key) and not (after and after in key) and not key.startswith(self._not_keys)

    def _split(self, schema: Any, root: Mapping[str, Any]) -> SplitSchema:
        return split_schema(
            schema,
            root,
            ends=self._ends,
            escaped=self._escaped,
            explicit_types=self._explicit_types,
            is_open=self._is_open,
        )

    def _typed(self, schema: Any, *, strict: bool, pointer: str) -> Grammar:
        """A value of one type other than text."""
        words = None if self._explicit_types else declared_words(schema, self._writer.notation)
        plain = words or self._writer.write(schema, strict=strict, pointer=pointer)
        signs = json.dumps(schema, default=str) + "".join(self._writer.notation.quotes)
        escapes = self._escaped and any(sign in signs for sign in TEXT_ENTITIES)
        return Grammar.union(plain, plain.spelled(TEXT_ENTITIES)) if escapes else plain

    def _json(self, schema: Mapping[str, Any]) -> Grammar:
        return self._writer.write(schema, strict=False, pointer="")


def raw_value_writer(tools: ToolsSpec, limits: Limits) -> ValueWriter:
    """Writes values other than text, if strings are raw text.

    The parser reads JSON there too, whatever the notation. But in a string whose quotes the notation does not know, it
    would not take the closer of the value for text.
    """
    return ValueWriter(tools.literals, limits, reads_json='"' in tools.literals.quotes)


def without_ends(text: Grammar, ends: Sequence[str]) -> Grammar:
    """The texts of a grammar without any of these ends, if the grammar is regular; else all its texts."""
    try:
        return Grammar.from_ebnf(f"start ::= text & {text_without(ends)} ;", grammars={"text": text})
    except GrammarError:
        return text


def declared_words(schema: Any, notation: Notation) -> Grammar | None:
    """The words of a value that is declared as boolean or null only; None: it has another type."""
    if not isinstance(schema, Mapping) or not set(schema) <= _ANNOTATIONS | {"type"}:
        return None
    if schema.get("type") == "null":
        return Grammar.from_choices(list(dict.fromkeys((*notation.null, "null"))))
    if schema.get("type") != "boolean":
        return None
    anyhow = (cased for word in ("true", "false") for cased in (word, word.capitalize(), word.upper()))
    return Grammar.from_choices(list(dict.fromkeys((*notation.true, *notation.false, *anyhow))))


def _any_text(ends: tuple[str, ...], *, escaped: bool) -> Grammar:
    """Any text up to its end; if it is escaped, the beginning of a tag can only be written as its escape."""
    if escaped:
        return Grammar.from_regex("[^<]*")
    return Grammar.text(closer=ends[0]) if len(ends) == 1 else free_text(ends)


def _unbracketed(ends: tuple[str, ...]) -> str:
    """EBNF of text up to its end that does not begin like an object or array."""
    return f"{text_without(ends)} & ~#'{_BRACKET_FIRST}'"


def _plain_text(ends: tuple[str, ...], *, notation: Notation) -> Grammar:
    """Text up to its end that the parser does not read as JSON, or as a literal of the notation."""
    words = "|".join(map(spelled, {"null", "true", "false", *notation.true, *notation.false, *notation.null}))
    firsts = "|".join(map(spelled, ("{", "[", '"', *notation.quotes)))
    looks = rf"{_EDGE}(?:(?:{words}|{_NUMBER}){_EDGE}|(?:{firsts})[\s\S]*)"
    return Grammar.from_ebnf(f"start ::= {text_without(ends)} & ~#'{looks}' ;")


class ElementOpener(NamedTuple):
    """The text before and after the key in an element's opener."""

    before: str
    after: str

    @property
    def pattern(self) -> str:
        """The opener with any key, as a regular expression."""
        return f"{spelled(self.before)}[^{excluding(ELEMENT_ENDS)}]+{spelled(self.after)}"

    def begins(self, text: str) -> bool:
        """Whether a text begins with it."""
        key, after, _ = text.removeprefix(self.before).partition(self.after)
        return text.startswith(self.before) and bool(after) and is_element(key)


class SplitSchema:
    """The schema of a value, split into the parts that are written as text and as JSON.

    Attributes:
        texts: the alternatives that are text, as grammars.
        text_edges: the whitespace beside the text.
        schemas: the alternatives that are JSON, each of one type.
        approximate: whether the grammars constrain the text less than the schema does.
        may_be_structure: whether the parser also looks for an object or array.
    """

    def __init__(
        self,
        ends: tuple[str, ...],
        *,
        escaped: bool,
        explicit_types: bool,
        not_first: ElementOpener | None,
        not_text: str = "",
    ) -> None:
        self.ends = ends
        self.not_first = not_first
        self.not_text = not_text
        """text that the parser reads as an object or array, as a regular expression; empty: none"""
        self.escaped = escaped
        self.explicit_types = explicit_types
        self.texts: list[Grammar] = []
        self.text_edges: TextEdges = "optional"
        self.schemas: list[Any] = []
        self.approximate = False
        self.may_be_structure = False

    @property
    def text(self) -> Grammar | None:
        """The value as text that the parser reads as a string; None: it cannot be a string."""
        return Grammar.union(*self.texts) if self.texts else None


def split_schema(
    schema: Any,
    root: Mapping[str, Any],
    *,
    ends: tuple[str, ...],
    escaped: bool,
    explicit_types: bool,
    not_first: ElementOpener | None = None,
    is_open: bool = False,
) -> SplitSchema:
    """Split a value's schema.

    Args:
        schema: the schema of the value.
        root: the schema that it is a part of.
        ends: texts that the value may not contain as text.
        escaped: whether text is written with XML escapes.
        explicit_types: whether the format writes a type for each value, so that text is never read as anything else.
        not_first: the opener with which text may not begin, even after whitespace; None: it may begin with anything.
        is_open: whether a value has no closer of its own, so that its first bracket must be closed before it ends.
    """
    found = SplitSchema(ends, escaped=escaped, explicit_types=explicit_types, not_first=not_first)
    _split(schema, root, found, MAX_REFERENCES)
    if explicit_types or not found.texts:
        return found
    structured = any(json_type(one) in ("object", "array") for one in found.schemas)
    if structured or (is_open and found.may_be_structure and isinstance(schema, Mapping)):
        not_text = _BRACKET_FIRST if is_open else _STRUCTURE
        found = SplitSchema(ends, escaped=escaped, explicit_types=False, not_first=not_first, not_text=not_text)
        _split(schema, root, found, MAX_REFERENCES)
        found.may_be_structure = True
    if found.texts:
        # If the value may be text, a number or boolean is read as text; only objects, arrays and null are recognised.
        found.schemas = [one for one in found.schemas if _structured(one)]
    return found


def _split(schema: Any, root: Mapping[str, Any], found: SplitSchema, references: int) -> None:
    """Add the alternatives of a schema; `references`: how many may still be followed."""
    if not isinstance(schema, Mapping):
        _anything(found)
        return
    target = resolved(schema, root) if references else schema
    if target is not schema:
        _split(target, root, found, references - 1)
        return
    union = next((key for key in _UNIONS if isinstance(schema.get(key), list)), None)
    if union is not None and set(schema) <= _ANNOTATIONS | {union}:
        for option in schema[union]:
            _split(option, root, found, references)
        return
    values = schema["enum"] if isinstance(schema.get("enum"), list) else None
    values = [schema["const"]] if "const" in schema else values
    declared = schema.get("type")
    kinds = [declared] if isinstance(declared, str) else declared
    if values is not None:
        words = [value for value in values if isinstance(value, str) and (kinds is None or "string" in kinds)]
        escaped = [xml_escaped(word) if found.escaped else word for word in words]
        found.texts += [Grammar.literal(word) for word in escaped if _can_be_text(word, found)]
        if any(word != word.strip() for word in words):
            found.text_edges = "shown"
        plain = {key: inner for key, inner in schema.items() if key not in ("const", "type")}
        for kind in ALSO_JSON:
            same = [value for value in values if is_of_type(value, kind)]
            if same:
                found.schemas.append({**plain, "type": kind, "enum": same})
        return
    if not isinstance(kinds, list):
        if declared is None and any(key not in _ANNOTATIONS for key in schema):
            found.approximate = True
        _anything(found)
        if found.not_text == _BRACKET_FIRST:
            found.schemas += [{**schema, "type": kind} for kind in STRUCTURES]
        return
    if "string" in kinds:
        _add_text(schema, found)
    found.schemas += [{**schema, "type": kind} for kind in kinds if kind != "string"]


def _anything(found: SplitSchema) -> None:
    found.may_be_structure = True
    _add_text({}, found)
    if found.explicit_types:
        found.schemas += [{"type": kind} for kind in ALSO_JSON]


def _add_text(schema: Mapping[str, Any], found: SplitSchema) -> None:
    """Add text by `pattern` and lengths; other keywords of a string's schema are not enforced."""
    pattern = schema.get("pattern")
    lengths = (schema.get("minLength", 0), schema.get("maxLength", ""))
    text = _matching(pattern, lengths, found) if isinstance(pattern, str) else None
    found.approximate = found.approximate or (isinstance(pattern, str) and text is None)
    text = text or _of_lengths(lengths, found)
    if text is None:
        found.texts.append(_any_text(found.ends, escaped=found.escaped))
    else:
        found.texts.append(text.spelled(TEXT_ENTITIES) if found.escaped else text)
    # A forbidden beginning is also forbidden after whitespace.
    is_free = not isinstance(pattern, str) and lengths == (0, "")
    found.text_edges = "free" if is_free or found.text_edges == "free" else "shown"


def _of_lengths(lengths: tuple[int, int | str], found: SplitSchema) -> Grammar | None:
    """Text of these lengths that the parser reads as text; None: any text before the closer."""
    parts = []
    if found.not_first is not None:
        parts.append(f"~(#'\\s*{found.not_first.pattern}' any!)")
    if found.not_text:
        parts.append(f"~#'{found.not_text}'")
    if lengths != (0, ""):
        parts.append(f"#'(?s:.){{{lengths[0]},{lengths[1]}}}'")
    if not parts:
        return None
    first = "any!" if found.escaped else text_without(found.ends)
    return Grammar.from_ebnf(f"start ::= {' & '.join((first, *parts))} ;")


def _matching(pattern: str, lengths: tuple[int, int | str], found: SplitSchema) -> Grammar | None:
    """Such text in which a pattern matches somewhere; None: the pattern is not regular, or cannot be read."""
    unwanted = [f"\\s*{found.not_first.pattern}"] if found.not_first is not None else []
    unwanted += [f"{found.not_text}$"] if found.not_text else []
    if not found.escaped:
        unwanted += [f"[^]*{_exactly(end)}" for end in found.ends]
        unwanted += [f"[^]*{_exactly(edge)}$" for edge in joined_ends(found.ends)]
    ahead = "".join(f"(?!{one})" for one in unwanted)
    ahead += f"(?=[^]{{{lengths[0]},{lengths[1]}}}$)" if lengths != (0, "") else ""
    try:
        Grammar.from_regex(pattern, dialect="ecma")  # it must be valid without the text that is put around it
        return Grammar.from_regex(f"{ahead}[^]*(?:{pattern})[^]*", dialect="ecma")
    except GrammarError:
        return None


def _exactly(text: str) -> str:
    """A text as a regular expression."""
    return "".join(f"\\u{{{ord(char):x}}}" for char in text)


def _can_be_text(word: str, found: SplitSchema) -> bool:
    begins = found.not_first is not None and found.not_first.begins(word.lstrip())
    ends = word.strip()[:1] + ("" if found.not_text == _BRACKET_FIRST else word.strip()[-1:])
    structured = bool(found.not_text) and ends in ("{", "[", "{}", "[]")
    whole = all(min(_index(word + end, other) for other in found.ends) == len(word) for end in found.ends)
    return whole and not begins and not structured


def _index(text: str, part: str) -> int:
    """The index of a part in a text; the text's length if it is not there."""
    found = text.find(part)
    return found if found >= 0 else len(text)


def _structured(schema: Any) -> bool:
    if not isinstance(schema, Mapping):
        return False
    return schema.get("type") in ("object", "array", "null")
