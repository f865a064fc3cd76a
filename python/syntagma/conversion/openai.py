"""The form of OpenAI's chat completions and of compatible APIs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from syntagma.conversion.content import content_of, read_parts
from syntagma.conversion.custom_calls import custom_names, input_arguments
from syntagma.conversion.drafts import Drafts
from syntagma.conversion.notes import Members, Notes
from syntagma.conversion.tool_calls import arguments_text, custom_input, with_ids
from syntagma.conversion.values import SETTING, Conversation, bare_messages, listed, tool_of
from syntagma.messages import Message, Tool, ToolCall

__all__ = ["OpenAIForm", "custom_call", "read_chat", "write_tool"]

_REASONING = ("reasoning_content", "reasoning", "thinking")
"""alternative names of the same member; the first is written"""
_ELSEWHERE = "messages have no such field"


class OpenAIForm:
    """`{"messages": […], "tools": […]}`. Arguments of calls are JSON text."""

    def read(self, document: Any, notes: Notes) -> Conversation:
        """See `Form`."""
        return read_chat(document, notes, _part)

    def write(self, conversation: Conversation, notes: Notes) -> Any:
        """See `Form`."""
        custom = custom_names(conversation.tools)
        document: dict[str, Any] = {
            "messages": [
                self._message(message, f"/messages/{index}", custom, notes)
                for index, message in enumerate(with_ids(conversation.messages, notes))
            ]
        }
        if conversation.tools is not None:
            document["tools"] = [write_tool(tool) for tool in conversation.tools]
        return document

    def shows(self, document: Any) -> bool:
        """See `Form`."""
        return any(
            isinstance(message.get("tool_calls"), list) or isinstance(message.get("refusal"), str)
            for message in bare_messages(document)
        )

    def _message(self, message: Message, pointer: str, custom: Collection[str], notes: Notes) -> dict[str, Any]:
        data = message.to_openai()
        if isinstance(message.content, list) and len(message.content) == 1:
            part = message.content[0]
            if part.keys() == {"type", "refusal"}:
                data |= {"content": None, "refusal": part["refusal"]}
        if message.tool_calls:
            data["tool_calls"] = [_call(call, custom) for call in message.tool_calls]
        if message.incomplete and all(call.complete for call in message.tool_calls):
            notes.lose(pointer, "incomplete message", "the form cannot mark a message as incomplete")
        return data


def _part(members: Members) -> dict[str, Any]:
    """A part of content, unchanged: messages use the same parts as this form."""
    for name in members.data:
        members.take(name)
    return dict(members.data)


def read_chat(document: Any, notes: Notes, read_part: Callable[[Members], dict[str, Any] | None]) -> Conversation:
    """Read a conversation in the form of chat completions or chat templates.

    Args:
        document: an object with `messages` and `tools`, a list of messages, or one message.
        notes: collects the losses.
        read_part: converts a part of content.

    Raises:
        ArgumentError: `E-CONVERT-FORM`, the document is not of this form.
    """
    top, items = listed(document, "messages", notes)
    tools = None
    if top is not None:
        given = top.objects("tools")
        if isinstance(top.data.get("tools"), list | tuple):
            tools = tuple(_tool(tool, f"/tools/{index}", notes) for index, tool in enumerate(given))
        top.rest(SETTING)
    notes.origins["/tools"] = "/tools"
    drafts = Drafts(notes)
    called: dict[str, str] = {}
    for number, (item, pointer) in enumerate(items):
        members = Members(item, pointer, notes)
        data, places = _message(members, number, notes, read_part)
        called |= {call["id"]: call["function"]["name"] for call in data.get("tool_calls", ()) if call["id"]}
        # The call already has the name of the tool.
        if data["role"] == "tool" and called.get(data.get("tool_call_id") or "") == data.get("name"):
            data.pop("name", None)
        drafts.add(data, pointer, places)
    custom = custom_names(tools)
    for pointer, name in _custom_calls(items):
        if name not in custom:
            notes.lose(pointer, "type", "the custom tool is not declared, so it is read as a function")
    return Conversation(messages=drafts.messages(), tools=tools)


def _message(
    members: Members, number: int, notes: Notes, read_part: Callable[[Members], dict[str, Any] | None]
) -> tuple[dict[str, Any], dict[str, str]]:
    role = members.needed("role")
    if not role:
        raise notes.malformed(members.at("role"), "must not be empty")
    parts = read_parts(members.take("content"), members.at("content"), notes, read_part)
    refusal = members.text("refusal")
    if refusal:
        parts.append(({"type": "refusal", "refusal": refusal}, members.at("refusal")))
    data: dict[str, Any] = {"role": role, "content": content_of([part for part, _ in parts])}
    places = {f"/content/{index}": place for index, (_, place) in enumerate(parts)}
    for name in _REASONING:
        said = members.text(name)
        if said and data.get("reasoning_content") is None:
            data["reasoning_content"] = said
            places["/reasoning_content"] = members.at(name)
        elif said and said != data["reasoning_content"]:
            members.lose(name, "the message already has other reasoning")
    calls = [
        _read_call(Members(call, f"{members.at('tool_calls')}/{index}", notes), notes)
        for index, call in enumerate(members.objects("tool_calls"))
    ]
    if (older := members.take("function_call")) is not None:
        function = Members(older, members.at("function_call"), notes)
        notes.lose(function.pointer, "deprecated spelling", "the call becomes one of a list, with an id")
        calls.append(_function(function, f"call_{number}", notes))
    if calls:
        data["tool_calls"] = calls
    for name in ("tool_call_id", "name"):
        if (value := members.text(name)) is not None:
            data[name] = value
    if role == "function":
        notes.lose(members.at("role"), "deprecated spelling", "the role becomes tool")
        data["role"] = "tool"
    members.rest(_ELSEWHERE)
    return data, places


def _read_call(members: Members, notes: Notes) -> dict[str, Any]:
    kind = members.take("type")
    call_id = members.text("id") or ""
    complete = members.take("complete") is not False
    if kind == "custom":
        custom = Members(members.take("custom"), members.at("custom"), notes)
        name, arguments = custom.needed("name"), input_arguments(custom.needed("input"))
        custom.rest("calls have no such member")
        call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
    elif "function" in members.data:
        call = _function(Members(members.take("function"), members.at("function"), notes), call_id, notes)
    else:
        call = _function(members, call_id, notes)
    members.rest("calls have no such member")
    return call if complete else {**call, "complete": False}


def _function(members: Members, call_id: str, notes: Notes) -> dict[str, Any]:
    name, given = members.needed("name"), members.take("arguments")
    if not isinstance(given, str | Mapping | None):
        raise notes.malformed(members.at("arguments"), "must be JSON text or an object")
    members.rest("calls have no such member")
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments_text(given)}}


def _custom_calls(items: Sequence[tuple[Any, str]]) -> list[tuple[str, str]]:
    """The places of calls of type `custom`, with the names of their tools."""
    return [
        (f"{pointer}/tool_calls/{index}", call["custom"]["name"])
        for item, pointer in items
        for index, call in enumerate(item.get("tool_calls") or ())
        if call.get("type") == "custom"
    ]


def _tool(data: Any, pointer: str, notes: Notes) -> Tool:
    if isinstance(data, Tool):
        return data
    members = Members(data, pointer, notes)
    kind = members.take("type")
    inner = members
    if kind is not None and kind in members.data:
        inner = Members(members.take(kind), members.at(kind), notes)
    for name in (
        ("name", "description", "format") if kind == "custom" else ("name", "description", "parameters", "strict")
    ):
        inner.take(name)
    inner.rest("tools have no such field")
    members.rest("tools have no such field")
    return tool_of(data, pointer, {}, notes)


def _call(call: ToolCall, custom: Collection[str]) -> dict[str, Any]:
    data = call.to_openai()
    text = custom_call(call, custom)
    if text is not None:
        del data["function"]
        data |= {"type": "custom", "custom": {"name": call.name, "input": text}}
    return data


def custom_call(call: ToolCall, custom: Collection[str]) -> str | None:
    """The input text of a call of a custom tool; None for a call of a function."""
    return custom_input(call) if call.name in custom else None


def write_tool(tool: Tool) -> dict[str, Any]:
    """A tool in the form of chat completions, with custom tools as type `custom`."""
    if tool.input is None:
        return tool.to_openai()
    custom: dict[str, Any] = {"name": tool.name}
    if tool.description is not None:
        custom["description"] = tool.description
    if tool.input.syntax != "text":
        grammar = {"syntax": tool.input.syntax, "definition": tool.input.definition}
        custom["format"] = {"type": "grammar", "grammar": grammar}
    return {"type": "custom", "custom": custom}
