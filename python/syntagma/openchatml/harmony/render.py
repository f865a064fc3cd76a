"""Renders conversations in openai-harmony's JSON form, byte for byte as that library does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from syntagma.entry import entry, strict_entry
from syntagma.openchatml.errors import HEADER, error_for
from syntagma.openchatml.harmony.segments import Segment
from syntagma.openchatml.harmony.tool_types import namespace_text
from syntagma.openchatml.tokens import spell

__all__ = ["render_conversation", "render_message", "stop_segment"]

_CONSTRAIN = spell("constrain")
_FUNCTIONS = "functions"


def stop_segment(name: str) -> Segment:
    """A control token as a segment."""
    return ("token", spell(name))


@strict_entry
def render_conversation(
    conversation: Mapping[str, Any],
    *,
    completion: str | None = None,
    auto_drop_analysis: bool = True,
    training: bool = False,
) -> list[Segment]:
    """Segments of a conversation.

    Args:
        conversation: `{"messages": […]}`.
        completion: the role of the next message; its header is begun at the end.
        auto_drop_analysis: drop reasoning before the first final message once the assistant's last message is final.
            This is openai-harmony's rule; `keep_for_sampling` follows the specification.
        training: the last message ends with the return token if it is final.

    Raises:
        HeaderError: `E-PARSE-HEADER`, a tool message has no name, or a field has the wrong type.
    """
    messages = _objects(conversation, "messages")
    functions = any(_has_functions(message) for message in messages)
    segments: list[Segment] = []
    kept = _kept(messages) if auto_drop_analysis else list(messages)
    for index, message in enumerate(kept):
        last = training and index == len(kept) - 1
        final = message.get("channel") == "final" and _role(message) == "assistant"
        segments += render_message(message, has_functions=functions, ends="return" if last and final else None)
    if completion is not None:
        segments += [stop_segment("start"), ("text", completion)]
    return segments


@entry
def render_message(
    message: Mapping[str, Any], *, has_functions: bool = False, ends: str | None = None
) -> list[Segment]:
    """Segments of one message. `ends` is the name of its terminator, instead of the usual one.

    Raises:
        HeaderError: `E-PARSE-HEADER`, a tool message has no name, or a field has the wrong type.
    """
    role, name = _role(message), _text(message, "name") or _text(_object(message, "author"), "name")
    if role == "tool":
        if not name:
            raise error_for(HEADER, "a tool message needs the tool's name")
        head = name
    else:
        head = f"{role}:{name}" if name else role
    recipient, channel, kind = (_text(message, key) for key in ("recipient", "channel", "content_type"))
    if recipient is not None and recipient != "all":
        head += f" to={recipient}"
    segments: list[Segment] = [stop_segment("start"), ("text", head)]
    if channel is not None:
        segments += [stop_segment("channel"), ("text", channel)]
    if kind is not None and kind.startswith(_CONSTRAIN):
        segments += [("text", " "), stop_segment("constrain"), ("text", kind[len(_CONSTRAIN) :])]
    elif kind is not None:
        segments.append(("text", f" {kind}"))
    segments.append(stop_segment("message"))
    content = message.get("content")
    parts = [content] if isinstance(content, str | Mapping) else content or []
    if not isinstance(parts, list | tuple):
        raise error_for(HEADER, "content is neither text nor a list of parts")
    segments += [("text", _content(part, has_functions)) for part in parts]
    called = role == "assistant" and recipient is not None
    segments.append(stop_segment(ends or ("call" if called else "end")))
    return [segment for segment in segments if segment[1]]


def _role(message: Mapping[str, Any]) -> str:
    role = _text(message, "role") or _text(_object(message, "author"), "role")
    if role is None:
        raise error_for(HEADER, "a message needs a role")
    return role


def _kept(messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    said = [message for message in messages if _role(message) == "assistant"]
    if not said or said[-1].get("channel") != "final":
        return list(messages)
    first = next(index for index, message in enumerate(messages) if message.get("channel") == "final")
    return [message for index, message in enumerate(messages) if index >= first or message.get("channel") != "analysis"]


def _has_functions(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    parts = content if isinstance(content, list) else [content]
    tools = [part.get("tools") for part in parts if isinstance(part, Mapping)]
    return any(isinstance(names, Mapping) and _FUNCTIONS in names for names in tools)


def _content(part: Any, has_functions: bool) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        raise error_for(HEADER, "a part of content is neither text nor an object")
    kind = _text(part, "type") or "text"
    if kind == "text":
        return _text(part, "text") or ""
    if kind == "system_content":
        return _system(part, has_functions)
    if kind == "developer_content":
        instructions = _text(part, "instructions")
        sections = [f"# Instructions\n\n{instructions}"] if instructions else []
        return "\n\n".join([*sections, *_tools(part)])
    raise error_for(HEADER, f"content of type {kind!r} has no text")


_ABOUT = {
    "model_identity": "{}",
    "knowledge_cutoff": "Knowledge cutoff: {}",
    "conversation_start_date": "Current date: {}",
}
"""the first lines of a system message, by field"""

# The library's values for fields that a system message does not set. A field set to null is left out.
_SYSTEM_DEFAULTS: Mapping[str, Any] = {
    "model_identity": "You are ChatGPT, a large language model trained by OpenAI.",
    "knowledge_cutoff": "2024-06",
    "reasoning_effort": "Medium",
    "channel_config": {"valid_channels": ["analysis", "commentary", "final"], "channel_required": True},
}


def _system(part: Mapping[str, Any], has_functions: bool) -> str:
    part = {**_SYSTEM_DEFAULTS, **part}
    said = {key: _text(part, key) for key in _ABOUT}
    about = [_ABOUT[key].format(text) for key, text in said.items() if text]
    sections = ["\n".join(about)] if about else []
    effort = _text(part, "reasoning_effort")
    if effort:
        sections.append(f"Reasoning: {effort.lower()}")
    sections += _tools(part)
    channels = _object(part, "channel_config")
    valid = channels.get("valid_channels")
    if valid:
        if not isinstance(valid, list | tuple) or not all(isinstance(name, str) for name in valid):
            raise error_for(HEADER, "valid_channels is not a list of strings")
        line = f"# Valid channels: {', '.join(valid)}."
        if channels.get("channel_required"):
            line += " Channel must be included for every message."
        if has_functions:
            line += f"\nCalls to these tools must go to the commentary channel: '{_FUNCTIONS}'."
        sections.append(line)
    return "\n\n".join(sections)


def _tools(part: Mapping[str, Any]) -> list[str]:
    namespaces = _object(part, "tools")
    texts = []
    for name in namespaces:
        space = _object(namespaces, name)
        tools = _objects(space, "tools")
        for tool in tools:
            _text(tool, "description")
            if not _text(tool, "name"):
                raise error_for(HEADER, "a tool needs a name")
        texts.append(namespace_text(_text(space, "name") or str(name), _text(space, "description"), tools))
    return ["\n\n".join(["# Tools", *texts])] if texts else []


def _text(data: Mapping[str, Any], key: str) -> str | None:
    value = data.get(key)
    if value is not None and not isinstance(value, str):
        raise error_for(HEADER, f"{key} must be a string")
    return value


def _object(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = data.get(key)
    if value is not None and not isinstance(value, Mapping):
        raise error_for(HEADER, f"{key} is not an object")
    return value or {}


def _objects(data: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    value = data.get(key)
    if value is not None and not (isinstance(value, list | tuple) and all(isinstance(one, Mapping) for one in value)):
        raise error_for(HEADER, f"{key} is not a list of objects")
    return list(value or ())
