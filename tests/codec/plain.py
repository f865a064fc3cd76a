"""A conversation rendered as it is, as a reference for what a codec may not change."""

from __future__ import annotations

import datetime
import json
from typing import Any

from syntagma.analysis import Capabilities
from syntagma.errors import SyntagmaError
from syntagma.formats import ChatFormat
from syntagma.templates import ChatTemplate
from tests.codec.conversations import Conversation

NOW = datetime.date(2030, 1, 1)
FORMAT = ChatFormat.from_toml(
    '[tools]\ncall = "<use>{envelope}</use>"\nenvelope = \'{"name": "{name}", "arguments": {arguments}}\'\n'
)
"""for templates of which nothing is known"""


def plain_render(made: ChatTemplate, wants: Capabilities, conversation: Conversation) -> str | None:
    """The render of a conversation that only has its arguments and reasoning as the template reads them."""
    messages = []
    for message in conversation.messages:
        changed = dict(message)
        if (reasoning := changed.pop("reasoning_content", None)) is not None:
            field, _, block = (wants.reasoning or "reasoning_content").partition(":")
            if block:
                text = [{"type": "text", "text": changed["content"]}] if changed.get("content") else []
                changed["content"] = [{"type": block, block: reasoning}, *text]
            else:
                changed[field] = reasoning
        if message["role"] == "assistant" and not changed.get("content"):
            changed["content"] = ""
            if message.get("tool_calls") and wants.empty_content == "null":
                changed["content"] = None
            if message.get("tool_calls") and wants.empty_content == "absent":
                del changed["content"]
        if message.get("tool_calls"):
            try:
                decoded = [_decoded(call) for call in message["tool_calls"]]
            except ValueError:
                return None
            changed["tool_calls"] = decoded if wants.arguments == "object" else message["tool_calls"]
        if wants.content_parts and isinstance(changed.get("content"), str) and changed["content"]:
            changed["content"] = [{"type": "text", "text": changed["content"]}]
        messages.append(changed)
    tools = conversation.tools if conversation.tools or wants.no_tools == "empty" else None
    try:
        rendered = made.variant(lenient=wants.lenient, omit_none=wants.no_tools == "undefined").render(
            messages,
            tools=tools or ([] if wants.no_tools == "empty" else None),
            template_kwargs=wants.variables,
            now=NOW,
        )
    except SyntagmaError:
        return None
    return str(rendered)


def _decoded(call: dict[str, Any]) -> dict[str, Any]:
    function = call["function"]
    return {**call, "function": {**function, "arguments": json.loads(function["arguments"] or "{}")}}
