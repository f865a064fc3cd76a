"""`response_format`: the constraint on the content of an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, cast, get_args

import msgspec

from syntagma.answer_types import JsonType, is_answer_type, schema_of
from syntagma.errors import RequestError
from syntagma.json_types import CONSTRAINTS, JSON_TYPES

__all__ = ["GrammarSyntax", "ResponseFormat", "ResponseKind", "asked_format", "read_response_format"]

ResponseKind: TypeAlias = Literal["text", "object", "schema", "grammar", "choice", "structural_tag"]
GrammarSyntax: TypeAlias = Literal["auto", "ebnf", "gbnf", "xgrammar", "lark", "regex"]
"""the language of a grammar's text; `auto`: detected from the text"""


class ResponseFormat(msgspec.Struct, frozen=True, kw_only=True):
    """The constraint on the content.

    Attributes:
        kind: what the content must be. `text`: any text; `object`: a JSON object; `schema`: JSON that matches `schema`;
            `grammar`: text that matches `grammar`; `choice`: one of `choices`; `structural_tag`: text that matches
            `tag`.
        schema: the JSON Schema, for kind `schema`.
        tag: the structural tag, for kind `structural_tag`.
        grammar: the text of the grammar, for kind `grammar`.
        syntax: the language of `grammar`.
        start: the start rule of `grammar`; None: the language's default.
        choices: the texts, at least one, for kind `choice`.
        strict: reject a schema that a grammar can only approximate.
        pointer: place of the schema or grammar in the request.
        answer_type: the type of Python that `schema` is of, which `Message.parsed` becomes; None: plain JSON.
    """

    kind: ResponseKind = "text"
    schema: Any = None
    grammar: str = ""
    syntax: GrammarSyntax = "auto"
    start: str | None = None
    choices: tuple[str, ...] = ()
    tag: Mapping[str, Any] | None = None
    strict: bool = False
    pointer: str = ""
    answer_type: Any = None

    @property
    def is_text(self) -> bool:
        """Whether the content may be any text."""
        return self.kind == "text"

    @property
    def is_json(self) -> bool:
        """Whether the content is one JSON value."""
        return self.kind in ("object", "schema")


_TEXT: Final = ResponseFormat()
_TYPES: Final = ("text", "json_object", "json_schema", "regex", "choice", "grammar", "structural_tag")
_SYNTAXES: Final[tuple[str, ...]] = get_args(GrammarSyntax)


def read_response_format(value: Mapping[str, Any] | ResponseFormat | None) -> ResponseFormat:
    """Read a `response_format`: OpenAI's types, and types for a pattern, a choice or a grammar.

    | `type` | further members |
    |---|---|
    | `text` | – |
    | `json_object` | `schema`, optional |
    | `json_schema` | `json_schema`: `{"schema": …, "strict": …}`; or `schema` |
    | `regex` | `regex`: a pattern that the whole content must match |
    | `choice` | `choice`: a list of texts, one of which the content must be |
    | `grammar` | `grammar`: its text, or `{"syntax": …, "definition": text}`; optional `syntax` and `start` |
    | `structural_tag` | `format`, or `structures` and `triggers` |

    A schema may also be JSON text. `syntax` is `ebnf`, `gbnf`, `xgrammar`, `lark`, `regex`, or `auto`, the default:
    detected by `Grammar.from_text`. A `ResponseFormat` is returned unchanged.

    Raises:
        RequestError: `E-REQUEST-RESPONSE-FORMAT`, the value is invalid; `pointer` names the part.
    """
    if value is None:
        return _TEXT
    if isinstance(value, ResponseFormat):
        return value
    if not isinstance(value, Mapping):
        raise _bad_format("must be an object", "")
    match value.get("type"):
        case "text":
            return _TEXT
        case "json_object":
            return ResponseFormat(kind="object") if value.get("schema") is None else _schema(value, "/schema")
        case "json_schema":
            inner = value.get("json_schema")
            return _schema(inner, "/json_schema/schema") if isinstance(inner, Mapping) else _schema(value, "/schema")
        case "regex":
            pattern = _text(value.get("regex"), "a pattern", "/regex")
            return ResponseFormat(kind="grammar", grammar=pattern, syntax="regex", pointer="/response_format/regex")
        case "choice":
            return _choice(value.get("choice"))
        case "grammar":
            return _grammar(value)
        case "structural_tag":
            if not {"format", "structures", "structural_tag"} & value.keys():
                raise _bad_format("is required in a structural tag", "/format")
            return ResponseFormat(kind="structural_tag", tag=value, pointer="/response_format")
        case None:
            raise _bad_format("is required", "/type", hint=f"it is one of {', '.join(_TYPES)}")
        case unknown:
            raise _bad_format(f"unknown type {unknown!r}", "/type", hint=f"one of {', '.join(_TYPES)}")


