"""Settings from environment variables, under the names that servers already set."""

from __future__ import annotations

import os
from enum import IntEnum
from typing import Literal, TypeAlias

from syntagma.errors import ArgumentError

__all__ = ["ToolStrictLevel", "UnknownTool", "tool_strict_level", "unknown_tool"]

UnknownTool: TypeAlias = Literal["pass", "content", "drop"]
"""what happens to a call of an undeclared tool: it is passed on, its text becomes content, or it is dropped"""

_LEVEL = "SGLANG_TOOL_STRICT_LEVEL"
_FORWARD = "SGLANG_FORWARD_UNKNOWN_TOOLS"
_YES, _NO = ("true", "1", "yes", "y"), ("false", "0", "no", "n", "")


class ToolStrictLevel(IntEnum):
    """When calls that are not required are constrained.

    `OFF`: if a tool is strict. `FUNCTION`, `PARAMETER`: always. A constrained call includes its arguments.
    """

    OFF = 0
    FUNCTION = 1
    PARAMETER = 2


def tool_strict_level() -> ToolStrictLevel:
    """The value of `SGLANG_TOOL_STRICT_LEVEL`: 0, 1 or 2; 0 if it is not set.

    Raises:
        ArgumentError: `E-ARGUMENT-VALUE`, another value.
    """
    said = os.environ.get(_LEVEL, "0")
    try:
        return ToolStrictLevel(int(said))
    except ValueError as error:
        raise ArgumentError("E-ARGUMENT-VALUE", f"{_LEVEL}={said!r}", hint="0, 1 or 2") from error


def unknown_tool() -> UnknownTool:
    """`pass` if `SGLANG_FORWARD_UNKNOWN_TOOLS` is true, else `drop`.

    Raises:
        ArgumentError: `E-ARGUMENT-VALUE`, a value that is neither true nor false.
    """
    said = os.environ.get(_FORWARD, "").lower()
    if said not in (*_YES, *_NO):
        raise ArgumentError("E-ARGUMENT-VALUE", f"{_FORWARD}={said!r}", hint="true or false")
    return "pass" if said in _YES else "drop"
