"""Options of JSON Schemas: whitespace, the order of properties, the version, the notation of values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from syntagma.answer_types import JsonType, is_answer_type, schema_of
from syntagma.errors import ArgumentError, ArgumentTypeError

__all__ = ["Draft", "Order", "SchemaOptions", "Spacing", "ValueNotation", "Whitespace", "schema_options", "schema_text"]

Whitespace: TypeAlias = Literal["flexible", "compact"]
Order: TypeAlias = Literal["declared", "any"]
Draft: TypeAlias = Literal["draft-04", "draft-06", "draft-07", "2019-09", "2020-12"]

_DRAFTS: dict[str, int] = {"draft-04": 4, "draft-06": 6, "draft-07": 7, "2019-09": 2019, "2020-12": 2020}


class ValueNotation(msgspec.Struct, frozen=True, kw_only=True):
    """How values are spelled where that is not JSON.

    Attributes:
        quote: around strings: one of `"`, `'` and the backtick, with backslash escapes; or a longer marker, which no
            string holds, without any escapes.
        bare_keys: keys of ASCII letters, digits, `_`, `-`, `.` and `$` stand without quotes.
        true, false, null: words of ASCII letters and digits.
    """

    quote: str = '"'
    bare_keys: bool = False
    true: str = "true"
    false: str = "false"
    null: str = "null"


class Spacing(NamedTuple):
    """Where whitespace stands, as `Grammar.from_json_schema` takes it; at most one of the four asks for anything."""

    whitespace: str | None
    pattern: str | None
    separators: tuple[str, str] | None
    indent: int | None


class SchemaOptions(msgspec.Struct, frozen=True):
    """Options as the core takes them, attribute by attribute.

    Attributes:
        allow_widened: whether a grammar may enforce less than the schema says.
        any_order: whether properties may come in any order.
        whitespace: `flexible` or `compact`; None: as the schema's `x-guidance` says, else flexible.
        indent: spaces for each level, a line for each item.
        separators: the exact comma and colon, with their whitespace.
        whitespace_pattern: what may stand before a word.
        draft: 4, 6, 7, 2019 or 2020; None: as the schema says.
        notation: how values are spelled; None: as JSON.
        resources: schemas that references may lead to: (URI, JSON text).
    """

    allow_widened: bool
    any_order: bool
    whitespace: str | None
    indent: int | None
    separators: tuple[str, str] | None
    whitespace_pattern: str | None
    draft: int | None
    notation: ValueNotation | None
    resources: tuple[tuple[str, str], ...] = ()


def schema_options(
    spacing: Spacing,
    *,
    allow_widened: bool,
    order: str,
    draft: str | None,
    notation: ValueNotation | None,
    resources: Mapping[str, dict[str, Any] | bool | str] | None = None,
) -> SchemaOptions:
    """Check the options of `Grammar.from_json_schema`.

    Raises:
        ArgumentError: `E-SCHEMA-OPTION`, a value that is not known, or two styles of whitespace at once.
    """
    whitespace, whitespace_pattern, separators, indent = spacing
    for name, given, known in (
        ("order", order, ("declared", "any")),
        ("whitespace", whitespace, (None, "flexible", "compact")),
        ("draft", draft, (None, *_DRAFTS)),
    ):
        if given not in known:
            hint = "known: " + ", ".join(f'"{value}"' for value in known if value is not None)
            raise ArgumentError("E-SCHEMA-OPTION", f"{name} {given!r} is not known", hint=hint)
    styles = {"whitespace_pattern": whitespace_pattern, "separators": separators, "indent": indent}
    asked = [name for name, value in styles.items() if value is not None]
    if len(asked) > 1 or (asked and whitespace == "compact"):
        raise ArgumentError(
            "E-SCHEMA-OPTION",
            "whitespace is asked for in more than one way",
            hint="give one of: whitespace, whitespace_pattern, separators, indent",
        )
    if indent is not None and not 0 <= indent <= 16:
        raise ArgumentError("E-SCHEMA-OPTION", f"indent is 0 to 16 spaces, not {indent}")
    if separators is not None and (len(separators) != 2 or not all(isinstance(part, str) for part in separators)):
        raise ArgumentError("E-SCHEMA-OPTION", "separators are two texts, as json.dumps takes them")
    return SchemaOptions(
        allow_widened=allow_widened,
        any_order=order == "any",
        whitespace=whitespace,
        indent=indent,
        separators=None if separators is None else (separators[0], separators[1]),
        whitespace_pattern=whitespace_pattern,
        draft=None if draft is None else _DRAFTS[draft],
        notation=notation,
        resources=tuple((uri, schema_text(resource)) for uri, resource in (resources or {}).items()),
    )


def schema_text(schema: Mapping[str, Any] | type[Any] | JsonType | bool | str) -> str:
    """A schema, or that of a type, as JSON text.

    Raises:
        ArgumentError: `E-SCHEMA-INVALID`, it is no JSON.
        ArgumentTypeError: `E-SCHEMA-TYPE`, it is no schema, or a type that has none.
    """
    if isinstance(schema, str):
        return schema
    if is_answer_type(schema):
        schema = schema_of(schema)
    if not isinstance(schema, dict | bool):
        raise ArgumentTypeError(
            "E-SCHEMA-TYPE", f"a schema is a dict, a bool, JSON text or a type, not {type(schema).__name__}"
        )
    try:
        return json.dumps(schema, ensure_ascii=False, allow_nan=False)
    except RecursionError as error:
        raise ArgumentError("E-SCHEMA-INVALID", "the schema contains itself or is nested too deeply") from error
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            "E-SCHEMA-INVALID", f"the schema is not JSON: {error}", hint="NaN, infinities and Python objects are not"
        ) from error
