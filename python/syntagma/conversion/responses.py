"""The form of OpenAI's Responses API: an assistant's reasoning, texts and calls are separate items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from syntagma.conversion.content import content_of, joined_content, parts_of, read_parts
from syntagma.conversion.custom_calls import custom_names, input_arguments
from syntagma.conversion.drafts import Drafts
from syntagma.conversion.notes import Members, Notes, says_nothing
from syntagma.conversion.openai import custom_call
from syntagma.conversion.tool_calls import with_ids
from syntagma.conversion.values import SETTING, Conversation, bare_messages, listed, tool_of
from syntagma.messages import Message, Tool, ToolCall

__all__ = ["ResponsesForm", "each_tool", "name_in", "read_items", "read_tool"]

_CALLS: Final = {"function_call": "arguments", "custom_tool_call": "input"}
"""types of items that are calls, each with the member that has the tool's input"""
_OUTPUTS: Final = ("function_call_output", "custom_tool_call_output")
_OWN_ITEMS: Final = ("reasoning", *_CALLS, *_OUTPUTS)
_OWN_PARTS: Final = ("input_text", "output_text", "input_image", "input_file")
_ROLES: Final = ("user", "assistant", "system", "developer")
_OF_TOOLS: Final = ("name", "description", "parameters", "strict")
_NO_SUCH: Final = "messages have no such field"
_CUT: Final = "incomplete"


class ResponsesForm:
    """`{"instructions": …, "input": […], "tools": […]}`. The `output` of an answer is read, too."""

    def read(self, document: Any, notes: Notes) -> Conversation:
        """See `Form`."""
        drafts = Drafts(notes)
        tools = None
        items: list[tuple[Any, str]]
        if isinstance(document, Mapping) and isinstance(document.get("input"), str):
            top: Members | None = Members(document, "", notes)
            items = [({"role": "user", "content": document["input"]}, "/input")]
        elif isinstance(document, Mapping) and not document.keys() & {"input", "output", "role"}:
            top, items = listed([document], "input", notes)
            items = [(document, "")]
        else:
            is_answer = isinstance(document, Mapping) and "output" in document and "input" not in document
            top, items = listed(document, "output" if is_answer else "input", notes)
        if top is not None:
            top.take("input")
            instructions = top.text("instructions")
            if instructions:
                drafts.add({"role": "system", "content": instructions}, "/instructions")
            if isinstance(top.data.get("tools"), list | tuple):
                places = {"/function": ""} | {f"/function/{name}": f"/{name}" for name in _OF_TOOLS}
                tools = tuple(
                    tool_of(read_tool(tool, at, notes, namespace), at, places, notes)
                    for tool, at, namespace in each_tool(top.objects("tools"), "/tools", notes)
                )
            top.rest(SETTING)
        read_items(items, notes, drafts)
        notes.origins["/tools"] = "/tools"
        custom = custom_names(tools)
        for item, pointer in items:
            if item.get("type") == "custom_tool_call" and item.get("name") not in custom:
                notes.lose(f"{pointer}/type", "type", "the custom tool is not declared, so it is read as a function")
        return Conversation(messages=drafts.messages(), tools=tools)

    def write(self, conversation: Conversation, notes: Notes) -> Any:
        """See `Form`."""
        messages = with_ids(conversation.messages, notes)
        custom = custom_names(conversation.tools)
        document: dict[str, Any] = {}
        begin = 0
        if messages and messages[0].role == "system" and isinstance(messages[0].content, str) and messages[0].content:
            document["instructions"] = messages[0].content
            begin = 1
        called: dict[str, bool] = {}
        items: list[dict[str, Any]] = []
        for index, message in enumerate(messages):
            pointer = f"/messages/{index}"
            if message.name is not None:
                notes.lose(f"{pointer}/name", "name", "items have no name")
            if index < begin:
                continue
            if message.role == "assistant":
                if index > begin and messages[index - 1].role == "assistant" and _joins(messages[index - 1], message):
                    notes.lose(pointer, "message boundary", "its items follow those of the message before")
                items += _turn(message, pointer, custom, notes)
                called |= {call.id: custom_call(call, custom) is not None for call in message.tool_calls}
            else:
                items.append(_other(message, pointer, called, notes))
        document["input"] = items
        if conversation.tools is not None:
            document["tools"] = [_write_tool(tool) for tool in conversation.tools]
        return document

    def shows(self, document: Any) -> bool:
        """See `Form`."""
        if isinstance(document, Mapping) and (
            isinstance(document.get("input"), str | list) or isinstance(document.get("output"), list)
        ):
            return True
        for item in bare_messages(document):
            if item.get("type") in _OWN_ITEMS:
                return True
            content = item.get("content")
            for part in content if isinstance(content, list) else ():
                if isinstance(part, Mapping) and part.get("type") in _OWN_PARTS:
                    return True
        return False


