"""The field of a message that would be read differently from how it was written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from syntagma.errors import FormatError
from syntagma.formats.json_text import same_json
from syntagma.messages import Message

__all__ = ["Difference", "difference"]


class Difference(NamedTuple):
    """A field that would not read back equal: what it is, and its pointer."""

    what: str
    pointer: str


def difference(
    message: Message, read: Message, read_back: Callable[[Message], Message], *, wire_ids: bool
) -> Difference | None:
    """The first field because of which a message would not read back equal; None: it would.

    A field whose text looks like a marker may change others, which were written soundly, or not at all. So each is
    written alone, and the first that would not read back equal so is named. If all would, only together they cannot be
    written, and the first is named that was written and differs.

    Args:
        message: the message.
        read: the same, read back.
        read_back: writes another message, and reads what was written; raises `FormatError` if it cannot be written.
        wire_ids: whether ids are written unchanged.
    """
    found = _differences(message, read, wire_ids=wire_ids)
    if not found:
        return None
    for pointer, part in _parts(message):
        try:
            alone = _differences(part, read_back(part), wire_ids=wire_ids)
        except FormatError:
            continue
        if alone:
            place = "/tool_calls/0"
            inside = (one for one in alone if one.pointer.startswith(place))
            field = next(inside, Difference(_what(pointer), ""))
            return Difference(field.what, pointer + field.pointer.removeprefix(place))
    written = tuple(pointer for pointer, _ in _parts(message))
    return next((one for one in found if one.pointer.startswith(written)), found[0])


def _parts(message: Message) -> Iterator[tuple[str, Message]]:
    """The pointer of each field that is written, and a message of it alone."""
    if message.reasoning_content:
        yield "/reasoning_content", Message(reasoning_content=message.reasoning_content)
    if message.content:
        yield "/content", Message(content=message.content)
    for index, call in enumerate(message.tool_calls):
        yield f"/tool_calls/{index}", Message(tool_calls=(msgspec.structs.replace(call, id=""),))


def _what(pointer: str) -> str:
    return {"/reasoning_content": "reasoning", "/content": "content"}.get(pointer, "call")


def _differences(wanted: Message, read: Message, *, wire_ids: bool) -> list[Difference]:
    """The fields that differ; None and empty text are equal."""
    found = [
        Difference(_what(f"/{field}"), f"/{field}")
        for field in ("reasoning_content", "content")
        if (getattr(wanted, field) or "") != (getattr(read, field) or "")
    ]
    for index, (call, other) in enumerate(zip(wanted.tool_calls, read.tool_calls, strict=False)):
        place = f"/tool_calls/{index}"
        if call.name != other.name:
            found.append(Difference("name", f"{place}/function/name"))
        if not other.complete or not same_json(call.arguments, other.arguments):
            found.append(Difference("arguments", f"{place}/function/arguments"))
        if wire_ids and call.id and call.id != other.id:
            found.append(Difference("id", f"{place}/id"))
    if len(wanted.tool_calls) != len(read.tool_calls):
        found.append(Difference("calls", "/tool_calls"))
    return found
