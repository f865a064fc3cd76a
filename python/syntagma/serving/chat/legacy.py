"""OpenAI's older names: `functions` for tools, `function_call` for a tool choice and for a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from syntagma.serving.body import bad_field

__all__ = ["PLACES", "legacy_choice", "legacy_tools"]

PLACES: Final = {"/tools/*/function": "/functions/*", "/tools": "/functions", "/tool_choice/function": "/function_call"}
"""places in a current request → in a legacy one, see `placed`"""


def legacy_tools(functions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """`functions` as tools."""
    return [{"type": "function", "function": function} for function in functions]


def legacy_choice(choice: str | Mapping[str, Any] | None) -> str | dict[str, Any]:
    """`function_call` as a tool choice.

    Raises:
        RequestError: `E-REQUEST-FIELD`.
    """
    if choice is None:
        return "auto"
    if isinstance(choice, str):
        if choice not in ("auto", "none"):
            raise bad_field("/function_call", "must be 'auto', 'none', or an object with a name")
        return choice
    return {"type": "function", "function": {"name": choice.get("name")}}
