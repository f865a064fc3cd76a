"""The position of a parser in a message: the field and its schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from syntagma.json_pointer import pointer_of, referred, steps_of
from syntagma.messages import Message, Tool
from syntagma.parsing.json_places import JsonPlaces
from syntagma.parsing.states import ReadingNow

__all__ = ["ParserPlace", "place_of"]

_MAX_STEPS = 64


class ParserPlace(msgspec.Struct, frozen=True, kw_only=True):
    """The position of a parser.

    Attributes:
        state: what is being read, as in `StreamParser.state`.
        pointer: JSON pointer of the message's field that the next character belongs to, as far as it is certain;
            empty: no field.
        call: 0-based number of the call whose arguments are open; None: none is.
        tool: the name of its tool.
        in_string: whether a string of the arguments is open.
        schema_pointer: JSON pointer, as a fragment, to the part of the tool's parameters that describes the field;
            None: no part does.
        missing: required members of the current object that are not written yet.
    """

    state: ReadingNow
    pointer: str = ""
    call: int | None = None
    tool: str | None = None
    in_string: bool = False
    schema_pointer: str | None = None
    missing: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The position in words."""
        if self.call is None:
            return {"reasoning": "in reasoning", "content": "in the answer", "end": "after the turn"}.get(
                self.state, "after the arguments of a call"
            )
        field = ".".join(steps_of(self.pointer)[2:]) or "arguments"
        what = f"the string value of {field}" if self.in_string else field
        text = f"inside {what} of call {self.call + 1} to {self.tool}"
        if self.schema_pointer is not None:
            text += f", JSON Schema {self.schema_pointer}"
        if self.missing:
            text += f"; required and not written yet: {', '.join(self.missing)}"
        return text


def place_of(message: Message, state: ReadingNow, tools: Mapping[str, Tool] | None, pending: str) -> ParserPlace:
    """The position after the message read so far; `pending`: what its last call has held back of its arguments."""
    if state != "call" or not message.tool_calls or message.tool_calls[-1].complete:
        pointer = {"reasoning": "/reasoning_content", "content": "/content"}.get(state, "")
        return ParserPlace(state=state, pointer=pointer)
    number, call = len(message.tool_calls) - 1, message.tool_calls[-1]
    places = JsonPlaces(pointer_of("tool_calls", number, "arguments"))
    runs = places.feed(call.arguments + pending)
    tool = None if tools is None else tools.get(call.name)
    root = None if tool is None else tool.parameters
    steps = steps_of(places.pointer)[3:]
    schema, schema_pointer = _schema_at(root, steps)
    missing: tuple[str, ...] = ()
    if isinstance(schema, Mapping) and isinstance(required := schema.get("required"), list):
        written = {run.pointer for run in runs}
        missing = tuple(
            name for name in required if isinstance(name, str) and not _has(written, places.pointer + pointer_of(name))
        )
    return ParserPlace(
        state=state,
        pointer=places.pointer,
        call=number,
        tool=call.name,
        in_string=places.in_string and not places.in_key,
        schema_pointer=schema_pointer,
        missing=missing,
    )


def _has(written: set[str], pointer: str) -> bool:
    return any(one == pointer or one.startswith(pointer + "/") for one in written)


def _schema_at(root: Any, steps: list[str]) -> tuple[Any, str | None]:
    """The schema that `properties`, `items` and `$ref` lead to, and its pointer; None if another keyword decides."""
    schema, pointer = root, "#"
    if not isinstance(root, Mapping):
        return None, None
    for step in steps[:_MAX_STEPS]:
        schema, pointer = _referred(root, schema, pointer)
        properties = schema.get("properties") if isinstance(schema, Mapping) else None
        if isinstance(properties, Mapping) and step in properties:
            schema, pointer = properties[step], pointer + "/properties" + pointer_of(step)
        elif isinstance(schema, Mapping) and step.isdecimal() and isinstance(schema.get("items"), Mapping):
            schema, pointer = schema["items"], pointer + "/items"
        else:
            return None, None
    return _referred(root, schema, pointer) if len(steps) <= _MAX_STEPS else (None, None)


def _referred(root: Any, schema: Any, pointer: str) -> tuple[Any, str]:
    for _ in range(_MAX_STEPS):
        reference = schema.get("$ref") if isinstance(schema, Mapping) else None
        if not isinstance(reference, str):
            break
        try:
            schema, pointer = referred(reference, root), reference
        except LookupError:
            break
    return schema, pointer
