"""The exception of this package, and the names of openai-harmony that are not offered."""

from __future__ import annotations

from typing import NoReturn

__all__ = ["NOT_OFFERED", "HarmonyError", "not_offered"]

_TEXT = "descriptions of built-in tools are text of openai-harmony; describe the tool with a ToolNamespaceConfig"
_PYDANTIC = "the classes are not pydantic models; use the constructor, from_dict and to_dict"

NOT_OFFERED = {
    "ToolNamespaceConfig.browser": _TEXT,
    "ToolNamespaceConfig.python": _TEXT,
    "SystemContent.with_browser_tool": _TEXT,
    "SystemContent.with_python_tool": _TEXT,
    "load_harmony_encoding": "nothing is downloaded; give `tokenizer`, or its parts",
    "Message.model_validate": _PYDANTIC,
    "Message.model_json_schema": _PYDANTIC,
}
"""names of openai-harmony that raise NotImplementedError here, each with an alternative"""


class HarmonyError(RuntimeError):
    """A malformed completion with `strict=True`, a message that cannot be rendered, or a forbidden special token."""


def not_offered(name: str) -> NoReturn:
    """Raise for a name of `NOT_OFFERED`.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError(f"{name}: {NOT_OFFERED[name]}")