def read_items(items: Sequence[tuple[Any, str]], notes: Notes, drafts: Drafts) -> None:
    """Add the messages of a list of items.

    The parts of an assistant's turn become one message. Text or reasoning after calls begins a new message.

    Args:
        items: the items as given, with their places.
        notes: collects the losses.
        drafts: collects the messages.

    Raises:
        ArgumentError: `E-CONVERT-FORM`, an item is malformed.
    """
    for item, pointer in items:
        members = Members(item, pointer, notes)
        kind = members.take("type")
        kind = "message" if kind is None else kind
        if kind not in ("message", *_OWN_ITEMS):
            notes.unknown(pointer, "item", kind)
            continue
        members.lose("id", "messages have no ids")
        if kind == "reasoning":
            _read_reasoning(members, notes, drafts)
        elif kind in _CALLS:
            _read_call(members, _CALLS[kind], drafts)
        elif kind in _OUTPUTS:
            call_id = members.needed("call_id")
            _add(members, "output", {"role": "tool", "tool_call_id": call_id}, notes, drafts)
        elif members.take("role") == "assistant":
            parts = read_parts(members.take("content"), members.at("content"), notes, _part)
            is_cut = members.take("status") == _CUT
            said = {"content": content_of([part for part, _ in parts])} | ({"incomplete": True} if is_cut else {})
            drafts.add_part(said, pointer)
        else:
            role = members.data.get("role")
            if role not in _ROLES:
                raise notes.malformed(members.at("role"), f"must be one of {', '.join(_ROLES)}")
            _add(members, "content", {"role": role}, notes, drafts)
        members.rest(_NO_SUCH)


def _add(members: Members, field: str, data: dict[str, Any], notes: Notes, drafts: Drafts) -> None:
    if members.data.get(field) is None:
        raise notes.malformed(members.at(field), "is missing; it must be a string or a list of objects")
    parts = read_parts(members.take(field), members.at(field), notes, _part)
    if members.take("status") == _CUT:
        notes.lose(members.at("status"), "status", "only an assistant message can be incomplete")
    places = {f"/content/{index}": place for index, (_, place) in enumerate(parts)}
    drafts.add({**data, "content": content_of([part for part, _ in parts])}, members.pointer, places)


def _read_reasoning(members: Members, notes: Notes, drafts: Drafts) -> None:
    name = "summary" if says_nothing(members.data.get("content")) else "content"
    texts: list[str] = []
    for index, item in enumerate(members.objects(name)):
        part = Members(item, f"{members.at(name)}/{index}", notes)
        part.take("type")
        text = part.take("text")
        part.rest(_NO_SUCH)
        if not isinstance(text, str):
            continue
        if texts:
            notes.lose(part.pointer, "part boundary", "the text is joined to that of the part before")
        texts.append(text)
    if name == "summary" and texts:
        notes.lose(members.at(name), "summary", "it is read as the reasoning itself")
    members.lose("summary", "the item also has the reasoning itself")
    members.lose("encrypted_content", "only the model's provider can read it")
    if members.take("status") == _CUT:
        notes.lose(members.at("status"), "status", "messages cannot mark reasoning as incomplete")
    if texts:
        drafts.add_part({"reasoning_content": "\n".join(texts)}, members.pointer)


