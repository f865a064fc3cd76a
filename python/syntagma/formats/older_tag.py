"""The older form of structural tags, with `structures` and `triggers`, for engines that read only this form."""

from __future__ import annotations

from collections.abc import Sequence

from syntagma.constraints.schemas import arguments_schema
from syntagma.errors import ArgumentError
from syntagma.formats.call_frame import call_frame
from syntagma.formats.chat_format import ChatFormat
from syntagma.grammars import StructuralTag
from syntagma.grammars.structural_tag import opened
from syntagma.messages import ToolLike
from syntagma.request import resolve_request

__all__ = ["older_structural_tag"]

_AROUND = "any text may stand around and between calls, reasoning that is never closed included"


def older_structural_tag(fmt: ChatFormat, tools: Sequence[ToolLike]) -> StructuralTag:
    """A structural tag in the older form: any text, and calls of the tools as the format writes them.

    The older form can only express text around a schema, so a call must be fixed text around one JSON object. It does
    not constrain other spellings of a call; `ChatFormat.structural_tag` does.

    Args:
        fmt: the format.
        tools: the declared tools, at least one.

    Raises:
        ArgumentError: `E-ARGUMENT-FORMAT`, calls of the format are not fixed text around one JSON object;
            `E-ARGUMENT-VALUE`, there are no tools.
        FormatError: `E-FORMAT-UNWRITABLE`, a tool's name cannot be written.
        RequestError: a tool cannot be read.
    """
    declared = resolve_request(tools).tools
    if not declared:
        raise ArgumentError("E-ARGUMENT-VALUE", "there are no tools", pointer="/tools")
    frames = [call_frame(fmt, tool.name) for tool in declared]
    structures = [
        {"begin": frame.begin, "schema": opened(arguments_schema(tool)), "end": frame.end}
        for tool, frame in zip(declared, frames, strict=True)
    ]
    triggers = list(dict.fromkeys(frame.trigger for frame in frames))
    tag = {"type": "structural_tag", "structures": structures, "triggers": triggers}
    return StructuralTag(tag, {"/structures": _AROUND}, {})
