"""The form of Hugging Face's chat templates and data sets: arguments are objects, and replies name their tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from syntagma.conversion.notes import Members, Notes
from syntagma.conversion.openai import read_chat
from syntagma.conversion.tool_calls import exact_object
from syntagma.conversion.values import Conversation, bare_messages
from syntagma.messages import Message, ToolCall

__all__ = ["HuggingFaceForm"]

_MEDIA: Final = ("image", "video", "audio")
_FOREIGN: Final = ("input_audio", "file")
"""types of parts that exist in chat completions but not in chat templates"""


class HuggingFaceForm:
    """`{"messages": […], "tools": […]}`, the arguments of `apply_chat_template`."""

    def read(self, document: Any, notes: Notes) -> Conversation:
        """See `Form`."""
        return read_chat(document, notes, _read_part)

    def write(self, conversation: Conversation, notes: Notes) -> Any:
        """See `Form`."""
        called: dict[str, str] = {}
        messages = []
        for index, message in enumerate(conversation.messages):
            called |= {call.id: call.name for call in message.tool_calls if call.id}
            messages.append(_message(message, f"/messages/{index}", called, notes))
        document: dict[str, Any] = {"messages": messages}
        if conversation.tools is not None:
            for index, tool in enumerate(conversation.tools):
                if tool.input is not None:
                    notes.lose(f"/tools/{index}", "custom tool", "it becomes a function with one text argument")
            document["tools"] = [tool.to_openai() for tool in conversation.tools]
        return document

    def shows(self, document: Any) -> bool:
        """See `Form`."""
        for message in bare_messages(document):
            calls = message.get("tool_calls")
            functions = (
                [call.get("function", call) for call in calls if isinstance(call, Mapping)]
                if isinstance(calls, list)
                else []
            )
            if any(isinstance(one, Mapping) and isinstance(one.get("arguments"), Mapping) for one in functions):
                return True
            content = message.get("content")
            parts = [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []
            if any(part.get("type") in _MEDIA and "source" not in part for part in parts):
                return True
            if isinstance(message.get("thinking"), str):
                return True
        return False


def _read_part(members: Members) -> dict[str, Any]:
    """A part of content. Parts that only chat templates have are kept unchanged."""
    data = members.data
    if data.get("type") == "image" and isinstance(data.get("url"), str) and data.keys() == {"type", "url"}:
        members.take("type")
        return {"type": "image_url", "image_url": {"url": members.take("url")}}
    for name in data:
        members.take(name)
    return dict(data)


def _message(message: Message, pointer: str, called: Mapping[str, str], notes: Notes) -> dict[str, Any]:
    data = message.to_openai()
    if isinstance(message.content, list):
        data["content"] = _parts(message.content, f"{pointer}/content", notes)
    if message.tool_calls:
        data["tool_calls"] = [_call(call) for call in message.tool_calls]
    if message.role == "tool" and message.name is None and (message.tool_call_id or "") in called:
        data["name"] = called[message.tool_call_id or ""]
    if message.incomplete and all(call.complete for call in message.tool_calls):
        notes.lose(pointer, "incomplete message", "the form cannot mark a message as incomplete")
    return data


def _call(call: ToolCall) -> dict[str, Any]:
    data = call.to_openai()
    exact = exact_object(call.arguments)
    # Arguments stay text if an object would change them.
    data["function"]["arguments"] = call.arguments if exact is None else exact
    if not call.id:
        del data["id"]
    return data


def _parts(parts: Sequence[Mapping[str, Any]], pointer: str, notes: Notes) -> list[dict[str, Any]]:
    written = []
    for index, part in enumerate(parts):
        members = Members(part, f"{pointer}/{index}", notes)
        kind = members.take("type")
        image = members.take("image_url") if kind == "image_url" else None
        if isinstance(image, Mapping) and isinstance(image.get("url"), str):
            inner = Members(image, members.at("image_url"), notes)
            written.append({"type": "image", "url": inner.take("url")})
            inner.rest("images have no such member in this form")
            members.rest("images have no such member in this form")
        elif kind == "refusal":
            notes.lose(members.pointer, "refusal", "it becomes text")
            written.append({"type": "text", "text": members.take("refusal")})
        elif kind in _FOREIGN:
            notes.lose(members.pointer, f"content of type {kind!r}", "chat templates have no such part")
        else:
            written.append(dict(part))
    return written
