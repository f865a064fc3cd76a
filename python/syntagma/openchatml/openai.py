"""OpenAI chat messages as OpenChatML and back, with a list of what did not survive."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from syntagma.entry import entry
from syntagma.openchatml.errors import CALL_SCHEMA, HEADER, error_for
from syntagma.openchatml.tokens import ROLES
from syntagma.openchatml.tool_calls import is_function
from syntagma.openchatml.transcript import Message
from syntagma.openchatml.visibility import is_visible

__all__ = ["Loss", "from_openai", "to_openai"]

_READ = frozenset(
    {"role", "content", "name", "tool_calls", "tool_call_id", "reasoning_content", "reasoning", "refusal"}
)


class Loss(msgspec.Struct, frozen=True):
    """Something that the other form cannot hold: of message `index`, the field, and why."""

    index: int
    field: str
    reason: str


@entry
def from_openai(messages: Iterable[Mapping[str, Any]]) -> tuple[list[Message], list[Loss]]:
    """Messages of OpenAI's form as OpenChatML.

    Reasoning becomes a message on `analysis`, content one on `final` (or a preamble, beside calls), and each call one
    of its own. Names of functions get the prefix `functions.` unless they have a namespace.

    Raises:
        HeaderError: `E-PARSE-HEADER`, a role that does not exist.
        CallSchemaError: `E-CALL-SCHEMA`, a malformed call, or a reply to a call that was not made.
    """
    made: list[Message] = []
    losses: list[Loss] = []
    names: dict[str, str] = {}
    for index, data in enumerate(messages):
        role = data.get("role") if isinstance(data, Mapping) else None
        if role not in ROLES:
            raise error_for(HEADER, f"message {index}: {role!r} is not a role")
        unknown = [key for key, value in data.items() if key not in _READ and value is not None]
        losses += [Loss(index, key, "OpenChatML has no such field") for key in unknown]
        text = _text(data.get("content"), index, losses)
        name = _word(data.get("name"), index, losses)
        if role == "assistant":
            made += _answer(data, index, text, name, losses=losses, names=names)
        elif role == "tool":
            call_id = str(data.get("tool_call_id") or "")
            if call_id not in names:
                raise error_for(CALL_SCHEMA, f"message {index} replies to {call_id!r}, which was not called")
            fields: dict[str, Any] = {"name": names[call_id], "call_id": call_id, "recipient": "assistant"}
            made.append(Message(role="tool", channel="commentary", body=text or "", **fields))
        else:
            made.append(Message(role=str(role), name=name, body=text or ""))
    return made, losses


def _answer(
    data: Mapping[str, Any],
    index: int,
    text: str | None,
    name: str | None,
    *,
    losses: list[Loss],
    names: dict[str, str],
) -> list[Message]:
    made: list[Message] = []
    reasoning = data.get("reasoning_content") or data.get("reasoning")
    if isinstance(reasoning, str):
        made.append(Message(role="assistant", channel="analysis", body=reasoning))
    calls = data.get("tool_calls") or []
    if text is None and isinstance(data.get("refusal"), str):
        text = data["refusal"]
        losses.append(Loss(index, "refusal", "kept as content"))
    if text is not None and (text or not calls):
        channel, intent = ("commentary", "preamble") if calls else ("final", None)
        made.append(Message(role="assistant", name=name, body=text, channel=channel, intent=intent))
    for call in calls:
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str) or not call.get("id"):
            raise error_for(CALL_SCHEMA, f"message {index}: a call needs an id and a function with a name")
        arguments = function.get("arguments", "{}")
        body = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        called = function["name"] if "." in function["name"] else f"functions.{function['name']}"
        if str(call["id"]) in names:
            raise error_for(CALL_SCHEMA, f"message {index}: a second call with the id {call['id']}")
        names[str(call["id"])] = called
        made.append(
            Message(
                role="assistant",
                channel="commentary",
                recipient=called,
                call_id=str(call["id"]),
                constrain="json",
                body=body,
                terminator="call",
            )
        )
    return made


def _text(content: Any, index: int, losses: list[Loss]) -> str | None:
    if content is None or isinstance(content, str):
        return content
    parts: list[str] = []
    for part in content if isinstance(content, list) else [content]:
        text = part.get("text") if isinstance(part, Mapping) else part
        if isinstance(text, str):
            parts.append(text)
        else:
            kind = part.get("type") if isinstance(part, Mapping) else type(part).__name__
            losses.append(Loss(index, "content", f"a part of type {kind} is not text"))
    return "".join(parts)


def _word(name: Any, index: int, losses: list[Loss]) -> str | None:
    if name is None:
        return None
    if isinstance(name, str) and name and not any(c.isspace() for c in name) and not name.endswith("<"):
        return name
    losses.append(Loss(index, "name", "a name is one word"))
    return None


@entry
def to_openai(messages: Iterable[Message]) -> tuple[list[dict[str, Any]], list[Loss]]:
    """Messages in OpenAI's form; consecutive messages of an assistant become one."""
    made: list[dict[str, Any]] = []
    losses: list[Loss] = []
    current: dict[str, Any] | None = None
    for index, message in enumerate(messages):
        if message.intent not in (None, "preamble"):
            losses.append(Loss(index, "intent", "OpenAI's form has none"))
        losses += [Loss(index, key, "OpenAI's form has no other attributes") for key in message.extra]
        if message.terminator is None:
            losses.append(Loss(index, "terminator", "that the message is incomplete is not kept"))
        if message.role == "assistant" and not (
            message.is_call or message.channel == "analysis" or is_visible(message)
        ):
            # Content is shown: what is hidden must not become content.
            losses.append(Loss(index, "body", "private commentary has no place in OpenAI's form"))
            continue
        if message.role == "assistant":
            current = _joined(made, current, index, message, losses)
            continue
        current = None
        data: dict[str, Any] = {"role": message.role, "content": message.body}
        if message.role == "tool":
            data["tool_call_id"] = message.call_id or ""
            if message.call_id is None:
                losses.append(Loss(index, "call_id", "the reply names no call"))
        elif message.name is not None:
            data["name"] = message.name
        if message.role == "user" and message.effective_channel != "final":
            losses.append(Loss(index, "channel", "OpenAI's form has none"))
        made.append(data)
    for data in made:
        data.setdefault("content", None)
    return made, losses


def _joined(
    made: list[dict[str, Any]], current: dict[str, Any] | None, index: int, message: Message, losses: list[Loss]
) -> dict[str, Any]:
    """Add an assistant's message to the one at hand, or begin one where the order of the parts would be lost."""
    is_reasoning = message.is_reasoning
    full = current is not None and (
        (is_reasoning and current.keys() & {"content", "tool_calls", "reasoning_content"})
        or (not message.is_call and not is_reasoning and current.keys() & {"content", "tool_calls"})
    )
    if current is None or full:
        current = {"role": "assistant"}
        made.append(current)
    if is_reasoning:
        current["reasoning_content"] = message.body
    elif message.is_call:
        called = message.recipient or ""
        name = called.removeprefix("functions.") if is_function(called) else called
        function = {"name": name, "arguments": message.body}
        call = {"id": message.call_id or f"call_{index}", "type": "function", "function": function}
        current.setdefault("tool_calls", []).append(call)
        if message.channel == "analysis":
            losses.append(Loss(index, "channel", "calls have none in OpenAI's form"))
    else:
        current["content"] = message.body
    if message.name is not None:
        current["name"] = message.name
    return current
