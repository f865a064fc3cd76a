"""Conversations in openai-harmony's JSON form, rendered as that library renders them, byte for byte."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from syntagma.entry import entry
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


@entry
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
        completion: the role whose header is begun at the end.
        auto_drop_analysis: drop reasoning before the first final message once the assistant's last message is final.
            This is openai-harmony's rule; `keep_for_sampling` follows the specification.
        training: the last message ends with the return token if it is final.

    Raises:
        HeaderError: `E-PARSE-HEADER`, a tool's message without a name, or a message that has no such form.
    """
    messages: Sequence[Mapping[str, Any]] = conversation.get("messages") or []
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
    """Segments of one message; `ends` overrides the token at its end."""
    role, name = _role(message), message.get("name") or (message.get("author") or {}).get("name")
    if role == "tool":
        if not name:
            raise error_for(HEADER, "a tool's message needs the tool's name")
        head = str(name)
    else:
        head = f"{role}:{name}" if name else role
    recipient = message.get("recipient")
    if recipient is not None and recipient != "all":
        head += f" to={recipient}"
    segments: list[Segment] = [stop_segment("start"), ("text", head)]
    if message.get("channel") is not None:
        segments += [stop_segment("channel"), ("text", str(message["channel"]))]
    kind = message.get("content_type")
    if kind is not None and str(kind).startswith(_CONSTRAIN):
        segments += [("text", " "), stop_segment("constrain"), ("text", str(kind)[len(_CONSTRAIN) :])]
    elif kind is not None:
        segments.append(("text", f" {kind}"))
    segments.append(stop_segment("message"))
    content = message.get("content")
    for part in [content] if isinstance(content, str | Mapping) else content or []:
        segments.append(("text", _content(part, has_functions)))
    called = role == "assistant" and recipient is not None
    segments.append(stop_segment(ends or ("call" if called else "end")))
    return [segment for segment in segments if segment[1]]


def _role(message: Mapping[str, Any]) -> str:
    role = message.get("role") or (message.get("author") or {}).get("role")
    if not isinstance(role, str):
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


def _content(part: str | Mapping[str, Any], has_functions: bool) -> str:
    if isinstance(part, str):
        return part
    kind = part.get("type", "text")
    if kind == "text":
        return str(part.get("text", ""))
    if kind == "system_content":
        return _system(part, has_functions)
    if kind == "developer_content":
        sections = [f"# Instructions\n\n{part['instructions']}"] if part.get("instructions") else []
        return "\n\n".join([*sections, *_tools(part)])
    raise error_for(HEADER, f"content of type {kind!r} has no text")


# What the library puts where a system message says nothing; null leaves it out.
_SYSTEM_DEFAULTS: Mapping[str, Any] = {
    "model_identity": "You are ChatGPT, a large language model trained by OpenAI.",
    "knowledge_cutoff": "2024-06",
    "reasoning_effort": "Medium",
    "channel_config": {"valid_channels": ["analysis", "commentary", "final"], "channel_required": True},
}


def _system(part: Mapping[str, Any], has_functions: bool) -> str:
    part = {**_SYSTEM_DEFAULTS, **part}
    about = [part["model_identity"]] if part.get("model_identity") else []
    if part.get("knowledge_cutoff"):
        about.append(f"Knowledge cutoff: {part['knowledge_cutoff']}")
    if part.get("conversation_start_date"):
        about.append(f"Current date: {part['conversation_start_date']}")
    sections = ["\n".join(about)] if about else []
    if part.get("reasoning_effort"):
        sections.append(f"Reasoning: {str(part['reasoning_effort']).lower()}")
    sections += _tools(part)
    channels = part.get("channel_config") or {}
    if channels.get("valid_channels"):
        line = f"# Valid channels: {', '.join(channels['valid_channels'])}."
        if channels.get("channel_required"):
            line += " Channel must be included for every message."
        if has_functions:
            line += f"\nCalls to these tools must go to the commentary channel: '{_FUNCTIONS}'."
        sections.append(line)
    return "\n\n".join(sections)


def _tools(part: Mapping[str, Any]) -> list[str]:
    namespaces = part.get("tools") or {}
    texts = [
        namespace_text(space.get("name", name), space.get("description"), list(space.get("tools") or []))
        for name, space in namespaces.items()
    ]
    return ["\n\n".join(["# Tools", *texts])] if texts else []
