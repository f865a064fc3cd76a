"""The canonical raw text of a message: the first pattern of each kind, its placeholders filled."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NoReturn

from syntagma.errors import FormatError
from syntagma.format_schema import (
    ContentSpec,
    Envelope,
    FormatSpec,
    Literal,
    MessagesSpec,
    Notation,
    Pattern,
    Placeholder,
    ToolsSpec,
    answer_before_calls,
)
from syntagma.format_schema.facts import without_arguments
from syntagma.format_schema.xml_escapes import xml_escaped
from syntagma.formats.json_text import canonical_object, elements, members
from syntagma.formats.notation import in_notation
from syntagma.messages import Message, Tool, ToolCall, ToolLike, tools_from

__all__ = ["has_shape", "unwritable", "write_message"]


def unwritable(message: str, pointer: str, hint: str | None = None) -> NoReturn:
    """Refuse a message.

    Raises:
        FormatError: `E-FORMAT-UNWRITABLE`.
    """
    raise FormatError("E-FORMAT-UNWRITABLE", message, pointer=pointer, hint=hint)


def write_message(spec: FormatSpec, message: Message, tools: Sequence[ToolLike] | None = None) -> str:
    """The text that a model writes for this message.

    Args:
        spec: the format. If reasoning is open at the start (`reasoning.start`), its opener is part of the prompt.
        message: the message.
        tools: the declared tools; a value without a schema may need another spelling.

    Raises:
        FormatError: `E-FORMAT-UNWRITABLE`, the format cannot express it.
    """
    if isinstance(message.content, list):
        unwritable("content that is a list of parts has no raw text", "/content")
    content = message.content or ""
    if spec.reasoning is not None and spec.reasoning.to == "content" and spec.reasoning.start == "open":
        # The parser adds the opener, which is part of the prompt, before the content.
        content = content.removeprefix(spec.reasoning.block[0].opener.strip())
    if spec.messages is not None:
        return _messages(spec, spec.messages, message, content, tools)
    text = _reasoning(spec, message.reasoning_content or "") + _content(
        spec.content, content, reasoned=bool(message.reasoning_content), alone=not message.tool_calls
    )
    if not message.tool_calls:
        return text
    if spec.tools is None:
        unwritable("the format has no tool calls", "/tool_calls")
    return text + _section(spec.tools, message.tool_calls, {tool.name: tool for tool in tools_from(tools) or ()})


def _messages(
    spec: FormatSpec, messages: MessagesSpec, message: Message, content: str, tools: Sequence[ToolLike] | None
) -> str:
    """A sequence of messages with headers; the opener of the first is part of the prompt."""
    written = [_reasoning(spec, message.reasoning_content)] if message.reasoning_content else []
    if content or not message.tool_calls:
        if spec.content is None or not spec.content.block:
            unwritable("the format has no answers", "/content")
        block = spec.content.block[0] if not message.tool_calls else answer_before_calls(spec.content, messages)
        written.append(block.opener + content + block.closer)
    if message.tool_calls:
        if spec.tools is None:
            unwritable("the format has no tool calls", "/tool_calls")
        declared = {tool.name: tool for tool in tools_from(tools) or ()}
        written += [
            _call(spec.tools, call, index, declared.get(call.name)) for index, call in enumerate(message.tool_calls)
        ]
    return (messages.start[0] if messages.start else "").join(written)


def _reasoning(spec: FormatSpec, reasoning: str) -> str:
    part = spec.reasoning
    if part is None:
        if reasoning:
            unwritable("the format has no reasoning", "/reasoning_content")
        return ""
    block = part.block[0]
    if part.to == "content":
        if reasoning:
            unwritable("the format leaves reasoning in content", "/reasoning_content")
        return ""
    if part.start == "open":
        return reasoning + block.closer
    return block.opener + reasoning + block.closer if reasoning else ""


def _content(part: ContentSpec | None, text: str, *, reasoned: bool, alone: bool) -> str:
    if not text and not alone:
        return ""
    if part is not None and part.before_calls and not alone:
        return part.before_calls[0].opener + text + part.before_calls[0].closer
    if part is None or not part.block or (part.when == "reasoning" and not reasoned):
        return text
    return part.block[0].opener + text + part.block[0].closer


def _section(tools: ToolsSpec, calls: tuple[ToolCall, ...], declared: Mapping[str, Tool]) -> str:
    body = tools.separator.join(_call(tools, call, index, declared.get(call.name)) for index, call in enumerate(calls))
    return _filled(tools.section[0], {"calls": body})


def _call(tools: ToolsSpec, call: ToolCall, index: int, tool: Tool | None) -> str:
    if not call.complete:
        hint = "leave the call out of the message, or let the model write it again"
        unwritable("a call that was cut has no text that reads back", f"/tool_calls/{index}", hint)
    separate = bool(tools.argument) and "arguments" in tools.call[0].placeholders
    try:
        if separate:
            arguments = _separate_arguments(tools, call.arguments, tool)
        else:
            arguments = in_notation(canonical_object(call.arguments), tools.literals)
    except ValueError as error:
        unwritable(f"the arguments are {error}", f"/tool_calls/{index}/function/arguments")
    numbers = {"index": str(index), "ordinal": str(index + 1), "name": _attribute(tools, call.name)}
    call_id = call.id or f"call_{index}"
    if tools.id and not has_shape(call.id, tools.id[0], call.name):
        call_id = _filled(tools.id[0], numbers)
    values = {**numbers, "id": call_id, "arguments": arguments}
    if "envelope" in tools.call[0].placeholders:
        values["envelope"] = _envelope(tools.envelope[0], values)
    return _filled(tools.call[0] if arguments or not separate else without_arguments(tools.call[0]), values)


def _separate_arguments(tools: ToolsSpec, arguments: str, tool: Tool | None) -> str:
    """The members of the object as separate arguments: strings as they are, other values as JSON."""
    schema = tool.parameters if tool is not None else None
    properties = schema.get("properties") if schema is not None else None
    declared = properties if isinstance(properties, Mapping) else {}
    return tools.argument_separator.join(
        _filled(
            tools.argument[0],
            {"key": _attribute(tools, key), **_value(tools, text, untyped=key not in declared)},
        )
        for key, text in members(arguments)
    )


def _value(tools: ToolsSpec, text: str, *, untyped: bool) -> dict[str, str]:
    """The placeholders of a value.

    Args:
        tools: the format of calls.
        text: the value as JSON text.
        untyped: whether no schema declares it, so that the parser infers its type from the text.
    """
    is_string = text.startswith('"')
    kind = _json_type(text)
    word = (*tools.type_words(kind), kind)[0]
    if tools.item is not None and text[0] in "{[" and text[1] not in "]}":
        return {"value": _nested(tools, text), "type": word}
    raw = tools.values != "literal" and is_string
    if raw and tools.values == "json" and untyped:
        raw = not _looks_like_json(json.loads(text), tools.literals)
    value = json.loads(text) if raw else in_notation(text, tools.literals)
    return {"value": xml_escaped(value) if "values" in tools.escape else value, "type": word}


def _nested(tools: ToolsSpec, text: str) -> str:
    """An object or array, given as JSON text, as elements inside an element."""
    assert tools.item is not None
    inner = [(tools.item, one) for one in elements(text)] if text[0] == "[" else members(text)
    return "".join(_filled(tools.argument[0], {"key": key, **_value(tools, one, untyped=False)}) for key, one in inner)


def _looks_like_json(text: str, notation: Notation) -> bool:
    """Whether the parser may read raw text as JSON, or as a literal of the notation."""
    bare = text.strip()
    if bare.startswith(('"', "{", "[", *notation.quotes)) or bare in (*notation.true, *notation.false, *notation.null):
        return True
    try:
        json.loads(bare)
    except (ValueError, RecursionError):
        return False
    return True


def _attribute(tools: ToolsSpec, text: str) -> str:
    return xml_escaped(text, attribute=True) if "attributes" in tools.escape else text


def _json_type(text: str) -> str:
    """The name of the type of a value, given as JSON text."""
    kinds = {"{": "object", "[": "array", '"': "string", "t": "boolean", "f": "boolean", "n": "null"}
    return kinds.get(text[0], "number")


def has_shape(call_id: str, shape: Pattern, name: str) -> bool:
    """Whether an id has the shape that the format fixes, for a call of the tool `name`."""
    at = 0
    for item in shape.items:
        wanted = item.text if isinstance(item, Literal) else name
        if isinstance(item, Placeholder) and item.name != "name":
            end = at
            while end < len(call_id) and call_id[end] in "0123456789":
                end += 1
            wanted = call_id[at:end]
        if not wanted or not call_id.startswith(wanted, at):
            return False
        at += len(wanted)
    return at == len(call_id)


def _envelope(envelope: Envelope, values: dict[str, str]) -> str:
    """An envelope; a value between quotes is escaped as in a JSON string."""
    text = envelope.pattern.text
    quoted = {
        placeholder: json.dumps(value, ensure_ascii=False)[1:-1]
        for placeholder, value in values.items()
        if f'"{{{placeholder}}}"' in text
    }
    return _filled(envelope.pattern, {**values, **quoted})


def _filled(pattern: Pattern, values: dict[str, str]) -> str:
    return "".join(item.text if isinstance(item, Literal) else values[item.name] for item in pattern.items)
