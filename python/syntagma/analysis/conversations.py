"""Conversations that are rendered: a turn as plain values, and the message dictionaries a template wants to see."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from syntagma.json_types import json_type_of

__all__ = ["Call", "EmptyContent", "Inputs", "Turn", "assistant_message", "declare"]

EmptyContent: TypeAlias = Literal["text", "null", "absent"]
ToolsMode: TypeAlias = Literal["none", "empty", "declared"]


class Call(msgspec.Struct, frozen=True):
    """A call of a probe or of the battery."""

    name: str
    arguments: dict[str, Any]
    id: str = ""


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """An assistant's turn; None means that the field is not there."""

    reasoning: str | None = None
    content: str | None = None
    calls: tuple[Call, ...] = ()

    @property
    def shape(self) -> str:
        """Which fields are there: letters of `RCT`."""
        return (
            ("R" if self.reasoning is not None else "")
            + ("C" if self.content is not None else "")
            + ("T" if self.calls else "")
        )


class Inputs(msgspec.Struct, frozen=True, kw_only=True):
    """The inputs a template wants, as the probing ladders found them."""

    tools: ToolsMode = "none"
    """what is passed as `tools` where nothing is declared"""
    lenient: bool = False
    """the template appends to lists, or writes generators as JSON"""
    omit_none: bool = False
    """`tools` must be undefined, not None, where there are none"""
    system: bool = False
    """a system message must come first"""
    arguments: Literal["object", "string"] = "object"
    empty_content: EmptyContent = "text"
    """`content` beside calls when there is none: the empty text, null, or no key"""
    reasoning: str | None = None
    """field of the thoughts; `content:TYPE` for a content block of that type"""
    variables: dict[str, Any] = {}
    """undeclared variables that must be bound"""
    settings: dict[str, Any] = {}
    """template variables under which thoughts are shown"""


def assistant_message(turn: Turn, inputs: Inputs) -> dict[str, Any]:
    """The turn as the dictionary that the template wants."""
    message: dict[str, Any] = {"role": "assistant"}
    if turn.content is not None:
        message["content"] = turn.content
    elif turn.calls and inputs.empty_content == "null":
        message["content"] = None
    elif not turn.calls or inputs.empty_content == "text":
        message["content"] = ""
    field = inputs.reasoning
    if turn.reasoning is not None and field is not None:
        name, _, block = field.partition(":")
        if block:
            parts = [thought_block(block, turn.reasoning)]
            if turn.content is not None:
                parts.append({"type": "text", "text": turn.content})
            message["content"] = parts
        else:
            message[name] = turn.reasoning
    if turn.calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": dict(call.arguments)
                    if inputs.arguments == "object"
                    else json.dumps(call.arguments, ensure_ascii=False),
                },
            }
            for call in turn.calls
        ]
    return message


def thought_block(kind: str, text: str, extra: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A content block of thoughts: the text under the block's own type, and under `text` where that is the type."""
    return {"type": kind, kind: text, **(extra or {})}


def declare(calls: tuple[Call, ...]) -> list[dict[str, Any]]:
    """Tools that declare what the calls use, each once; an undescribed value is a string."""
    tools: dict[str, dict[str, Any]] = {}
    for call in calls:
        tool = tools.setdefault(
            call.name,
            {
                "type": "function",
                "function": {
                    "name": call.name,
                    "description": "Does something.",
                    "parameters": {"type": "object", "properties": {}, "required": []},
                },
            },
        )
        properties = tool["function"]["parameters"]["properties"]
        for key, value in call.arguments.items():
            properties.setdefault(key, {"type": json_type_of(value), "description": "A value."})
    return list(tools.values())
