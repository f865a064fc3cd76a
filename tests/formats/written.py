"""Messages as a format writes them, for readers that are not its own parser."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from syntagma.errors import FormatError
from syntagma.formats import ChatFormat
from syntagma.messages import Message, ToolCall
from tests.formats.cases import TOOLS

__all__ = ["meaning", "messages", "sayable"]


def sayable(fmt: ChatFormat, message: Message) -> Message:
    """The message with those parts that the format has a way to write."""
    reasoning = fmt.spec.reasoning
    content, thoughts = message.content, message.reasoning_content
    if reasoning is None or reasoning.to == "content":
        thoughts = None
    if reasoning is not None and reasoning.to == "content" and reasoning.start == "open":
        content = f"{reasoning.block[0].opener.strip()}{content or ''}"  # the prompt's, which the reader restores
    calls = message.tool_calls if fmt.spec.tools is not None else ()
    return msgspec.structs.replace(message, content=content, reasoning_content=thoughts, tool_calls=calls)


def messages(fmt: ChatFormat) -> list[tuple[Message, str]]:
    """Messages that the format can write, with their texts."""
    call = ToolCall(id="call_0", name="weather", arguments='{"place": "Oslo b", "days": 3}')
    candidates = [
        Message(content="Yes. 1 < 2."),
        Message(content="Yes.", reasoning_content="Well."),
        Message(content="Look.", tool_calls=(call,)),
        Message(reasoning_content="Well.", tool_calls=(call, call)),
    ]
    found = []
    for message in candidates:
        try:
            found.append((message, fmt.write(message, TOOLS)))
        except FormatError:
            continue
    return found


def meaning(message: Message) -> tuple[str, str, list[tuple[str, Any]]]:
    calls = [(call.name, json.loads(call.arguments)) for call in message.tool_calls]
    return (message.reasoning_content or "").strip(), (message.content or "").strip(), calls
