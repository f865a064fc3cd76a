"""What goes wrong, and what is not offered."""

from __future__ import annotations

from typing import NoReturn

__all__ = ["NOT_OFFERED", "HarmonyError", "not_offered"]

_TEXT = "the descriptions of built-in tools are that library's text; describe the tool with a ToolNamespaceConfig"
_PYDANTIC = "the classes are plain ones; use the constructor, from_dict and to_dict"

NOT_OFFERED = {
    "ToolNamespaceConfig.browser": _TEXT,
    "ToolNamespaceConfig.python": _TEXT,
    "SystemContent.with_browser_tool": _TEXT,
    "SystemContent.with_python_tool": _TEXT,
    "load_harmony_encoding": "without a tokenizer: nothing is downloaded; give `tokenizer`, or its parts",
    "Message.model_validate": _PYDANTIC,
    "Message.model_json_schema": _PYDANTIC,
}
"""names of openai-harmony that raise NotImplementedError here, each with what to do instead"""


class HarmonyError(RuntimeError):
    """A completion that is malformed, with `strict=True`; a message that cannot be rendered; a forbidden token."""


def not_offered(name: str) -> NoReturn:
    """Refuse a name of `NOT_OFFERED`.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError(f"{name}: {NOT_OFFERED[name]}")
