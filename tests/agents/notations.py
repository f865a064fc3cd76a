"""The notations in which the scripted models write, each with the template of a model that writes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import syntagma as sg
from syntagma import formats

__all__ = ["NOTATIONS", "TEMPLATES", "THOUGHTS", "Notation"]

THOUGHTS = "Let me see."
"""the reasoning before every answer"""

TEMPLATES = Path(__file__).resolve().parents[3] / "shared" / "data" / "templates"
"""templates of others, which are not part of this repository"""
_KINDS = {str: "string", bool: "boolean", int: "integer", list: "array", dict: "object"}


class Notation(NamedTuple):
    """How a scripted model writes.

    Attributes:
        template: the name of its template's file.
        format: the name of the format that writes its texts; the server finds out for itself how to read them.
        declares: how its template shows a tool named NAME.
        thinks: whether it reasons before it answers.
    """

    template: str
    format: str
    declares: str
    thinks: bool

    def write(self, content: str, call: tuple[str, dict[str, Any]] | None = None) -> str:
        """The text of an answer: what it says, and then the call of a tool with its arguments, if there is one."""
        calls, tools = [], []
        if call is not None:
            name, arguments = call
            kinds = {key: {"type": _KINDS[type(value)]} for key, value in arguments.items()}
            calls.append(sg.ToolCall(id="call_1", name=name, arguments=json.dumps(arguments)))
            tools.append(sg.Tool(name=name, parameters={"type": "object", "properties": kinds}))
        thoughts = THOUGHTS if self.thinks else None
        message = sg.Message(content=content, reasoning_content=thoughts, tool_calls=tuple(calls))
        return formats.get(self.format).write(message, tools)


NOTATIONS = {
    "qwen-xml": Notation("Qwen3-Coder", "qwen3_coder", "<name>NAME</name>", thinks=False),
    "hermes": Notation("NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use", "hermes", '"name": "NAME"', thinks=False),
    "gpt-oss": Notation("openai-gpt-oss-120b", "gpt-oss", "type NAME = ", thinks=True),
    "glm": Notation("GLM-4.7-Flash", "glm47", '"name": "NAME"', thinks=True),
}
"""by the name under which the model is served"""
