"""What the environment of the process says, by the names that servers set already."""

from __future__ import annotations

import os
from enum import IntEnum
from typing import Literal, TypeAlias

from syntagma.errors import ArgumentError

__all__ = ["ToolStrictLevel", "UnknownTool", "tool_strict_level", "unknown_tool"]

UnknownTool: TypeAlias = Literal["pass", "content", "drop"]
"""what becomes of a call of a tool that was not declared: it is passed on, its text is content, or it is left out"""

_LEVEL = "SGLANG_TOOL_STRICT_LEVEL"
_FORWARD = "SGLANG_FORWARD_UNKNOWN_TOOLS"
_YES, _NO = ("true", "1", "yes", "y"), ("false", "0", "no", "n", "")


class ToolStrictLevel(IntEnum):
    """From when on calls are held that nobody demanded.

    `OFF`: where a tool is strict. `FUNCTION`, `PARAMETER`: always. A call that is held is held with its arguments.
    """

    OFF = 0
    FUNCTION = 1
    PARAMETER = 2


def tool_strict_level() -> ToolStrictLevel:
    """What `SGLANG_TOOL_STRICT_LEVEL` says: 0, 1 or 2; 0 where it is not set.

    Raises:
        ArgumentError: `E-ARGUMENT-VALUE`, it says something else.
    """
    said = os.environ.get(_LEVEL, "0")
    try:
        return ToolStrictLevel(int(said))
    except ValueError as error:
        raise ArgumentError("E-ARGUMENT-VALUE", f"{_LEVEL}={said!r}", hint="0, 1 or 2") from error


def unknown_tool() -> UnknownTool:
    """`pass` where `SGLANG_FORWARD_UNKNOWN_TOOLS` is true, else `drop`.

    Raises:
        ArgumentError: `E-ARGUMENT-VALUE`, it is neither true nor false.
    """
    said = os.environ.get(_FORWARD, "").lower()
    if said not in (*_YES, *_NO):
        raise ArgumentError("E-ARGUMENT-VALUE", f"{_FORWARD}={said!r}", hint="true or false")
    return "pass" if said in _YES else "drop"
