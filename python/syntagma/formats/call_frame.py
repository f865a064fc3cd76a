"""The text around the arguments of a call, for formats whose arguments are one JSON object.

It is fixed if the arguments are written as JSON and only the tool's name changes from call to call: no id and no
number. A section around calls belongs to it only if a call has no marker of its own, since otherwise several calls may
stand in one section.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from syntagma.errors import ArgumentError, FormatError
from syntagma.format_schema import FormatSpec, Pattern, kept, used_markers
from syntagma.formats.chat_format import ChatFormat
from syntagma.messages import Message, ToolCall

__all__ = ["CallFrame", "call_frame", "has_fixed_frame"]

_ARGUMENTS = '{"a": "b"}'
_CALLS = Pattern("{calls}")
_NAME = "name_of_the_tool_0"
"""the placeholder for the name in a cached frame"""
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")
"""names that every format writes unchanged"""


class CallFrame(NamedTuple):
    """The text around the arguments of a call.

    Attributes:
        begin: all text before the arguments, with the tool's name.
        end: all text after them.
        trigger: the text with which `begin` begins; once a model has written it, a call must follow.
    """

    begin: str
    end: str
    trigger: str


def has_fixed_frame(fmt: ChatFormat) -> bool:
    """Whether a call of the format is fixed text around one JSON object."""
    return _frame(fmt.spec) is not None


def call_frame(fmt: ChatFormat, name: str) -> CallFrame:
    """The text around the arguments of a call of a tool.

    Raises:
        ArgumentError: `E-ARGUMENT-FORMAT`, the format has no such fixed text.
        FormatError: `E-FORMAT-UNWRITABLE`, the name cannot be written.
    """
    frame = _frame(fmt.spec)
    if frame is None:
        raise ArgumentError(
            "E-ARGUMENT-FORMAT",
            "calls of this format are not fixed text around one JSON object",
            hint="ChatFormat.grammar and ChatFormat.structural_tag hold calls of every format",
        )
    if _PLAIN.fullmatch(name):
        return CallFrame(frame.begin.replace(_NAME, name), frame.end.replace(_NAME, name), frame.trigger)
    return _written(next(one for one in _candidates(fmt.spec) if _usable(fmt.spec, one) is not None), name)


@kept
def _frame(spec: FormatSpec) -> CallFrame | None:
    """The frame; None: the format has none."""
    frames = (_usable(spec, candidate) for candidate in _candidates(spec))
    return next((frame for frame in frames if frame is not None), None)


def _candidates(spec: FormatSpec) -> Iterator[ChatFormat]:
    """Formats that write only a call, one for each way in which the format can write it."""
    tools = spec.tools
    if tools is None:
        return
    if spec.messages is not None:
        yield ChatFormat(spec)
        return
    for call in tools.call:
        bare = _CALLS if call.opener.strip() else tools.section[0]
        alone = msgspec.structs.replace(tools, call=(call,), section=(bare,), also=())
        rest = msgspec.structs.replace(spec, tools=alone, reasoning=None, content=None, markers=())
        yield ChatFormat(msgspec.structs.replace(rest, markers=used_markers(rest, spec.markers)))


def _usable(spec: FormatSpec, candidate: ChatFormat) -> CallFrame | None:
    """The frame of a candidate, if it is fixed and nothing else begins with its trigger; else None."""
    tools = candidate.spec.tools
    assert tools is not None
    shown = {*tools.call[0].placeholders, *(word for one in tools.envelope[:1] for word in one.pattern.placeholders)}
    if shown & {"id", "index", "ordinal"}:
        return None
    try:
        frame = _written(candidate, _NAME)
    except (FormatError, ValueError):
        return None
    # A trigger that also begins reasoning or an answer does not announce a call.
    others = [block.opener for part in (spec.reasoning, spec.content) if part is not None for block in part.block]
    if not frame.trigger or any(opener.startswith(frame.trigger) for opener in others):
        return None
    return frame


def _written(fmt: ChatFormat, name: str) -> CallFrame:
    """The frame that a format writes; raises ValueError if the arguments do not stand in the call unchanged."""
    text = fmt.write(Message(tool_calls=(ToolCall(id="", name=name, arguments=_ARGUMENTS),)))
    at = text.index(_ARGUMENTS)
    begin, end = text[:at], text[at + len(_ARGUMENTS) :]
    trigger = next((one for one in fmt.triggers if begin.startswith(one)), "")
    return CallFrame(begin, end, trigger)
