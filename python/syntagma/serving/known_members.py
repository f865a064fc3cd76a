"""The members that are read of objects which no struct describes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from syntagma.json_pointer import pointer_of

__all__ = ["CONSTRAINTS", "FUNCTIONS", "RESPONSE_FORMAT", "TOOLS", "TOOL_CHOICE", "Shape", "unknown_members"]

Shape: TypeAlias = Any
"""None: all of a value is read. A mapping: an object, with the shape of each member that is read. A list of one shape:
a list of such values. A tuple: an object of one of several shapes; the one that knows most of its members counts.
`OfType`: depends on its `type`."""


class OfType(NamedTuple):
    """Objects whose shape depends on their `type`; an unknown type is refused elsewhere, or read in full."""

    kinds: Mapping[str | None, Shape]


_FUNCTION: Final = dict.fromkeys(("name", "description", "parameters", "strict"))
_SYNTAX: Final = dict.fromkeys(("syntax", "definition"))
_INPUT_FORMAT: Final = ({"type": None}, {"type": None, "grammar": _SYNTAX}, {"type": None, **_SYNTAX})
_CUSTOM: Final = {"name": None, "description": None, "format": _INPUT_FORMAT}

FUNCTIONS: Final[Shape] = [_FUNCTION]

_TOOL: Final = (
    {"type": None, "function": _FUNCTION},
    {"type": None, "custom": _CUSTOM},
    {"type": None, **_FUNCTION},
    {"type": None, **_CUSTOM},
)
# Tools of other types are left out and named as a whole.
_KINDS: Final = dict.fromkeys((None, "function", "custom"), _TOOL)
_NAMESPACE: Final = {"type": None, "name": None, "tools": [OfType(_KINDS)]}
TOOLS: Final[Shape] = [OfType({**_KINDS, "namespace": _NAMESPACE})]

_NAMED: Final = (
    {"type": None, "name": None, "namespace": None},
    *({"type": None, kind: {"name": None}} for kind in ("function", "custom")),
)
_ALLOWED: Final = {"mode": None, "tools": [_NAMED]}
TOOL_CHOICE: Final[Shape] = (*_NAMED, {"type": None, **_ALLOWED}, {"type": None, "allowed_tools": _ALLOWED})

_SCHEMA: Final = dict.fromkeys(("name", "description", "schema", "strict"))
_STRUCTURES: Final = {"structures": [dict.fromkeys(("begin", "schema", "end"))], "triggers": None}
_TAGS: Final = ({"type": None, "format": None}, {"type": None, **_STRUCTURES})
# A format may stand in place of a tag; the content of formats is read in full, or refused.
_TAG: Final = OfType(dict.fromkeys((None, "structural_tag"), (*_TAGS, {"type": None, "structural_tag": _TAGS})))
RESPONSE_FORMAT: Final[Shape] = OfType(
    {
        "text": {"type": None},
        "json_object": {"type": None, "schema": None},
        "json_schema": ({"type": None, "json_schema": _SCHEMA}, {"type": None, **_SCHEMA}),
        "regex": {"type": None, "regex": None},
        "choice": {"type": None, "choice": None},
        "grammar": (
            {"type": None, "grammar": {}, "syntax": None, "start": None},
            {"type": None, "grammar": {**_SYNTAX, "start": None}},
        ),
        "structural_tag": _TAG,
    }
)

CONSTRAINTS: Final[Mapping[str, Shape]] = {
    "/response_format": RESPONSE_FORMAT,
    "/structural_tag": _TAG,
    "/structured_outputs/structural_tag": _TAG,
}
"""the shapes of the fields that every endpoint has, by their pointers"""


def unknown_members(value: Any, shape: Shape, pointer: str) -> Iterator[str]:
    """The pointers of members that are not read.

    Args:
        value: the value in the request.
        shape: its shape.
        pointer: its pointer.
    """
    if isinstance(shape, OfType):
        kind = value.get("type") if isinstance(value, Mapping) else None
        yield from unknown_members(value, shape.kinds.get(kind) if isinstance(kind, str | None) else None, pointer)
    elif isinstance(shape, tuple):
        yield from min((_read_as(value, one, pointer) for one in shape), key=lambda read: read[:2])[2]
    elif isinstance(shape, list) and isinstance(value, list):
        for index, item in enumerate(value):
            yield from unknown_members(item, shape[0], f"{pointer}/{index}")
    elif isinstance(shape, Mapping) and isinstance(value, Mapping):
        for name, inner in value.items():
            place = pointer + pointer_of(name)
            if name in shape:
                yield from unknown_members(inner, shape[name], place)
            else:
                yield place


def _read_as(value: Any, shape: Mapping[str, Shape], pointer: str) -> tuple[int, int, list[str]]:
    """For one shape of an object: the number of its own unread members, of those at any depth, and their pointers."""
    unknown = list(unknown_members(value, shape, pointer))
    return len(value.keys() - shape.keys()) if isinstance(value, Mapping) else 0, len(unknown), unknown
