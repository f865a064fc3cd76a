"""Converts messages between LangChain and OpenAI."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["chunk_fields", "message_fields", "to_openai", "usage_fields"]


def to_openai(messages: Sequence[Any]) -> list[dict[str, Any]]:
    """LangChain messages as OpenAI dictionaries, including reasoning."""
    from langchain_core.messages import convert_to_openai_messages

    found: list[dict[str, Any]] = []
    for message in messages:
        written: dict[str, Any] = convert_to_openai_messages(message)  # type: ignore[assignment,unused-ignore]
        reasoning = message.additional_kwargs.get("reasoning_content")
        found.append({**written, "reasoning_content": reasoning} if reasoning else written)
    return found


def message_fields(message: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an `AIMessage`. Calls that were cut off become `invalid_tool_calls`."""
    calls: dict[str, list[dict[str, Any]]] = {"tool_calls": [], "invalid_tool_calls": []}
    for call in message.get("tool_calls") or ():
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        if call.get("complete", True):
            calls["tool_calls"].append({"name": name, "args": json.loads(arguments), "id": call["id"]})
        else:
            cut = {"name": name, "args": arguments, "id": call["id"], "error": "the call was cut off"}
            calls["invalid_tool_calls"].append(cut)
    return {"content": message.get("content") or "", "additional_kwargs": _reasoning(message), **calls}


def chunk_fields(delta: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an `AIMessageChunk`."""
    calls = [
        {"name": call["function"].get("name"), "args": call["function"]["arguments"], "id": call.get("id")}
        | {"index": call["index"]}
        for call in delta.get("tool_calls", ())
    ]
    return {"content": delta.get("content", ""), "additional_kwargs": _reasoning(delta), "tool_call_chunks": calls}


def _reasoning(part: Mapping[str, Any]) -> dict[str, str]:
    text = part.get("reasoning_content")
    return {"reasoning_content": text} if text else {}


def usage_fields(usage: Mapping[str, int]) -> dict[str, int]:
    """The `usage_metadata` of a message."""
    names = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens", "total_tokens": "total_tokens"}
    return {name: usage[ours] for name, ours in names.items()}
