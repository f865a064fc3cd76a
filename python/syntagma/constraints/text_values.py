"""Schemas of values that are written as raw text: what is text, and what is JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from syntagma.constraints.text import quoted
from syntagma.grammars import Grammar

__all__ = ["TextValue", "text_value"]

_HOPS = 16
_NOTES = ("title", "description", "default", "examples", "format", "$comment", "deprecated", "readOnly", "writeOnly")
_UNIONS = ("anyOf", "oneOf")


class TextValue:
    """What a raw value may be.

    Attributes:
        text: the value as text that a reader takes for a string; None: it is no string.
        loose: the text is not held by all that the schema says.
    """

    def __init__(self) -> None:
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


def text_value(schema: Any, root: Mapping[str, Any], *, closer: str) -> TextValue:
    """Divide a value's schema; `closer` is what text may not hold."""
    found = TextValue()
    _divide(schema, root, closer, found, _HOPS)
    if found.texts:
        # Beside text, a scalar's spelling is read as text; objects, arrays and null are told by what they look like.
        found.schemas = [one for one in found.schemas if _structured(one)]
    return found


def _divide(schema: Any, root: Mapping[str, Any], closer: str, found: TextValue, hops: int) -> None:
    if not isinstance(schema, Mapping):
        _add_text({}, closer, found)
        return
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/") and hops:
        target = _resolve(reference, root)
        if target is not None:
            _divide(target, root, closer, found, hops - 1)
            return
    union = next((key for key in _UNIONS if isinstance(schema.get(key), list)), None)
    if union is not None and set(schema) <= {union, *_NOTES}:
        for option in schema[union]:
            _divide(option, root, closer, found, hops)
        return
    values = schema["enum"] if isinstance(schema.get("enum"), list) else None
    values = [schema["const"]] if "const" in schema else values
    declared = schema.get("type")
    kinds = [declared] if isinstance(declared, str) else declared
    if values is not None:
        words = [value for value in values if isinstance(value, str) and (kinds is None or "string" in kinds)]
        found.texts += [Grammar.literal(word) for word in words if closer not in word]
        if len(words) < len(values):
            found.schemas.append({**schema, "enum": [value for value in values if not isinstance(value, str)]})
            found.schemas[-1].pop("const", None)
        return
    if not isinstance(kinds, list):
        if declared is None and any(key not in _NOTES for key in schema):
            found.loose = True
        _add_text({}, closer, found)
        return
    if "string" in kinds:
        _add_text(schema, closer, found)
    found.schemas += [{**schema, "type": kind} for kind in kinds if kind != "string"]


def _add_text(schema: Mapping[str, Any], closer: str, found: TextValue) -> None:
    """Text by `pattern` and lengths; what else a string's schema may say is not held."""
    parts = [f"except!({quoted(closer)})"]
    low, high = schema.get("minLength", 0), schema.get("maxLength", "")
    if low or high != "":
        parts.append(f"#'(?s:.){{{low},{high}}}'")
    pattern = schema.get("pattern")
    if isinstance(pattern, str):
        inner = pattern.removeprefix("^").removesuffix("$")
        plain = pattern.startswith("^") and pattern.endswith("$") and "|" not in inner and not inner.endswith("\\")
        if plain and "'" not in inner:
            parts.append(f"#'{inner}'")
        else:
            found.loose = True
    if len(parts) == 1:
        found.texts.append(Grammar.text(closer=closer))
    else:
        found.texts.append(Grammar.from_ebnf(f"start ::= {' & '.join(parts)} ;"))


def _structured(schema: Any) -> bool:
    if not isinstance(schema, Mapping):
        return False
    if "enum" in schema:
        return all(value is None or isinstance(value, Mapping | list) for value in schema["enum"])
    return schema.get("type") in ("object", "array", "null")


def _resolve(reference: str, root: Mapping[str, Any]) -> Any:
    at: Any = root
    for part in reference[2:].split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(at, Mapping) or key not in at:
            return None
        at = at[key]
    return at
