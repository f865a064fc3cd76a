"""`FormatSpec` → TOML. Defaults are left out; what it prints reads back equal."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from syntagma.format_schema.envelope import Envelope
from syntagma.format_schema.pattern import Pattern
from syntagma.format_schema.spec import FormatSpec, Notation

__all__ = ["write_toml"]


def write_toml(spec: FormatSpec) -> str:
    """The format as a TOML file, inheritance resolved."""
    lines: list[str] = []
    for key in ("aliases", "anchor", "end_of_turn"):
        lines += _line(key, getattr(spec, key), spec)
    for part in ("reasoning", "content", "tools", "messages"):
        value = getattr(spec, part)
        if value is not None:
            lines += _table(f"[{part}]", value)
    return "\n".join(lines).lstrip("\n") + "\n"


def _table(header: str, part: msgspec.Struct) -> list[str]:
    lines = ["", header]
    for field in msgspec.structs.fields(part):
        if field.name != "also":
            lines += _line(field.name, getattr(part, field.name), part)
    for further in getattr(part, "also", ()):
        lines += ["", "[[tools.also]]"]
        for field in msgspec.structs.fields(further):
            lines += _further_line(field.name, getattr(further, field.name), part)
    return lines


def _further_line(key: str, value: Any, first: msgspec.Struct) -> list[str]:
    """A key of a further form: it inherits the first form's keys, so a default is said where the first has none."""
    own = _line(key, value, first)
    inherits = key not in ("also", "item", "literals") and getattr(first, key) != value
    return own or ([f"{key} = {_value(value)}"] if inherits else [])


def _line(key: str, value: Any, owner: msgspec.Struct) -> list[str]:
    field = next(f for f in msgspec.structs.fields(owner) if f.name == key)
    default = field.default if field.default is not msgspec.NODEFAULT else None
    if field.default_factory is not msgspec.NODEFAULT:
        default = field.default_factory()
    if value == default or value in ((), None):
        return []
    return [f"{key} = {_value(value)}"]


def _value(value: Any) -> str:
    if isinstance(value, Notation):
        set_fields = {
            f.name: getattr(value, f.name) for f in msgspec.structs.fields(value) if getattr(value, f.name) != f.default
        }
        return _value({name: list(v) if isinstance(v, tuple) else v for name, v in set_fields.items()})
    if isinstance(value, Pattern):
        return _value(value.text)
    if isinstance(value, Envelope):
        return _value(value.pattern.text)
    if isinstance(value, tuple) and len(value) == 1 and isinstance(value[0], Pattern | Envelope):
        return _value(value[0])
    if isinstance(value, tuple | list):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    if isinstance(value, frozenset):
        return _value(sorted(value))
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, bool):
        return "true" if value else "false"
    # TOML's basic strings are JSON strings, but for the delete character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(key: str) -> str:
    plain = key.replace("_", "").replace("-", "")
    return key if plain.isascii() and plain.isalnum() else json.dumps(key, ensure_ascii=False)
