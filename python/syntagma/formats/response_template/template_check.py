"""The shape of a response template of version 1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from syntagma.errors import FormatError
from syntagma.json_pointer import pointer_of

__all__ = ["check_template"]

_TEMPLATE_KEYS = {"version", "defaults", "fields", "start_anchor", "start_anchor_pattern"}
_FIELD_KEYS = {
    "open",
    "open_pattern",
    "close",
    "close_pattern",
    "content",
    "content_args",
    "repeats",
    "join",
    "optional",
    "transform",
    "transform_each",
}


def check_template(template: Mapping[str, Any]) -> None:
    """Refuse a value that is not a template of version 1.

    Raises:
        FormatError: `E-FORMAT-RESPONSE-TEMPLATE`, with the pointer.
    """
    if not isinstance(template, Mapping):
        _refuse("", f"a response template must be a mapping, not {type(template).__name__}")
    if template.get("version", 1) != 1:
        _refuse("/version", f"must be 1, not {template['version']!r}")
    for key in template.keys() - _TEMPLATE_KEYS:
        _refuse(pointer_of(key), "unknown key")
    if not isinstance(template.get("defaults", {}), Mapping):
        _refuse("/defaults", "must be a mapping")
    fields = template.get("fields")
    if not isinstance(fields, Mapping) or not fields:
        _refuse("/fields", "must be a mapping with at least one field")
    _check_anchor(template, "start_anchor", "")
    for name, field in fields.items():
        pointer = pointer_of("fields", name)
        if not isinstance(field, Mapping):
            _refuse(pointer, "must be a mapping")
        for key in field.keys() - _FIELD_KEYS:
            _refuse(pointer + pointer_of(key), "unknown key")
        for side in ("open", "close"):
            _check_anchor(field, side, pointer)
        options = field.get("content_args")
        if options is not None and not isinstance(options, Mapping):
            _refuse(f"{pointer}/content_args", "must be a mapping")
        _check_options(options or {}, f"{pointer}/content_args")


def _check_options(options: Mapping[str, Any], pointer: str) -> None:
    for key in ("tag_pattern", "line_sep", "kv_sep"):
        if not isinstance(options.get(key, ""), str):
            _refuse(f"{pointer}/{key}", "must be a string")
    if not isinstance(options.get("value_parser") or {}, Mapping):
        _refuse(f"{pointer}/value_parser", "must be a mapping")
    marks = options.get("string_delims", [])
    pairs = marks if isinstance(marks, list) else [None]
    if not all(isinstance(p, list | tuple) and len(p) == 2 and all(isinstance(m, str) and m for m in p) for p in pairs):
        _refuse(f"{pointer}/string_delims", "must be a list of pairs of strings, none empty")


def _check_anchor(table: Mapping[str, Any], key: str, pointer: str) -> None:
    literal, expression = table.get(key), table.get(f"{key}_pattern")
    if literal is not None and expression is not None:
        _refuse(f"{pointer}/{key}", f"{key} and {key}_pattern exclude each other")
    texts = literal if isinstance(literal, list) else [literal]
    if literal is not None and (not texts or not all(isinstance(text, str) and text for text in texts)):
        _refuse(f"{pointer}/{key}", "must be a string or a list of strings, none empty")
    if expression is not None and not isinstance(expression, str):
        _refuse(f"{pointer}/{key}_pattern", "must be a regular expression")


def _refuse(pointer: str, message: str) -> NoReturn:
    raise FormatError(
        "E-FORMAT-RESPONSE-TEMPLATE", message, pointer=pointer, hint="expected a response template of version 1"
    )
