"""The fields of a request that constrain the answer: OpenAI's, and those of vLLM, SGLang and llama.cpp.

| field | API | constrains the answer to |
|---|---|---|
| `response_format` | OpenAI | see `syntagma.request.read_response_format` |
| `structured_outputs` | vLLM | one of `json`, `regex`, `choice`, `grammar`, `json_object`, `structural_tag` |
| `guided_json`, `guided_regex`, `guided_choice`, `guided_grammar` | older vLLM | the same |
| `json_schema`, `regex`, `ebnf`, `structural_tag` | SGLang | a schema, also as JSON text; a pattern; a grammar; a tag |
| `grammar`, `json_schema` | llama.cpp | a grammar; a schema |

A request may have one of them; two are refused. A schema in another field than `response_format` is enforced exactly or
refused. A grammar may be in any notation that can be recognised from its text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from syntagma.errors import RequestError
from syntagma.request import ResponseFormat, read_response_format
from syntagma.serving.body import bad_field
from syntagma.serving.errors import param_of
from syntagma.serving.sampling_fields import SamplingFields

__all__ = [
    "ConstraintFields",
    "StructuredOutputs",
    "response_format_at",
    "response_format_beside",
    "response_format_of",
]


class StructuredOutputs(msgspec.Struct, kw_only=True):
    """vLLM's object: exactly one of its fields is given."""

    json: dict[str, Any] | str | bool | None = None
    regex: str | None = None
    choice: list[str] | None = None
    grammar: str | None = None
    json_object: bool | None = None
    structural_tag: dict[str, Any] | str | None = None


class ConstraintFields(SamplingFields, kw_only=True):
    """The fields that constrain the answer, with those of sampling; null counts as absent."""

    response_format: dict[str, Any] | None = None
    structured_outputs: StructuredOutputs | None = None
    guided_json: dict[str, Any] | str | bool | None = None
    guided_regex: str | None = None
    guided_choice: list[str] | None = None
    guided_grammar: str | None = None
    json_schema: dict[str, Any] | str | bool | None = None
    regex: str | None = None
    ebnf: str | None = None
    grammar: str | None = None
    structural_tag: dict[str, Any] | str | None = None


# Field → the type of response format that it is short for, and the key of its value there.
_SHORT: Mapping[str, tuple[str, str]] = {
    "/structured_outputs/json": ("json_schema", "schema"),
    "/structured_outputs/regex": ("regex", "regex"),
    "/structured_outputs/choice": ("choice", "choice"),
    "/structured_outputs/grammar": ("grammar", "grammar"),
    "/structured_outputs/structural_tag": ("structural_tag", ""),
    "/guided_json": ("json_schema", "schema"),
    "/guided_regex": ("regex", "regex"),
    "/guided_choice": ("choice", "choice"),
    "/guided_grammar": ("grammar", "grammar"),
    "/json_schema": ("json_schema", "schema"),
    "/regex": ("regex", "regex"),
    "/ebnf": ("grammar", "grammar"),
    "/grammar": ("grammar", "grammar"),
    "/structural_tag": ("structural_tag", ""),
}


def response_format_of(fields: ConstraintFields) -> ResponseFormat:
    """The response format that the fields ask for.

    Raises:
        RequestError: `E-REQUEST-RESPONSE-FORMAT`, with the pointer of the fault; `E-REQUEST-FIELD`, there are two.
    """
    asked: list[tuple[str, Any]] = []
    if fields.response_format is not None and fields.response_format.get("type") != "text":
        asked.append(("/response_format", fields.response_format))
    outputs = fields.structured_outputs
    if outputs is not None and outputs.json_object:
        asked.append(("/structured_outputs/json_object", {"type": "json_object"}))
    for pointer in _SHORT:
        holder, _, name = pointer.removeprefix("/").rpartition("/")
        value = getattr(outputs if holder else fields, name, None)
        if value is not None:
            asked.append((pointer, value))
    if len(asked) > 1:
        raise bad_field(asked[1][0], _beside(asked[0][0]))
    return _read(*asked[0]) if asked else read_response_format(None)


def _read(pointer: str, value: Any) -> ResponseFormat:
    if pointer not in _SHORT:
        return read_response_format(value)
    kind, key = _SHORT[pointer]
    written = {key: value, "strict": True} if key else _tag(pointer, value)
    return response_format_at(pointer, {**written, "type": kind}, f"/{key}" if key else "")


def response_format_at(pointer: str, value: Mapping[str, Any], inside: str = "") -> ResponseFormat:
    """A response format at any place of a request.

    Args:
        pointer: the pointer of the field.
        value: its content as a response format.
        inside: the pointer within `value` of the part that the field holds.

    Raises:
        RequestError: `E-REQUEST-RESPONSE-FORMAT`.
    """
    place = f"/response_format{inside}"
    try:
        read = read_response_format(value)
    except RequestError as error:
        error.pointer = (error.pointer or place).replace(place, pointer, 1)
        raise
    return msgspec.structs.replace(read, pointer=read.pointer.replace(place, pointer, 1))


def response_format_beside(pointer: str, value: Mapping[str, Any] | None, fields: ConstraintFields) -> ResponseFormat:
    """The response format of a request to an endpoint that has a field of its own for it.

    Args:
        pointer: the pointer of that field.
        value: its value; None: it is not given.
        fields: the fields that every endpoint has.

    Raises:
        RequestError: as `response_format_of`.
    """
    shared = response_format_of(fields)
    own = None if value is None else response_format_at(pointer, value)
    if own is None or own.is_text:
        return shared
    if not shared.is_text:
        raise bad_field(shared.pointer or "/response_format", _beside(pointer))
    return own


def _beside(pointer: str) -> str:
    return f"must not stand beside {param_of(pointer)}, which holds the answer already"


def _tag(pointer: str, value: Any) -> Mapping[str, Any]:
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
            raise bad_field(pointer, f"must be an object, or one as JSON text: {error}") from None
    if not isinstance(value, Mapping):
        raise bad_field(pointer, "must be an object")
    return value
