"""Schemas of values that are written as raw text: what is text, and what is JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from syntagma.constraints.text import held_off, quoted
from syntagma.errors import GrammarError
from syntagma.format_schema import Notation
from syntagma.grammars import Grammar
from syntagma.json_pointer import referred
from syntagma.json_types import is_of_type

__all__ = ["NOT_TEXT", "TextValue", "any_text", "json_type", "plain_text", "resolved", "text_value"]

_HOPS = 16
_NOTES = ("title", "description", "default", "examples", "format", "$comment", "deprecated", "readOnly", "writeOnly")
NOT_TEXT = ("object", "array", "number", "boolean", "null")
"""types whose values are written as JSON, where a string is written as it is"""
_UNIONS = ("anyOf", "oneOf")
_XML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_STRUCTURE = r"\s*(?:\{[\s\S]*\}|\[[\s\S]*\])\s*"
"""what a reader may take for an object or array"""


class TextValue:
    """What a raw value may be.

    Attributes:
        text: the value as text that a reader takes for a string; None: it is no string.
        loose: the text is not held by all that the schema says.
    """

    def __init__(self, closer: str, *, escaped: bool, told: bool, not_first: str, not_json: bool) -> None:
        self.closer = closer
        self.not_first = not_first
        self.not_json = not_json
        self.escaped = escaped
        self.told = told
        self.texts: list[Grammar] = []
        self.schemas: list[Any] = []
        self.loose = False

    @property
    def text(self) -> Grammar | None:
        """The ways to write it as text, in one."""
        return Grammar.union(*self.texts) if self.texts else None

    def others(self, root: Mapping[str, Any]) -> list[Any]:
        """Schemas of what is written as JSON, with the definitions that they may refer to."""
        shared = {key: root[key] for key in ("$defs", "definitions") if key in root}
        return [{**shared, **one} if isinstance(one, Mapping) else one for one in self.schemas]


def any_text(*, closer: str, escaped: bool) -> Grammar:
    """Any text in front of `closer`; where it is escaped, its escape is the only way to say what begins a tag."""
    return Grammar.from_regex("[^<]*") if escaped else Grammar.text(closer=closer)


def plain_text(*, closer: str, notation: Notation) -> Grammar:
    """Text in front of `closer` that nobody takes for JSON, or for a literal of the notation."""
    words = (*notation.quotes, *notation.true, *notation.false, *notation.null)
    signs = "".join(f"\\u{{{ord(sign):x}}}" for sign in sorted({word[0] for word in words} - set('"tfn')))
    plain = f"""#'([^\\s\\x1c-\\x1f"{{\\[tfn0-9{signs}-](?s:.)*)?'"""
    return Grammar.from_ebnf(f"start ::= {held_off([closer])} & {plain} ;")


def json_type(schema: Any) -> str:
    """The name of the one JSON type that a schema allows."""
    if isinstance(schema, Mapping) and isinstance(schema.get("type"), str):
        return "number" if schema["type"] == "integer" else str(schema["type"])
    return "object"


def text_value(
    schema: Any, root: Mapping[str, Any], *, closer: str, escaped: bool, told: bool, not_first: str = ""
) -> TextValue:
    """Divide a value's schema.

    Args:
        schema: the value's.
        root: the schema that it is a part of.
        closer: what text may not hold.
        escaped: text is written with XML escapes.
        told: the wire says which values are text, so that no other can be taken for it.
        not_first: what text may not begin with, blanks or not.
    """
    found = TextValue(closer, escaped=escaped, told=told, not_first=not_first, not_json=False)
    _divide(schema, root, found, _HOPS)
    if found.texts and not told and any(json_type(one) in ("object", "array") for one in found.schemas):
        found = TextValue(closer, escaped=escaped, told=told, not_first=not_first, not_json=True)
        _divide(schema, root, found, _HOPS)
    if found.texts and not told:
        # Beside text, a scalar's spelling is read as text; objects, arrays and null are told by what they look like.
        found.schemas = [one for one in found.schemas if _structured(one)]
    return found


