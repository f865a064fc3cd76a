"""What stands around the arguments of a call, for formats whose arguments are one JSON object."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from syntagma.compat.sglang.core_types import StructureInfo
from syntagma.errors import ArgumentError, FormatError
from syntagma.format_schema import FormatSpec, Pattern, used_markers
from syntagma.formats import ChatFormat
from syntagma.messages import Message, ToolCall

__all__ = ["CallFrame"]

_ARGUMENTS = '{"a": "b"}'
_CALLS = Pattern("{calls}")


class CallFrame:
    """The text around the arguments of a call in a format.

    It is fixed where the arguments are written as JSON, and nothing but the tool's name changes from call to call: no
    id and no number. A section around calls belongs to it only if a call has no marker of its own, so that several
    calls may stand in one section.

    Args:
        fmt: the format.
    """

    def __init__(self, fmt: ChatFormat) -> None:
        self._format = fmt
        self._written = next((one for one in _candidates(fmt.spec) if _has_frame(fmt.spec, one)), None)

    @property
    def is_fixed(self) -> bool:
        """Whether the format has such a text."""
        return self._written is not None

    def of(self, name: str) -> StructureInfo:
        """What stands around the arguments of a call of this tool.

        Raises:
            ArgumentError: `E-ARGUMENT-FORMAT`, the format has no such text.
            FormatError: `E-FORMAT-UNWRITABLE`, the name cannot be written.
        """
        if self._written is None:
            raise ArgumentError(
                "E-ARGUMENT-FORMAT",
                "calls of this format are no fixed text around one JSON object",
                hint="supports_structural_tag() says so beforehand; ChatFormat.grammar() holds calls of every format",
            )
        return _frame(self._written, name)


def _candidates(spec: FormatSpec) -> Iterator[ChatFormat]:
    """Formats that write a call, and nothing before it, in each way that the format itself can write it."""
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


def _has_frame(spec: FormatSpec, candidate: ChatFormat) -> bool:
    tools = candidate.spec.tools
    assert tools is not None
    shown = {*tools.call[0].placeholders, *(word for one in tools.envelope[:1] for word in one.pattern.placeholders)}
    if shown & {"id", "index", "ordinal"}:
        return False
    try:
        frame = _frame(candidate, "f")
    except (FormatError, ValueError):
        return False
    # What begins reasoning or an answer, too, says nothing of calls.
    others = [block.opener for part in (spec.reasoning, spec.content) if part is not None for block in part.block]
    return bool(frame.trigger) and not any(opener.startswith(frame.trigger) for opener in others)


def _frame(fmt: ChatFormat, name: str) -> StructureInfo:
    """Raises ValueError where the arguments do not stand in the call as they are."""
    text = fmt.write(Message(tool_calls=(ToolCall(id="", name=name, arguments=_ARGUMENTS),)))
    at = text.index(_ARGUMENTS)
    begin, end = text[:at], text[at + len(_ARGUMENTS) :]
    trigger = next((one for one in fmt.triggers if begin.startswith(one)), "")
    return StructureInfo(begin, end, trigger)
