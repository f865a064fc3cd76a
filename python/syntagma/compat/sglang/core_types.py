"""What the parsers of calls hand out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import msgspec

from syntagma.compat.sglang.models import Model

__all__ = ["GetInfoFunc", "StreamingParseResult", "StructureInfo", "ToolCallItem"]


class ToolCallItem(Model):
    """A call, or a piece of one while it streams.

    Attributes:
        tool_index: ordinal of the call in its message, from 0.
        name: the tool's name; None in every piece but the first.
        parameters: the arguments as JSON text, or a further fragment of it.
    """

    tool_index: int
    name: str | None = None
    parameters: str = ""


class StreamingParseResult(Model):
    """What a piece of text came to.

    Attributes:
        normal_text: text that belongs to no call.
        calls: calls, or pieces of them.
    """

    normal_text: str = ""
    calls: list[ToolCallItem] = msgspec.field(default_factory=list)


@dataclass
class StructureInfo:
    """What stands around the arguments of a call.

    Attributes:
        begin: all before the arguments, the tool's name included.
        end: all after them.
        trigger: the text with which `begin` begins; once a model has written it, a call must follow.
    """

    begin: str
    end: str
    trigger: str


GetInfoFunc: TypeAlias = Callable[[str], StructureInfo]
"""the name of a tool → what stands around the arguments of its calls"""
_GetInfoFunc = GetInfoFunc
