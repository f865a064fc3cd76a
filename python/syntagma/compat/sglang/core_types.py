"""The results of the parsers of calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import msgspec

from syntagma.compat.sglang.models import Model

__all__ = ["GetInfoFunc", "StreamingParseResult", "StructureInfo", "ToolCallItem"]


class ToolCallItem(Model):
    """A call, or a part of one while it is streamed.

    Attributes:
        tool_index: the index of the call in its message, from 0.
        name: the tool's name; None in every part but the first.
        parameters: the arguments as JSON text, or a further fragment of it.
    """

    tool_index: int
    name: str | None = None
    parameters: str = ""


class StreamingParseResult(Model):
    """The result of parsing a text or a chunk.

    Attributes:
        normal_text: text outside calls.
        calls: calls, or parts of them.
    """

    normal_text: str = ""
    calls: list[ToolCallItem] = msgspec.field(default_factory=list)


@dataclass
class StructureInfo:
    """The text around the arguments of a call.

    Attributes:
        begin: the text before the arguments, including the tool's name.
        end: the text after them.
        trigger: the start of `begin`; once a model has written it, a call must follow.
    """

    begin: str
    end: str
    trigger: str


GetInfoFunc: TypeAlias = Callable[[str], StructureInfo]
"""the name of a tool → the text around the arguments of its calls"""
_GetInfoFunc = GetInfoFunc
