"""`response_format`: what the content of an answer must be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from syntagma.errors import RequestError

__all__ = ["ResponseFormat", "ResponseKind", "read_response_format"]

ResponseKind: TypeAlias = Literal["text", "object", "schema", "grammar", "structural_tag"]


class ResponseFormat(msgspec.Struct, frozen=True, kw_only=True):
    """What the content must be.

    Attributes:
        kind: `text`: anything; `object`: a JSON object; `schema`: JSON by `schema`; `grammar`: by `grammar`;
            `structural_tag`: by `tag`.
        schema: JSON Schema, for kind `schema`.
        tag: the structural tag, for kind `structural_tag`.
        grammar: its text, in any notation that the text tells, for kind `grammar`.
        strict: refuse a schema that a grammar can only approximate.
        pointer: where the schema or grammar stands in the request.
    """

    kind: ResponseKind = "text"
    schema: Any = None
    grammar: str = ""
    tag: Mapping[str, Any] | None = None
    strict: bool = False
    pointer: str = ""

    @property
    def is_text(self) -> bool:
        """Whether the content may be any text."""
        return self.kind == "text"

    @property
    def is_json(self) -> bool:
        """Whether the content is one JSON value."""
        return self.kind in ("object", "schema")


_TEXT = ResponseFormat()


def read_response_format(value: Mapping[str, Any] | None) -> ResponseFormat:
    """Read OpenAI's `response_format`, `{"type": "grammar", "grammar": text}`, and structural tags.

    A schema may be given as JSON text, too; a grammar may be in any notation that `Grammar.from_text` tells by itself.

    Raises:
        RequestError: `E-REQUEST-RESPONSE-FORMAT`, with the pointer of what is wrong.
    """
    if value is None:
        return _TEXT
    if not isinstance(value, Mapping):
        raise _bad_format("a response format is an object", "")
    kind = value.get("type")
    if kind == "text":
        return _TEXT
    if kind == "json_object":
        if value.get("schema") is None:
            return ResponseFormat(kind="object")
        return _schema(value, "/schema")
    if kind == "json_schema":
        inner = value.get("json_schema")
        if isinstance(inner, Mapping):
            return _schema(inner, "/json_schema/schema")
        return _schema(value, "/schema")
    if kind == "grammar":
        grammar = value.get("grammar")
        if not isinstance(grammar, str):
            raise _bad_format("a grammar is text", "/grammar")
        return ResponseFormat(kind="grammar", grammar=grammar, pointer="/response_format/grammar")
    if kind == "structural_tag":
        if not {"format", "structures", "structural_tag"} & value.keys():
            raise _bad_format("a structural tag has a format", "/format")
        return ResponseFormat(kind="structural_tag", tag=value, pointer="/response_format")
    raise _bad_format(f"unknown type {kind!r}", "/type")


def _schema(holder: Mapping[str, Any], pointer: str) -> ResponseFormat:
    schema = holder.get("schema")
    if isinstance(schema, str):
        try:
            schema = msgspec.json.decode(schema)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
            raise _bad_format(f"a schema that is given as text is JSON: {error}", pointer) from None
    if not isinstance(schema, Mapping | bool):
        raise _bad_format("a schema is an object, true or false, or one of these as JSON text", pointer)
    return ResponseFormat(
        kind="schema", schema=schema, strict=holder.get("strict") is True, pointer=f"/response_format{pointer}"
    )


def _bad_format(message: str, pointer: str) -> RequestError:
    return RequestError("E-REQUEST-RESPONSE-FORMAT", message, pointer=f"/response_format{pointer}")