def asked_format(value: Mapping[str, Any] | type[Any] | JsonType | ResponseFormat | None) -> ResponseFormat:
    """The response format that a caller in Python asks for: as `read_response_format` reads it, a schema, or a type.

    A mapping whose `type` is one of JSON Schema's, or that has no `type` but another keyword of JSON Schema, is a
    schema. A type is a class or an adapter of pydantic, a dataclass, a TypedDict, or any other that msgspec knows.

    Raises:
        RequestError: `E-REQUEST-RESPONSE-FORMAT`, the value is invalid.
        ArgumentTypeError: `E-SCHEMA-TYPE`, the type has no JSON Schema.
    """
    if isinstance(value, Mapping):
        kind = value.get("type")
        is_schema = isinstance(kind, list) or kind in JSON_TYPES or (kind is None and not CONSTRAINTS.isdisjoint(value))
        if is_schema:
            return ResponseFormat(kind="schema", schema=value, pointer="/response_format")
    elif is_answer_type(value):
        schema = schema_of(value)
        return ResponseFormat(kind="schema", schema=schema, pointer="/response_format", answer_type=value)
    return read_response_format(cast("Mapping[str, Any] | ResponseFormat | None", value))


def _choice(choices: Any) -> ResponseFormat:
    if isinstance(choices, str) or not isinstance(choices, Sequence) or not choices:
        raise _bad_format("must be a list of at least one text", "/choice")
    texts = tuple(_text(one, "one of the choices", f"/choice/{index}") for index, one in enumerate(choices))
    return ResponseFormat(kind="choice", choices=texts, pointer="/response_format/choice")


def _grammar(holder: Mapping[str, Any]) -> ResponseFormat:
    inner = holder.get("grammar")
    pointer, name = "", "grammar"
    if isinstance(inner, Mapping):
        holder, pointer, name = inner, "/grammar", "definition"
    grammar = _text(holder.get(name), "a grammar", f"{pointer}/{name}")
    syntax = holder.get("syntax")
    if syntax is not None and syntax not in _SYNTAXES:
        hint = f"one of {', '.join(_SYNTAXES)}"
        raise _bad_format(f"unknown syntax {syntax!r}", f"{pointer}/syntax", hint=hint)
    start = holder.get("start")
    return ResponseFormat(
        kind="grammar",
        grammar=grammar,
        syntax=cast("GrammarSyntax", syntax or "auto"),
        start=None if start is None else _text(start, "the name of a rule", f"{pointer}/start"),
        pointer=f"/response_format{pointer}/{name}",
    )


def _schema(holder: Mapping[str, Any], pointer: str) -> ResponseFormat:
    schema = holder.get("schema")
    if isinstance(schema, str):
        try:
            schema = msgspec.json.decode(schema)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
            raise _bad_format(f"must be a schema, as JSON text: {error}", pointer) from None
    if not isinstance(schema, Mapping | bool):
        raise _bad_format("must be a schema: an object, true or false, or one of these as JSON text", pointer)
    return ResponseFormat(
        kind="schema", schema=schema, strict=holder.get("strict") is True, pointer=f"/response_format{pointer}"
    )


def _text(value: Any, what: str, pointer: str) -> str:
    if not isinstance(value, str):
        raise _bad_format(f"must be {what}, as text", pointer)
    return value


def _bad_format(message: str, pointer: str, hint: str | None = None) -> RequestError:
    return RequestError("E-REQUEST-RESPONSE-FORMAT", message, pointer=f"/response_format{pointer}", hint=hint)