def _read_call(members: Members, field: str, drafts: Drafts) -> None:
    call_id, name, said = members.needed("call_id"), members.needed("name"), members.needed(field)
    if namespace := members.text("namespace"):
        name = name_in(namespace, name)
    arguments = said if field == "arguments" else input_arguments(said)
    function = {"name": name, "arguments": arguments}
    call: dict[str, Any] = {"id": call_id, "type": "function", "function": function}
    if members.take("status") == _CUT:
        call["complete"] = False
    drafts.add_part({"tool_calls": [call]}, members.pointer)


def _part(members: Members) -> dict[str, Any] | None:
    kind = members.take("type")
    match kind:
        case "input_text" | "output_text" | "text":
            return {"type": "text", "text": members.needed("text")}
        case "refusal":
            return {"type": "refusal", "refusal": members.needed("refusal")}
        case "input_image" if isinstance(members.data.get("image_url"), str):
            image = {"url": members.take("image_url")}
            return {"type": "image_url", "image_url": image | _given(members, ("detail",))}
        case "input_file":
            return {"type": "file", "file": _given(members, ("file_data", "filename", "file_id"))}
        case "input_audio":
            return {"type": kind, **_given(members, ("input_audio",))}
    return None


def _given(members: Members, names: Sequence[str]) -> dict[str, Any]:
    return {name: value for name in names if (value := members.take(name)) is not None}


def name_in(namespace: str, name: str) -> str:
    """The one name of a tool in a namespace, which messages know it by."""
    return f"{namespace.rstrip('_')}__{name}"


def each_tool(tools: Iterable[Any], pointer: str, notes: Notes) -> Iterator[tuple[Mapping[str, Any], str, str | None]]:
    """The tools of a list, and those in its namespaces, each with its place and its namespace.

    Raises:
        ArgumentError: `E-CONVERT-FORM`, a tool or a namespace is malformed.
    """
    for index, tool in enumerate(tools):
        members = Members(tool, f"{pointer}/{index}", notes)
        if members.data.get("type") != "namespace":
            yield members.data, members.pointer, None
            continue
        members.take("type")
        namespace = members.needed("name")
        for inner, given in enumerate(members.objects("tools")):
            place = f"{members.at('tools')}/{inner}"
            yield Members(given, place, notes).data, place, namespace
        members.rest("a namespace is read as the names of its tools")


def read_tool(data: Any, pointer: str, notes: Notes, namespace: str | None = None) -> dict[str, Any]:
    """A tool of this form in the form of chat completions.

    Raises:
        ArgumentError: `E-CONVERT-FORM`, the tool is not an object.
    """
    members = Members(data, pointer, notes)
    kind = members.take("type")
    if kind == "custom":
        tool = inner = {"type": kind, **_given(members, ("name", "description", "format"))}
    else:
        if kind != "function":
            notes.unknown(pointer, "tool", kind)
        inner = _given(members, _OF_TOOLS)
        tool = {"type": "function", "function": inner}
    if namespace is not None and isinstance(inner.get("name"), str):
        inner["name"] = name_in(namespace, inner["name"])
    members.rest("tools have no such field")
    return tool


# -- writing


def _joins(before: Message, message: Message) -> bool:
    """Whether the items of a message would be read as part of the message before."""
    return not before.tool_calls or (not message.content and message.reasoning_content is None)


