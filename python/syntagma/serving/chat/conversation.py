"""Messages of a chat completion as templates take them: text parts are joined, and every call is one of a function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from syntagma.conversion.custom_calls import input_arguments
from syntagma.conversion.notes import Members, Notes
from syntagma.serving.body import bad_field, unsupported

__all__ = ["conversation_of"]

_AS_FUNCTION = "the call is one of a function"
_JOINED = "the texts of parts are joined"
_NEED_CONTENT = ("user", "system", "developer", "tool", "function")


def conversation_of(messages: Sequence[dict[str, Any]], notes: Notes) -> list[dict[str, Any]]:
    """The messages, checked; further fields of a message are kept.

    Args:
        messages: the messages of the request.
        notes: takes the members of parts that are not kept.

    Raises:
        RequestError: `E-REQUEST-FIELD`, `E-REQUEST-UNSUPPORTED`, with the pointer.
    """
    if not messages:
        raise bad_field("/messages", "must have at least one message")
    read: list[dict[str, Any]] = []
    legacy_id = ""
    for number, given in enumerate(messages):
        pointer = f"/messages/{number}"
        message = (
            {**given, "content": _content(given, f"{pointer}/content", notes)} if "content" in given else dict(given)
        )
        if message.get("content") is None and message["role"] in _NEED_CONTENT:
            raise bad_field(f"{pointer}/content", f"is required in a message of role {message['role']!r}")
        calls = message.get("tool_calls")
        if calls:
            message["tool_calls"] = [_call(call, f"{pointer}/tool_calls/{i}", notes) for i, call in enumerate(calls)]
        if (call := message.pop("function_call", None)) is not None:
            # The older form has no ids: the result that follows belongs to this call.
            legacy_id = f"call_{number}"
            _check_function(call, f"{pointer}/function_call")
            message["tool_calls"] = [{"id": legacy_id, "type": "function", "function": call}]
        if message["role"] == "function":
            message = {**message, "role": "tool", "tool_call_id": legacy_id}
        read.append(message)
    return read


def _content(message: Mapping[str, Any], pointer: str, notes: Notes) -> Any:
    content = message["content"]
    if not isinstance(content, list):
        return content
    return "\n".join(_text(Members(part, f"{pointer}/{i}", notes)) for i, part in enumerate(content))


def _text(part: Members) -> str:
    kind = part.take("type")
    if kind is None:
        raise bad_field(part.at("type"), "is required")
    if kind not in ("text", "refusal"):
        message = f"content parts of type {kind!r} are not supported"
        raise unsupported(part.at("type"), message, hint="the model reads text only")
    text = part.needed(kind)
    part.rest(_JOINED)
    return text


def _call(call: dict[str, Any], pointer: str, notes: Notes) -> dict[str, Any]:
    if call.get("type") != "custom":
        _check_function(call.get("function"), f"{pointer}/function")
        return call
    whole = Members(call, pointer, notes)
    whole.take("type")
    custom = Members(whole.take("custom"), whole.at("custom"), notes)
    function = {"name": custom.needed("name"), "arguments": input_arguments(custom.needed("input"))}
    called = {"id": whole.take("id"), "type": "function", "function": function}
    for members in (custom, whole):
        members.rest(_AS_FUNCTION)
    return called


def _check_function(function: Any, pointer: str) -> None:
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise bad_field(pointer, "must be an object with a name")
    if not isinstance(function.get("arguments", "{}"), str):
        raise bad_field(f"{pointer}/arguments", "must be JSON text")