def _divide(schema: Any, root: Mapping[str, Any], found: TextValue, hops: int) -> None:
    if not isinstance(schema, Mapping):
        _anything(found)
        return
    target = resolved(schema, root) if hops else schema
    if target is not schema:
        _divide(target, root, found, hops - 1)
        return
    union = next((key for key in _UNIONS if isinstance(schema.get(key), list)), None)
    if union is not None and set(schema) <= {union, *_NOTES}:
        for option in schema[union]:
            _divide(option, root, found, hops)
        return
    values = schema["enum"] if isinstance(schema.get("enum"), list) else None
    values = [schema["const"]] if "const" in schema else values
    declared = schema.get("type")
    kinds = [declared] if isinstance(declared, str) else declared
    if values is not None:
        words = [value for value in values if isinstance(value, str) and (kinds is None or "string" in kinds)]
        spelled = [_escape(word) if found.escaped else word for word in words]
        found.texts += [Grammar.literal(word) for word in spelled if _can_be_text(word, found)]
        plain = {key: inner for key, inner in schema.items() if key not in ("const", "type")}
        for kind in NOT_TEXT:
            same = [value for value in values if is_of_type(value, kind)]
            if same:
                found.schemas.append({**plain, "type": kind, "enum": same})
        return
    if not isinstance(kinds, list):
        if declared is None and any(key not in _NOTES for key in schema):
            found.loose = True
        _anything(found)
        return
    if "string" in kinds:
        _add_text(schema, found)
    found.schemas += [{**schema, "type": kind} for kind in kinds if kind != "string"]


def _anything(found: TextValue) -> None:
    _add_text({}, found)
    if found.told:
        found.schemas += [{"type": kind} for kind in NOT_TEXT]


def _add_text(schema: Mapping[str, Any], found: TextValue) -> None:
    """Text by `pattern` and lengths; what else a string's schema may say is not held."""
    pattern = schema.get("pattern")
    lengths = (schema.get("minLength", 0), schema.get("maxLength", ""))
    text = _matching(pattern, lengths, found) if isinstance(pattern, str) else None
    found.loose = found.loose or (isinstance(pattern, str) and text is None)
    text = text or _bounded(lengths, found)
    if text is None:
        found.texts.append(any_text(closer=found.closer, escaped=found.escaped))
    else:
        found.texts.append(text.spelled(_XML) if found.escaped else text)


def _bounded(lengths: tuple[int, int | str], found: TextValue) -> Grammar | None:
    """Text of these lengths that a reader takes for text; None: nothing is asked of it but to end at its closer."""
    parts = []
    if found.not_first:
        parts.append(f"~(#'\\s*' {quoted(found.not_first)} any!)")
    if found.not_json:
        parts.append(f"~#'{_STRUCTURE}'")
    if lengths != (0, ""):
        parts.append(f"#'(?s:.){{{lengths[0]},{lengths[1]}}}'")
    if not parts:
        return None
    first = "any!" if found.escaped else held_off([found.closer])
    return Grammar.from_ebnf(f"start ::= {' & '.join((first, *parts))} ;")


def _matching(pattern: str, lengths: tuple[int, int | str], found: TextValue) -> Grammar | None:
    """Such text in which a pattern matches somewhere; None: the pattern is no regular language, or cannot be read."""
    unwanted = [f"\\s*{_exactly(found.not_first)}"] if found.not_first else []
    unwanted += [f"{_STRUCTURE}$"] if found.not_json else []
    if not found.escaped:
        closer = found.closer
        joined = [closer[:n] for n in range(1, len(closer)) if (closer[:n] + closer).startswith(closer)]
        unwanted += [f"[^]*{_exactly(closer)}", *(f"[^]*{_exactly(edge)}$" for edge in joined)]
    ahead = "".join(f"(?!{one})" for one in unwanted)
    ahead += f"(?=[^]{{{lengths[0]},{lengths[1]}}}$)" if lengths != (0, "") else ""
    try:
        Grammar.from_regex(pattern, dialect="ecma")  # a pattern of its own, whatever stands around it
        return Grammar.from_regex(f"{ahead}[^]*(?:{pattern})[^]*", dialect="ecma")
    except GrammarError:
        return None


def _exactly(text: str) -> str:
    """A text as a pattern."""
    return "".join(f"\\u{{{ord(char):x}}}" for char in text)


def _can_be_text(word: str, found: TextValue) -> bool:
    begins = bool(found.not_first) and word.lstrip().startswith(found.not_first)
    structured = found.not_json and (word.strip()[:1] + word.strip()[-1:]) in ("{}", "[]")
    return (word + found.closer).find(found.closer) == len(word) and not begins and not structured


def _escape(word: str) -> str:
    return word.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _structured(schema: Any) -> bool:
    if not isinstance(schema, Mapping):
        return False
    return schema.get("type") in ("object", "array", "null")


def resolved(schema: Any, root: Mapping[str, Any]) -> Any:
    """What a schema refers to, if it is a reference that leads somewhere; else itself."""
    for _ in range(_HOPS):
        try:
            schema = referred(schema.get("$ref") if isinstance(schema, Mapping) else None, root)
        except LookupError:
            break
    return schema
