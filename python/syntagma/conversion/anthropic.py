"""The form of Anthropic's Messages API: content is a list of blocks, which include calls and results of tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from syntagma.conversion.content import (
    content_of,
    data_url,
    flat_text,
    parts_of,
    read_part,
    read_parts,
    split_data_url,
)
from syntagma.conversion.drafts import Drafts
from syntagma.conversion.notes import Members, Notes, says_nothing
from syntagma.conversion.tool_calls import object_of, with_ids
from syntagma.conversion.values import SETTING, Conversation, bare_messages, listed, tool_of
from syntagma.messages import Message, Tool

__all__ = ["AnthropicForm", "read_messages", "read_tool"]

_OWN_BLOCKS: Final = ("tool_use", "tool_result", "thinking", "redacted_thinking", "document")
_SYSTEM: Final = ("system", "developer")
_NO_SUCH: Final = "messages have no field for this member of a block"
_PDF: Final = "application/pdf"
_ERROR: Final = "Error: "


class AnthropicForm:
    """`{"system": …, "messages": […], "tools": […]}`. Arguments of calls are objects."""

    def read(self, document: Any, notes: Notes) -> Conversation:
        """See `Form`."""
        top, items = listed(document, "messages", notes)
        tools = None
        drafts = Drafts(notes)
        if top is not None:
            read_system(top.take("system"), "/system", notes, drafts)
            if isinstance(top.data.get("tools"), list | tuple):
                tools = tuple(
                    tool_of(read_tool(tool, f"/tools/{index}", notes), f"/tools/{index}", _PLACES, notes)
                    for index, tool in enumerate(top.objects("tools"))
                )
            top.rest(SETTING)
        read_messages(items, notes, drafts)
        notes.origins["/tools"] = "/tools"
        return Conversation(messages=drafts.messages(), tools=tools)

    def write(self, conversation: Conversation, notes: Notes) -> Any:
        """See `Form`."""
        messages = with_ids(conversation.messages, notes)
        document: dict[str, Any] = {}
        begin = 0
        while begin < len(messages) and messages[begin].role in _SYSTEM:
            begin += 1
        if begin:
            document["system"] = _system(messages[:begin], notes)
        document["messages"] = _messages(messages, begin, notes)
        if conversation.tools is not None:
            document["tools"] = [
                _write_tool(tool, f"/tools/{index}", notes) for index, tool in enumerate(conversation.tools)
            ]
        return document

    def shows(self, document: Any) -> bool:
        """See `Form`."""
        if isinstance(document, Mapping):
            tools = document.get("tools")
            declared = tools if isinstance(tools, list) else []
            if any(isinstance(tool, Mapping) and "input_schema" in tool for tool in declared):
                return True
            if isinstance(document.get("system"), str | list) and isinstance(document.get("messages"), list):
                return True
        for message in bare_messages(document):
            content = message.get("content")
            for block in content if isinstance(content, list) else ():
                if isinstance(block, Mapping) and (block.get("type") in _OWN_BLOCKS or "source" in block):
                    return True
        return False


_PLACES: Final = {"/function/name": "/name", "/function/description": "/description"} | {
    "/function/parameters": "/input_schema",
    "/function": "",
}


def read_system(system: Any, pointer: str, notes: Notes, drafts: Drafts) -> None:
    """Add the system prompt as a message. It is a text or a list of text blocks; an empty one adds nothing."""
    if says_nothing(system):
        return
    parts = read_parts(system, pointer, notes, _text_block)
    places = {f"/content/{index}": place for index, (_, place) in enumerate(parts)}
    drafts.add({"role": "system", "content": content_of([part for part, _ in parts])}, pointer, places)


def read_messages(items: Sequence[tuple[Any, str]], notes: Notes, drafts: Drafts) -> None:
    """Add messages. Each result of a tool becomes a message.

    Args:
        items: the messages as given, with their places.
        notes: collects the losses.
        drafts: collects the messages.

    Raises:
        ArgumentError: `E-CONVERT-FORM`, a message is malformed.
    """
    for item, pointer in items:
        message = Members(item, pointer, notes)
        role, content, place = message.needed("role"), message.take("content"), message.at("content")
        if not role:
            raise notes.malformed(message.at("role"), "must not be empty")
        if role == "assistant":
            _read_answer(content, place, notes, drafts, pointer)
        else:
            _read_turn(role, content, place, notes, drafts)
        if message.data.get("type") == "message":
            message.take("type")
        message.rest("messages have no such field")


def _read_turn(role: str, content: Any, place: str, notes: Notes, drafts: Drafts) -> None:
    """Add a user message. Its tool results, and the content between them, become messages of their own."""
    if not isinstance(content, list | tuple):
        parts = read_parts(content, place, notes, _block)
        drafts.add({"role": role, "content": content_of([part for part, _ in parts])}, place)
        return
    waiting: list[tuple[dict[str, Any], str]] = []
    made = len(drafts.made)

    def add() -> None:
        places = {f"/content/{index}": at for index, (_, at) in enumerate(waiting)}
        drafts.add({"role": role, "content": content_of([part for part, _ in waiting])}, place, places)
        waiting.clear()

    for index, item in enumerate(content):
        at = f"{place}/{index}"
        block = Members(item, at, notes)
        if block.data.get("type") != "tool_result":
            part = read_part(item, at, notes, _block)
            waiting += [] if part is None else [(part, at)]
            continue
        if waiting:
            add()
        _read_result(block, notes, drafts)
    if waiting or len(drafts.made) == made:
        add()


def _read_result(block: Members, notes: Notes, drafts: Drafts) -> None:
    block.take("type")
    call_id = block.needed("tool_use_id")
    parts = read_parts(block.take("content"), block.at("content"), notes, _block)
    places = {f"/content/{index}": place for index, (_, place) in enumerate(parts)}
    content = content_of([part for part, _ in parts])
    if block.take("is_error") is True:
        notes.lose(block.at("is_error"), "is_error", f"the text says it: {_ERROR.strip()}")
        content, places = _as_error(content, places)
    drafts.add({"role": "tool", "tool_call_id": call_id, "content": content}, block.pointer, places)
    block.rest(_NO_SUCH)


def _as_error(
    content: str | list[dict[str, Any]], places: dict[str, str]
) -> tuple[str | list[dict[str, Any]], dict[str, str]]:
    """A result that says that it is an error, which no other form has a field for."""
    if isinstance(content, str):
        return content if content.startswith(_ERROR) else f"{_ERROR}{content}", places
    if str(content[0].get("text")).startswith(_ERROR):
        return content, places
    moved = {f"/content/{index + 1}": places[f"/content/{index}"] for index in range(len(content))}
    return [{"type": "text", "text": _ERROR.strip()}, *content], moved


def _read_answer(content: Any, place: str, notes: Notes, drafts: Drafts, pointer: str) -> None:
    """Add an assistant message: one message, for any order of blocks."""
    data: dict[str, Any] = {"role": "assistant"}
    places: dict[str, str] = {}
    parts: list[tuple[dict[str, Any], str]] = []
    calls: list[dict[str, Any]] = []
    if not isinstance(content, list | tuple):
        parts = read_parts(content, place, notes, _text_block)
        content = ()
    for index, item in enumerate(content):
        block = Members(item, f"{place}/{index}", notes)
        match block.data.get("type"):
            case "thinking":
                _think(block, data, places, notes)
                if parts or calls:
                    notes.lose(block.pointer, "order of blocks", "reasoning is moved before the content")
            case "redacted_thinking":
                notes.lose(block.pointer, "redacted_thinking", "only the model's provider can read it")
            case "tool_use":
                places[f"/tool_calls/{len(calls)}"] = block.pointer
                calls.append(_read_call(block, notes))
            case _:
                part = read_part(item, block.pointer, notes, _text_block)
                if part is not None:
                    parts.append((part, block.pointer))
                    if calls:
                        notes.lose(block.pointer, "order of blocks", "content is moved before the calls")
    data["content"] = content_of([part for part, _ in parts])
    if calls:
        data["tool_calls"] = calls
    places |= {f"/content/{index}": at for index, (_, at) in enumerate(parts)}
    drafts.add(data, pointer, places)


def _think(block: Members, data: dict[str, Any], places: dict[str, str], notes: Notes) -> None:
    block.take("type")
    text = block.needed("thinking")
    block.lose("signature", "only the model's provider can check it")
    block.rest(_NO_SUCH)
    if "reasoning_content" in data:
        notes.lose(block.pointer, "block boundary", "the text is joined to that of the block before")
        text = f"{data['reasoning_content']}\n{text}"
    places.setdefault("/reasoning_content", block.at("thinking"))
    data["reasoning_content"] = text


def _read_call(block: Members, notes: Notes) -> dict[str, Any]:
    block.take("type")
    given = block.take("input")
    if not isinstance(given, Mapping):
        raise notes.malformed(block.at("input"), "must be an object")
    function = {"name": block.needed("name"), "arguments": msgspec.json.encode(given).decode()}
    call = {"id": block.needed("id"), "type": "function", "function": function}
    block.rest(_NO_SUCH)
    return call


def _text_block(members: Members) -> dict[str, Any] | None:
    return {"type": "text", "text": members.needed("text")} if members.take("type") == "text" else None


def _block(members: Members) -> dict[str, Any] | None:
    kind = members.take("type")
    if kind == "text":
        return {"type": "text", "text": members.needed("text")}
    source = members.data.get("source")
    url = _url(source) if isinstance(source, Mapping) else None
    if kind == "image" and url is not None:
        members.take("source")
        return {"type": "image_url", "image_url": {"url": url}}
    if kind == "document" and isinstance(source, Mapping) and (text := _document(source)) is not None:
        members.take("source")
        heads = [head for name in ("title", "context") if (head := members.text(name))]
        return {"type": "text", "text": "\n\n".join([*heads, text])}
    if kind == "document" and isinstance(source, Mapping) and url is not None and source["type"] == "base64":
        members.take("source")
        title = members.text("title")
        return {"type": "file", "file": {"file_data": url} | ({"filename": title} if title else {})}
    return None


def _document(source: Mapping[str, Any]) -> str | None:
    """The text of a document that is given as text, or as blocks of text; None if it is none of them."""
    match source:
        case {"type": "text", "data": str(text)} | {"type": "content", "content": str(text)}:
            return text
        case {"type": "content", "content": [*blocks]}:
            texts = [block.get("text") for block in blocks if isinstance(block, Mapping)]
            known = [text for text in texts if isinstance(text, str)]
            return "\n".join(known) if len(known) == len(blocks) else None
    return None


def _url(source: Mapping[str, Any]) -> str | None:
    """The URL of a source that has no other data; None if it has, or is of another type."""
    match source:
        case {"type": "base64", "media_type": str(media_type), "data": str(data)} if len(source) == 3:
            return data_url(media_type, data)
        case {"type": "url", "url": str(url)} if len(source) == 2:
            return url
    return None


def read_tool(data: Any, pointer: str, notes: Notes) -> dict[str, Any]:
    """An Anthropic tool in the form of chat completions.

    Raises:
        ArgumentError: `E-CONVERT-FORM`, the tool is malformed.
    """
    members = Members(data, pointer, notes)
    kind = members.text("type")
    if kind not in (None, "custom"):
        notes.unknown(pointer, "tool", kind)
    schema = members.take("input_schema")
    if schema is None:
        raise notes.malformed(members.at("input_schema"), "is missing; a tool needs a schema of its input")
    function: dict[str, Any] = {"name": members.take("name"), "parameters": schema}
    function |= {name: value for name in ("description", "strict") if (value := members.take(name)) is not None}
    members.rest("tools have no such field")
    return {"type": "function", "function": function}


# -- writing


def _system(messages: Sequence[Message], notes: Notes) -> str | list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for index, message in enumerate(messages):
        pointer = f"/messages/{index}"
        if message.role != "system":
            notes.lose(f"{pointer}/role", "role", f"{message.role} becomes system")
        if index:
            notes.lose(pointer, "message boundary", "the form has one system prompt, made of blocks")
        blocks += _texts(message.content or "", f"{pointer}/content", notes)
        _lose_others(message, pointer, ("role", "content"), notes)
    return content_of(blocks)


def _messages(messages: Sequence[Message], begin: int, notes: Notes) -> list[dict[str, Any]]:
    written: list[dict[str, Any]] = []
    results: list[dict[str, Any]] | None = None
    for index, message in enumerate(messages[begin:], begin):
        pointer = f"/messages/{index}"
        if message.role == "assistant":
            results = None
            written.append({"role": "assistant", "content": _answer(message, pointer, notes)})
            _lose_others(message, pointer, ("role", "content", "reasoning_content", "tool_calls"), notes)
            continue
        blocks = _blocks(parts_of(message.content), f"{pointer}/content", notes)
        if message.role == "tool":
            result = {"type": "tool_result", "tool_use_id": message.tool_call_id or "", "content": content_of(blocks)}
            if results is None:
                results = []
                written.append({"role": "user", "content": results})
            results.append(result)
            _lose_others(message, pointer, ("role", "content", "tool_call_id"), notes)
            continue
        if message.role != "user":
            notes.lose(f"{pointer}/role", "role", f"{message.role} is allowed only at the beginning; it becomes user")
        if results is not None and blocks:
            # Content of a user after tool results belongs to the same message.
            results += blocks
        else:
            written.append({"role": "user", "content": content_of(blocks)})
        results = None
        _lose_others(message, pointer, ("role", "content"), notes)
    return written


def _answer(message: Message, pointer: str, notes: Notes) -> str | list[dict[str, Any]]:
    texts = _texts(message.content or "", f"{pointer}/content", notes)
    blocks: list[dict[str, Any]] = []
    if message.reasoning_content is not None:
        blocks.append({"type": "thinking", "thinking": message.reasoning_content, "signature": ""})
    calls = []
    for index, call in enumerate(message.tool_calls):
        place = f"{pointer}/tool_calls/{index}"
        calls.append({"type": "tool_use", "id": call.id, "name": call.name, "input": object_of(call, place, notes)})
        if not call.complete:
            notes.lose(place, "incomplete call", "the form cannot mark a call as incomplete")
    return [*blocks, *texts, *calls] if blocks or calls else content_of(texts)


def _lose_others(message: Message, pointer: str, kept: Sequence[str], notes: Notes) -> None:
    """Record a loss for each non-empty field that is not kept."""
    for name in ("reasoning_content", "tool_calls", "tool_call_id", "name", "incomplete"):
        is_said = name == "incomplete" and any(not call.complete for call in message.tool_calls)
        if name not in kept and not is_said and not says_nothing(getattr(message, name) or None):
            notes.lose(f"{pointer}/{name}", name, f"in this form, messages of role {message.role!r} have no such field")


def _text_blocks(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text}] if text else []


def _texts(content: Any, pointer: str, notes: Notes) -> list[dict[str, Any]]:
    """Content as blocks of text. Other parts are lost."""
    if isinstance(content, str):
        return _text_blocks(content)
    found = []
    for index, part in enumerate(content):
        text = flat_text([part], f"{pointer}/{index}", notes) if part.get("type") in ("text", "refusal") else None
        if text is None:
            notes.lose(f"{pointer}/{index}", f"content of type {part.get('type')!r}", "only text is allowed here")
        else:
            found.append({"type": "text", "text": text})
    return found


def _blocks(parts: Sequence[Mapping[str, Any]], pointer: str, notes: Notes) -> list[dict[str, Any]]:
    written = []
    for index, part in enumerate(parts):
        members = Members(part, f"{pointer}/{index}", notes)
        block = _write_block(members, notes)
        if block is None:
            notes.lose(members.pointer, f"content of type {part.get('type')!r}", "the form has no such block")
            continue
        members.rest("blocks have no such member")
        written.append(block)
    return written


def _write_block(members: Members, notes: Notes) -> dict[str, Any] | None:
    kind = members.take("type")
    if kind == "text":
        return {"type": "text", "text": members.take("text")}
    if kind == "refusal":
        members.lose("refusal", "it becomes text")
        return {"type": "text", "text": members.data.get("refusal")}
    inner = members.data.get(kind) if isinstance(kind, str) else None
    if not isinstance(inner, Mapping) or kind not in ("image_url", "file"):
        return None
    held = Members(members.take(kind), members.at(kind), notes)
    if kind == "image_url" and isinstance(inner.get("url"), str):
        split = split_data_url(held.take("url"))
        source = {"type": "url", "url": inner["url"]}
        if split is not None:
            source = {"type": "base64", "media_type": split[0], "data": split[1]}
        held.rest("images have no such member in this form")
        return {"type": "image", "source": source}
    split = split_data_url(held.take("file_data"))
    if kind == "file" and split is not None and split[0] == _PDF:
        title = held.text("filename")
        held.rest("documents have no such member in this form")
        source = {"type": "base64", "media_type": split[0], "data": split[1]}
        return {"type": "document", "source": source} | ({"title": title} if title else {})
    return None


def _write_tool(tool: Tool, pointer: str, notes: Notes) -> dict[str, Any]:
    data: dict[str, Any] = {"name": tool.name}
    if tool.description is not None:
        data["description"] = tool.description
    if tool.parameters is None:
        notes.lose(pointer, "absence of parameters", "the form needs a schema, so any object is allowed")
    if tool.input is not None:
        notes.lose(pointer, "custom tool", "it becomes a function with one text argument")
    data["input_schema"] = {"type": "object"} if tool.parameters is None else tool.parameters
    return data | ({"strict": True} if tool.strict else {})
