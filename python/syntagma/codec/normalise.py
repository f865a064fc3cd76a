"""Adapts messages to the form that a template needs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from syntagma.analysis import Capabilities
from syntagma.codec.cut_calls import completion
from syntagma.errors import ArgumentError, ArgumentTypeError
from syntagma.messages import Message, MessageLike

__all__ = ["MessageLike", "as_data", "calls_in", "message_for_template", "with_call_ids"]


def calls_in(messages: Sequence[MessageLike]) -> int:
    """The number of calls in the messages."""
    calls = (one.tool_calls if isinstance(one, Message) else one.get("tool_calls") for one in messages)
    return sum(len(one) for one in calls if isinstance(one, Sequence))


def as_data(message: MessageLike, *, completed: Callable[[int], None] | None) -> dict[str, Any]:
    """A message as a dictionary of OpenAI's shape. Arguments given as text are the text of one object.

    Args:
        message: the message.
        completed: called with the index of each call that was cut off, whose arguments then become an object
            of what was written; None: such calls are refused.

    Raises:
        ArgumentTypeError: `E-MESSAGE-TYPE`, the message is neither a `Message` nor a mapping.
        ArgumentError: `E-MESSAGE-ARGUMENTS`, the text of a call's arguments is not one JSON object.
    """
    if isinstance(message, Message):
        data = message.to_openai()
    elif isinstance(message, Mapping):
        data = dict(message)
    else:
        raise ArgumentTypeError("E-MESSAGE-TYPE", f"a message must be a mapping, not {type(message).__name__}")
    if data.get("role") == "assistant" and data.get("tool_calls"):
        data["tool_calls"] = [_whole(call, at, completed) for at, call in enumerate(data["tool_calls"])]
    return data


def _whole(call: Any, at: int, completed: Callable[[int], None] | None) -> Any:
    """The call at index `at`, whose arguments are whole."""
    if not isinstance(call, Mapping):
        return call
    if completed is not None and "complete" in call:
        call = {key: value for key, value in call.items() if key != "complete"}
    inner = call.get("function")
    function = inner if isinstance(inner, Mapping) else call
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        return call
    if not arguments or _object(arguments) is not None:
        return call
    whole = completion(arguments) if completed is not None else None
    if whole is None:
        raise ArgumentError(
            "E-MESSAGE-ARGUMENTS",
            "the arguments of a call are not one JSON object",
            hint="remove a call that was cut off from the message",
            pointer=f"/tool_calls/{at}/function/arguments",
        )
    if completed is not None:
        completed(at)
    changed = {**function, "arguments": whole}
    return {**call, "function": changed} if function is inner else changed


def message_for_template(message: Mapping[str, Any], wants: Capabilities) -> dict[str, Any]:
    """A message as the dictionary that the template needs."""
    data = dict(message)
    if wants.content_parts and isinstance(data.get("content"), str) and data["content"]:
        data["content"] = [{"type": "text", "text": data["content"]}]
    if data.get("role") != "assistant":
        return data
    if data.get("tool_calls"):
        data["tool_calls"] = [_call_for(call, wants) for call in data["tool_calls"]]
    else:
        data.pop("tool_calls", None)
    if not data.get("content"):
        _set_empty_content(data, wants)
    return _with_reasoning(data, wants)


def _set_empty_content(data: dict[str, Any], wants: Capabilities) -> None:
    """Set the empty content of a message as the template needs it: to text, to null, or not at all."""
    if not data.get("tool_calls") or wants.empty_content == "text":
        data["content"] = ""
    elif wants.empty_content == "null":
        data["content"] = None
    else:
        data.pop("content", None)


def _with_reasoning(data: dict[str, Any], wants: Capabilities) -> dict[str, Any]:
    """The message with its reasoning in the field that the template reads; by default in `reasoning_content`."""
    reasoning = data.pop("reasoning_content", None)
    other = data.pop("reasoning", None)
    reasoning = other if reasoning is None else reasoning
    if not isinstance(reasoning, str):
        return data
    field, _, block = (wants.reasoning or "reasoning_content").partition(":")
    if not block:
        data[field] = reasoning
        return data
    content = data.get("content")
    rest = content if isinstance(content, list) else [{"type": "text", "text": content}] if content else []
    data["content"] = [{"type": block, block: reasoning}, *rest]
    return data


def _call_for(call: Any, wants: Capabilities) -> Any:
    """A call with its arguments as an object or as JSON text, as the template needs them."""
    if not isinstance(call, Mapping):
        return call
    inner = call.get("function")
    function = inner if isinstance(inner, Mapping) else call
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        arguments = _object(arguments or "{}") if wants.arguments == "object" else arguments
    elif wants.arguments == "string" and isinstance(arguments, Mapping):
        arguments = json.dumps(arguments, ensure_ascii=False)
    changed = {**function, "arguments": arguments}
    return {"type": "function", **call, "function": changed} if function is inner else changed


def _object(text: str | None) -> dict[str, Any] | None:
    """The JSON object of a text; None if it is none."""
    try:
        value = json.loads(text or "")
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def with_call_ids(messages: Sequence[dict[str, Any]], form: str) -> list[dict[str, Any]]:
    """The conversation with all call ids, and all references to them, in the form that the template accepts."""
    given: dict[str, str] = {}

    def renamed(call: Any) -> Any:
        if not isinstance(call, Mapping) or not isinstance(call.get("id"), str):
            return call
        function = call.get("function")
        name = str(function.get("name", "")) if isinstance(function, Mapping) else ""
        word = hashlib.sha256(call["id"].encode("utf-8", "replace")).hexdigest()[:9]
        number = str(len(given))
        given[call["id"]] = form.replace("{word}", word).replace("{name}", name).replace("{index}", number)
        return {**call, "id": given[call["id"]]}

    changed = []
    for message in messages:
        copy = dict(message)
        if copy.get("tool_calls"):
            copy["tool_calls"] = [renamed(call) for call in copy["tool_calls"]]
        answered = copy.get("tool_call_id")
        if isinstance(answered, str) and answered in given:
            copy["tool_call_id"] = given[answered]
        changed.append(copy)
    return changed
