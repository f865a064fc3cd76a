"""The canonical raw text of a message: the first alternative of every pattern, its holes filled."""

from __future__ import annotations

import json
from typing import NoReturn

from syntagma.errors import FormatError
from syntagma.format_schema import ContentSpec, Envelope, FormatSpec, Hole, Literal, Pattern, ToolsSpec
from syntagma.formats.json_text import canonical_object, members
from syntagma.messages import Message, ToolCall

__all__ = ["has_shape", "unwritable", "write_message"]


def unwritable(message: str, pointer: str) -> NoReturn:
    """Refuse a message.

    Raises:
        FormatError: `E-FORMAT-UNWRITABLE`.
    """
    raise FormatError("E-FORMAT-UNWRITABLE", message, pointer=pointer)


def write_message(spec: FormatSpec, message: Message) -> str:
    """What a model writes for this message where nothing of it is in the prompt yet but what `reasoning.start` says.

    Raises:
        FormatError: `E-FORMAT-UNWRITABLE`, the format has no way to say it; `E-FORMAT-UNSUPPORTED`, a construct that is
            not written yet.
    """
    if spec.messages is not None:
        raise FormatError("E-FORMAT-UNSUPPORTED", "formats with [messages] are not written yet")
    if isinstance(message.content, list):
        unwritable("content that is a list of parts has no raw text", "/content")
    content = message.content or ""
    text = _reasoning(spec, message.reasoning_content or "") + _content(
        spec.content, content, thought=bool(message.reasoning_content), alone=not message.tool_calls
    )
    if not message.tool_calls:
        return text
    if spec.tools is None:
        unwritable("the format has no tool calls", "/tool_calls")
    return text + _section(spec.tools, message.tool_calls)


def _reasoning(spec: FormatSpec, thoughts: str) -> str:
    part = spec.reasoning
    if part is None:
        if thoughts:
            unwritable("the format has no reasoning", "/reasoning_content")
        return ""
    block = part.block[0]
    if part.start == "open":
        return thoughts + block.closer
    return block.opener + thoughts + block.closer if thoughts else ""


def _content(part: ContentSpec | None, text: str, *, thought: bool, alone: bool) -> str:
    if part is None or not part.block or (part.when == "reasoning" and not thought):
        return text
    if not text and not alone:
        return ""
    return part.block[0].opener + text + part.block[0].closer


def _section(tools: ToolsSpec, calls: tuple[ToolCall, ...]) -> str:
    if not tools.literals.is_json or tools.item is not None or tools.escape or tools.values == "literal":
        raise FormatError("E-FORMAT-UNSUPPORTED", "arguments in a notation of their own are not written yet")
    body = tools.separator.join(_call(tools, call, index) for index, call in enumerate(calls))
    return _filled(tools.section[0], {"calls": body, "suffix": ""})


def _call(tools: ToolsSpec, call: ToolCall, index: int) -> str:
    tagged = bool(tools.argument) and "arguments" in tools.call[0].holes
    try:
        arguments = _one_by_one(tools, call.arguments) if tagged else canonical_object(call.arguments)
    except ValueError as error:
        unwritable(f"the arguments are {error}", f"/tool_calls/{index}/function/arguments")
    numbers = {"index": str(index), "ordinal": str(index + 1), "suffix": "", "name": call.name}
    call_id = call.id or f"call_{index}"
    if tools.id and not has_shape(call.id, tools.id[0], call.name):
        call_id = _filled(tools.id[0], numbers)
    values = {**numbers, "id": call_id, "arguments": arguments}
    if "envelope" in tools.call[0].holes:
        values["envelope"] = _envelope(tools.envelope[0], values)
    return _filled(tools.call[0], values)


def _one_by_one(tools: ToolsSpec, arguments: str) -> str:
    """Each member of the object as the format writes an argument: strings as they are, other values as JSON."""
    return tools.argument_separator.join(
        _filled(tools.argument[0], {"key": key, "suffix": "", **_value(tools, text)})
        for key, text in members(arguments)
    )


def _value(tools: ToolsSpec, text: str) -> dict[str, str]:
    """A value, given as JSON text, with its type on the wire."""
    is_string = text.startswith('"')
    kind = "string" if is_string else "json"
    words = [word for word, meaning in tools.types.items() if meaning == kind and word != "*"]
    word = words[0] if words else _json_type(text)
    return {"value": json.loads(text) if is_string else text, "type": word}


def _json_type(text: str) -> str:
    """The name of the JSON type of a value that is given as JSON text."""
    kinds = {"{": "object", "[": "array", '"': "string", "t": "boolean", "f": "boolean", "n": "null"}
    return kinds.get(text[0], "number")


def has_shape(call_id: str, shape: Pattern, name: str) -> bool:
    """Whether an id is of the shape that the format writes, for a call of this tool."""
    at = 0
    for item in shape.items:
        wanted = item.text if isinstance(item, Literal) else name
        if isinstance(item, Hole) and item.name != "name":
            end = at
            while end < len(call_id) and call_id[end] in "0123456789":
                end += 1
            wanted = call_id[at:end]
        if not wanted or not call_id.startswith(wanted, at):
            return False
        at += len(wanted)
    return at == len(call_id)


def _envelope(envelope: Envelope, values: dict[str, str]) -> str:
    """An envelope; what stands between quotes is spelled as the inside of a JSON string."""
    text = envelope.pattern.text
    quoted = {
        hole: json.dumps(value, ensure_ascii=False)[1:-1] for hole, value in values.items() if f'"{{{hole}}}"' in text
    }
    return _filled(envelope.pattern, {**values, **quoted})


def _filled(pattern: Pattern, values: dict[str, str]) -> str:
    return "".join(item.text if isinstance(item, Literal) else values[item.name] for item in pattern.items)
