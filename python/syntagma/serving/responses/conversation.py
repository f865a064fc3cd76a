"""Items of a `/v1/responses` conversation as messages.

An assistant's reasoning, text and calls are items of their own there, and one message for a template.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from syntagma.serving.body import bad_field, unsupported
from syntagma.serving.custom_calls import input_arguments

__all__ = ["assistant_message", "conversation_of"]

_ROLES = ("user", "assistant", "system", "developer")
_CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
"""items that are calls, each with the field of what the tool is called with"""
_TEXTS = ("input_text", "output_text", "text", "refusal")


def conversation_of(given: str | Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages that the items of an input are.

    Raises:
        RequestError: `E-REQUEST-FIELD`, `E-REQUEST-UNSUPPORTED`, with the pointer.
    """
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    if not given:
        raise bad_field("/input", "at least one item is needed")
    messages: list[dict[str, Any]] = []
    turn: list[dict[str, Any]] = []
    for index, item in enumerate(given):
        pointer = f"/input/{index}"
        kind = item.get("type", "message")
        if kind in ("reasoning", *_CALLS) or (kind == "message" and item.get("role") == "assistant"):
            turn.append(_own(item, kind, pointer))
            continue
        if turn:
            messages += assistant_message(turn)
            turn = []
        messages.append(_others(item, kind, pointer))
    return messages + assistant_message(turn)


def assistant_message(parts: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages of an assistant's turn: parts go into one, up to a text or reasoning after calls."""
    messages: list[dict[str, Any]] = []
    for part in parts:
        if not messages or (messages[-1].get("tool_calls") and "tool_calls" not in part):
            messages.append({"role": "assistant", "content": None})
        message = messages[-1]
        for key, value in part.items():
            message[key] = value if message.get(key) is None else message[key] + value
    for message in messages:
        if message["content"] is None and "tool_calls" not in message:
            message["content"] = ""
    return messages


def _own(item: dict[str, Any], kind: str, pointer: str) -> dict[str, Any]:
    """A part of an assistant's message."""
    if kind == "message":
        return {"content": _text(item.get("content"), f"{pointer}/content")}
    if kind == "reasoning":
        shown = item.get("content") or item.get("summary") or []
        texts = [part.get("text") for part in shown if isinstance(part, dict)]
        return {"reasoning_content": "\n".join(text for text in texts if isinstance(text, str))}
    said = _CALLS[kind]
    for field in ("call_id", "name", said):
        if not isinstance(item.get(field), str):
            raise bad_field(f"{pointer}/{field}", "it is text")
    arguments = item[said] if said == "arguments" else input_arguments(item[said])
    function = {"name": item["name"], "arguments": arguments}
    return {"tool_calls": [{"id": item["call_id"], "type": "function", "function": function}]}


def _others(item: dict[str, Any], kind: str, pointer: str) -> dict[str, Any]:
    if kind in ("function_call_output", "custom_tool_call_output"):
        if not isinstance(item.get("call_id"), str):
            raise bad_field(f"{pointer}/call_id", "an output names its call")
        content = _text(item.get("output"), f"{pointer}/output")
        return {"role": "tool", "tool_call_id": item["call_id"], "content": content}
    if kind != "message":
        raise unsupported(f"{pointer}/type", f"items of type {kind!r} are not supported")
    if item.get("role") not in _ROLES:
        raise bad_field(f"{pointer}/role", f"it is one of {', '.join(_ROLES)}")
    return {"role": item["role"], "content": _text(item.get("content"), f"{pointer}/content")}


def _text(content: Any, pointer: str) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise bad_field(pointer, "it is text, or a list of parts")
    texts = []
    for index, part in enumerate(content):
        kind = part.get("type") if isinstance(part, dict) else None
        if kind not in _TEXTS:
            message = f"content parts of type {kind!r} are not supported"
            raise unsupported(f"{pointer}/{index}/type", message, hint="the model reads text only")
        text = part.get("text", part.get("refusal"))
        if not isinstance(text, str):
            raise bad_field(f"{pointer}/{index}/text", "a text part has a text")
        texts.append(text)
    return "\n".join(texts)