def _turn(message: Message, pointer: str, custom: Any, notes: Notes) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if message.reasoning_content is not None:
        content = [{"type": "reasoning_text", "text": message.reasoning_content}]
        items.append({"type": "reasoning", "summary": [], "content": content})
    cut_calls = any(not call.complete for call in message.tool_calls)
    if message.content or not items + list(message.tool_calls):
        item = {"type": "message", "role": "assistant", "content": _content(message, pointer, notes)}
        items.append(item | ({"status": _CUT} if message.incomplete and not cut_calls else {}))
    elif message.incomplete and not cut_calls:
        notes.lose(pointer, "incomplete message", "only a text or a call can be marked as incomplete")
    return items + [_write_call(call, custom) for call in message.tool_calls]


def _write_call(call: ToolCall, custom: Any) -> dict[str, Any]:
    text = custom_call(call, custom)
    said = {"arguments": call.arguments} if text is None else {"input": text}
    kind = "function_call" if text is None else "custom_tool_call"
    item = {"type": kind, "call_id": call.id, "name": call.name, **said}
    return item if call.complete else {**item, "status": _CUT}


def _other(message: Message, pointer: str, called: Mapping[str, bool], notes: Notes) -> dict[str, Any]:
    content = _content(message, pointer, notes)
    for name in ("reasoning_content", "tool_calls"):
        if getattr(message, name):
            notes.lose(f"{pointer}/{name}", name, f"in this form, messages of role {message.role!r} have no such field")
    if message.role == "tool":
        kind = "custom_tool_call_output" if called.get(message.tool_call_id or "") else "function_call_output"
        return {"type": kind, "call_id": message.tool_call_id or "", "output": content}
    if message.tool_call_id is not None:
        reason = f"in this form, messages of role {message.role!r} have no such field"
        notes.lose(f"{pointer}/tool_call_id", "tool_call_id", reason)
    role = message.role
    if role not in _ROLES:
        notes.lose(f"{pointer}/role", "role", f"the form has no role {role!r}; it becomes user")
        role = "user"
    return {"type": "message", "role": role, "content": content}


def _content(message: Message, pointer: str, notes: Notes) -> str | list[dict[str, Any]]:
    content = joined_content(message.content, None) or ""
    if isinstance(content, str):
        return content
    written = []
    for index, part in enumerate(parts_of(content)):
        members = Members(part, f"{pointer}/content/{index}", notes)
        item = _write_part(members, message.role, notes)
        if item is None:
            notes.lose(members.pointer, f"content of type {part.get('type')!r}", "the form has no such part")
            continue
        members.rest("parts have no such member in this form")
        written.append(item)
    return written


def _write_part(members: Members, role: str, notes: Notes) -> dict[str, Any] | None:
    kind = members.take("type")
    if kind == "text":
        return {"type": "output_text" if role == "assistant" else "input_text", "text": members.take("text")}
    if kind == "refusal":
        return {"type": kind, "refusal": members.take("refusal")}
    if kind == "input_audio":
        return {"type": kind, **_given(members, (kind,))}
    held = members.data.get(kind) if isinstance(kind, str) else None
    if not isinstance(held, Mapping):
        return None
    inner = Members(held, members.at(kind), notes)
    if kind == "image_url" and isinstance(held.get("url"), str):
        members.take(kind)
        item = {"type": "input_image", "image_url": inner.take("url"), **_given(inner, ("detail",))}
    elif kind == "file":
        members.take(kind)
        item = {"type": "input_file", **_given(inner, ("file_data", "filename", "file_id"))}
    else:
        return None
    inner.rest("parts have no such member in this form")
    return item


def _write_tool(tool: Tool) -> dict[str, Any]:
    data: dict[str, Any] = {"type": "function" if tool.input is None else "custom", "name": tool.name}
    if tool.description is not None:
        data["description"] = tool.description
    if tool.input is None:
        data |= {"parameters": tool.parameters} if tool.parameters is not None else {}
        data |= {"strict": True} if tool.strict else {}
    elif tool.input.syntax != "text":
        data["format"] = {"type": "grammar", "syntax": tool.input.syntax, "definition": tool.input.definition}
    return data
