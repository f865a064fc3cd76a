"""The conversations of probes: turns of unique words, as the message dictionaries that a template needs."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from syntagma.json_types import json_type_of

__all__ = [
    "EmptyContent",
    "Inputs",
    "SampleCall",
    "SampleTurn",
    "Sentinels",
    "assistant_message",
    "declared_tools",
    "prepared",
    "reasoning_part",
]

EmptyContent: TypeAlias = Literal["text", "null", "absent"]
ToolsMode: TypeAlias = Literal["none", "empty", "declared"]

_CONSONANTS = "bcdfghjklmnpqrstvwxz"
_SENTINEL_LENGTH = 9
_SENTINEL_PART = 5
"""consecutive letters of a sentinel that occur in no word"""


class Sentinels:
    """A seeded source of sentinels: made-up words that are found exactly in a render. None is given twice.

    A sentinel is nine consonants, so it is no word of any language, has no digit (counters are found by digits), and
    fits the strictest known shape of a call id (nine letters or digits).
    """

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)
        self._given: set[str] = set()
        self._numbers: set[int] = set()

    def word(self, kind: str) -> str:
        """A new sentinel whose first letter is `kind`, a consonant; no letter stands twice in a row."""
        while True:
            letters = [kind]
            while len(letters) < _SENTINEL_LENGTH:
                letter = self._random.choice(_CONSONANTS)
                if letter != letters[-1]:
                    letters.append(letter)
            text = "".join(letters)
            if text not in self._given:
                self._given.add(text)
                return text

    def number(self) -> int:
        """A new number of six digits, none of them 0, 1 or 2, so that it is not taken for a counter."""
        while True:
            value = int("".join(self._random.choice("3456789") for _ in range(6)))
            if value not in self._numbers:
                self._numbers.add(value)
                return value

    def survive_in(self, text: str) -> bool:
        """Whether a sentinel that was given, or a part of one, stands in a text, in any letter case."""
        text = text.casefold()
        if any(str(number) in text for number in self._numbers):
            return True
        size = _SENTINEL_PART
        parts = {word[at : at + size] for word in self._given for at in range(len(word) - size + 1)}
        return any(text[at : at + size] in parts for at in range(len(text) - size + 1))


class SampleCall(msgspec.Struct, frozen=True):
    """A call of a turn that is rendered, by a probe or for the certificate."""

    name: str
    arguments: dict[str, Any]
    id: str = ""


class SampleTurn(msgspec.Struct, frozen=True, kw_only=True):
    """An assistant's turn that is rendered; None means that the field is not there."""

    reasoning: str | None = None
    content: str | None = None
    calls: tuple[SampleCall, ...] = ()

    @property
    def shape(self) -> str:
        """Which fields are there: `R` for reasoning, `C` for content, `T` for tool calls, in this order."""
        return (
            ("R" if self.reasoning is not None else "")
            + ("C" if self.content is not None else "")
            + ("T" if self.calls else "")
        )


class Inputs(msgspec.Struct, frozen=True, kw_only=True):
    """The inputs that a template needs, found by probing."""

    tools: ToolsMode = "none"
    """what is passed as `tools` if none are declared"""
    lenient: bool = False
    """whether the template appends to lists, or writes generators as JSON"""
    omit_none: bool = False
    """whether `tools` must be undefined, not None, if there are none"""
    system: bool = False
    """whether a system message must come first"""
    parts: bool = False
    """whether content is a list of parts"""
    arguments: Literal["object", "string"] = "object"
    empty_content: EmptyContent = "text"
    """`content` of a message with calls and no content: the empty string, null, or no key"""
    reasoning: str | None = None
    """the message field of reasoning; `content:TYPE`: a content block of that type"""
    variables: dict[str, Any] = {}
    """undeclared variables that must be bound"""
    settings: dict[str, Any] = {}
    """template variables under which reasoning is shown"""

    def with_variable(self, name: str, value: Any) -> Inputs:
        """The same inputs with a template variable that is always set."""
        settings = {key: one for key, one in self.settings.items() if key != name}
        return msgspec.structs.replace(self, variables={**self.variables, name: value}, settings=settings)


def assistant_message(turn: SampleTurn, inputs: Inputs) -> dict[str, Any]:
    """The turn as the message dictionary that the template needs."""
    message: dict[str, Any] = {"role": "assistant"}
    if turn.content is not None:
        message["content"] = turn.content
    elif turn.calls and inputs.empty_content == "null":
        message["content"] = None
    elif not turn.calls or inputs.empty_content == "text":
        message["content"] = ""
    field = inputs.reasoning
    if turn.reasoning is not None and field is not None:
        name, _, part_type = field.partition(":")
        if part_type:
            parts = [reasoning_part(part_type, turn.reasoning)]
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


def prepared(messages: Sequence[dict[str, Any]], inputs: Inputs) -> list[dict[str, Any]]:
    """A conversation with the system message and the form of content that the template needs."""
    if inputs.system and not (messages and messages[0]["role"] == "system"):
        messages = [{"role": "system", "content": "Be brief."}, *messages]
    return [_in_parts(message) for message in messages] if inputs.parts else list(messages)


def _in_parts(message: dict[str, Any]) -> dict[str, Any]:
    """The message with its text as the only part of its content."""
    text = message.get("content")
    return {**message, "content": [{"type": "text", "text": text}]} if isinstance(text, str) and text else message


def reasoning_part(part_type: str, text: str, extra: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A content block of reasoning, with its text under a key named like the block's type."""
    return {"type": part_type, part_type: text, **(extra or {})}


def declared_tools(calls: tuple[SampleCall, ...]) -> list[dict[str, Any]]:
    """OpenAI tool dictionaries for the calls: each tool once, each argument with its value's type."""
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
