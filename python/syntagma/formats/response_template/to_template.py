"""Translates a format to a response template."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from syntagma.errors import FormatError
from syntagma.format_schema import (
    Envelope,
    EnvelopeNode,
    EnvelopePlaceholder,
    FormatSpec,
    Literal,
    Members,
    MessagesSpec,
    Pattern,
    Placeholder,
    ReasoningSpec,
    ToolsSpec,
)
from syntagma.format_schema.facts import interrupts
from syntagma.formats.response_template.not_carried import NotCarried

__all__ = ["write_response_template"]

_EXPRESSIONS = {
    "index": r"\d+",
    "ordinal": r"\d+",
    "id": r"(?P<id>[A-Za-z0-9_.:-]+)",
    "type": r"[^\"'<>]*",
}
_EXACT = {"strip": False}
_VALUE = Placeholder("value")


class _Inexpressible(ValueError):
    """A part that a template cannot express."""


def write_response_template(
    spec: FormatSpec, *, start_anchor: str | None = None, join: bool = False
) -> tuple[dict[str, Any], tuple[NotCarried, ...]]:
    """The template that reads what the format writes, and what is lost in the translation.

    Args:
        spec: the format.
        start_anchor: text after which the assistant's turn begins in a prompt; by default the format's `anchor`.
        join: whether to join several pieces of an answer, or of reasoning; transformers can, vLLM and SGLang refuse
            such a template.

    Raises:
        FormatError: `E-FORMAT-UNWRITABLE`, it is unknown where the assistant's turn begins.
    """
    anchor = start_anchor or spec.anchor or next(iter(spec.messages.start if spec.messages else ()), None)
    if not anchor:
        raise FormatError(
            "E-FORMAT-UNWRITABLE",
            "a response template needs the text that the assistant's turn begins with",
            hint="give start_anchor=, or set `anchor` in the format",
        )
    lost: list[NotCarried] = []
    fields: dict[str, Any] = {}
    if spec.messages is not None:
        lost.append(NotCarried("/messages", "only the headers of the examples are read"))
        spec = _with_openers(spec, spec.messages)
    if spec.reasoning is not None:
        fields["thinking"] = _reasoning(spec, spec.reasoning, lost)
    fields["content"] = _content(spec, lost)
    if spec.tools is not None:
        try:
            fields["tool_calls"] = _calls(spec.tools, spec.turn_ends[0] if spec.turn_ends else (), lost)
            lost.append(NotCarried("/tools/call", "a call ends at its first closer, also inside a string"))
        except _Inexpressible as error:
            lost.append(NotCarried("/tools", str(error)))
    lost += _lost_of_turn(spec, joined=join)
    for name in ("thinking", "content") if join else ():
        if name in fields:
            fields[name] |= {"repeats": True, "join": ""}
    template = {"version": 1, "defaults": {"role": "assistant"}, "start_anchor": anchor, "fields": fields}
    return template, tuple(lost)


def _with_openers(spec: FormatSpec, messages: MessagesSpec) -> FormatSpec:
    """The format without headers: each example with and without the opener of a message, which the prompt may hold."""
    start = messages.start[0] if messages.start else ""
    reasoning, content, tools = spec.reasoning, spec.content, spec.tools
    if reasoning is not None:
        reasoning = msgspec.structs.replace(reasoning, block=_with_and_without(reasoning.block, start))
    if content is not None:
        content = msgspec.structs.replace(content, block=_with_and_without(content.block, start))
    if tools is not None:
        tools = msgspec.structs.replace(tools, section=(Pattern(start + "{calls}"),))
    return msgspec.structs.replace(spec, reasoning=reasoning, content=content, tools=tools, messages=None)


def _with_and_without(blocks: tuple[Pattern, ...], start: str) -> tuple[Pattern, ...]:
    return (*blocks, *(Pattern(start + block.text) for block in blocks if start))


def _reasoning(spec: FormatSpec, part: ReasoningSpec, lost: list[NotCarried]) -> dict[str, Any]:
    if interrupts(spec):
        lost.append(NotCarried("/reasoning/interrupt", "only its closer ends a region"))
    if part.start != "closed":
        lost.append(NotCarried("/reasoning/start", "only the prompt determines what is open"))
    if part.switch:
        lost.append(NotCarried("/reasoning/switch", "only the prompt determines what is open"))
    if part.to == "content":
        lost.append(NotCarried("/reasoning/to", "reasoning is a field of its own"))
    return {**_sides(part.block, "/reasoning/block", lost), "content": "text", "content_args": _EXACT}


def _lost_of_turn(spec: FormatSpec, *, joined: bool) -> list[NotCarried]:
    """The losses at the end of the turn, and for parts that come more than once."""
    lost = []
    if spec.turn_ends and (spec.reasoning is not None or spec.tools is not None):
        lost.append(NotCarried("/end_of_turn", "the end of the turn ends an answer, not reasoning or a call"))
    if len(spec.turn_ends) > 1:
        lost.append(NotCarried("/end_of_turn", "the first choice of texts is read"))
    if spec.tools is not None and not joined:
        lost.append(NotCarried("/content", "transformers keeps the last text where calls stand between two"))
    if spec.reasoning is not None and spec.reasoning.repeat and not joined:
        lost.append(NotCarried("/reasoning/repeat", "transformers keeps the last reasoning"))
    return lost


def _content(spec: FormatSpec, lost: list[NotCarried]) -> dict[str, Any]:
    field: dict[str, Any] = {"content": "text", "content_args": _EXACT}
    part = spec.content
    if part is not None and part.before_calls:
        lost.append(NotCarried("/content/before_calls", "an answer that calls follow is read as any other"))
    if part is not None and part.block:
        lost.append(NotCarried("/content/block", "text outside the wrapper is not content"))
        return {**_sides(part.block, "/content/block", lost), **field}
    ends = [*(text for texts in spec.turn_ends[:1] for text in texts), *(part.drop if part is not None else ())]
    after_calls = _after_calls(spec.tools)
    if after_calls:
        return {**field, "close_pattern": "|".join([_spaced(after_calls), *map(re.escape, ends)])}
    return {**field, "close": ends[0] if len(ends) == 1 else ends} if ends else field


def _after_calls(tools: ToolsSpec | None) -> str:
    """The closer of a section around calls that have their own closers.

    It cannot be an optional part of a call's closer: a parser that reads the text in pieces would match without it.
    """
    if tools is None or _is_array(tools.section[0]) or "calls" not in tools.section[0].placeholders:
        return ""
    return tools.section[0].closer.strip()


def _is_array(section: Pattern) -> bool:
    return section.opener.rstrip().endswith("[") and section.closer.lstrip().startswith("]")


def _spaced(text: str) -> str:
    return r"\s*" + re.escape(text)


def _sides(blocks: Sequence[Pattern], pointer: str, lost: list[NotCarried]) -> dict[str, Any]:
    """Openers and closers of patterns with one placeholder. In a template, each closer ends each opener's region."""
    sides: dict[str, Any] = {}
    for side in ("opener", "closer"):
        texts = list(dict.fromkeys(text for block in blocks if (text := getattr(block, side))))
        if texts:
            sides["open" if side == "opener" else "close"] = texts[0] if len(texts) == 1 else texts
    if len(blocks) > 1:
        lost.append(NotCarried(pointer, "each closer ends each opener's region"))
    return sides


def _calls(tools: ToolsSpec, turn_ends: Sequence[str], lost: list[NotCarried]) -> dict[str, Any]:
    lost += [
        NotCarried(f"/tools/{key}", "there is one form of a call, and values are typed by schemas")
        for key in ("also", "types", "item")
        if getattr(tools, key)
    ]
    lost += [
        NotCarried(f"/tools/{key}", "the first alternative is read")
        for key in ("section", "call", "envelope", "argument")
        if len(getattr(tools, key)) > 1
    ]
    section, call = tools.section[0], tools.call[0]
    options = _json_options(tools)
    if _is_array(section):
        return _array(section, call, tools.envelope, turn_ends) | {"content_args": options}
    placeholder = "envelope" if "envelope" in call.placeholders else "arguments"
    before, after = _halves(call, placeholder)
    if not before:
        raise _Inexpressible("a call that does not begin with a marker")
    if not after:
        lost.append(NotCarried("/tools/call", "of calls without a closer only one is read where text comes in pieces"))
    if tools.id:
        before = _spelled_out(before, tools.id[0])
        lost.append(NotCarried("/tools/id", "the name is taken from the id, which is not kept"))
    field = {**_opener(section.opener, tools.separator, before, after), **_closer(section, before, after, turn_ends)}
    field["repeats"] = True
    groups = {item.name for item in before if isinstance(item, Placeholder)}
    if placeholder == "envelope":
        transform, found = _envelope_transform(tools.envelope[0].root, ("content",))
        if not found | groups >= {"name", "arguments"}:
            raise _Inexpressible("a call without its name")
        _use_groups(transform, groups - found)
        return {**field, "content": "json", "content_args": options, "transform": transform}
    if "name" not in groups:
        raise _Inexpressible("a call whose name does not come first")
    transform = {"type": "function", "function": {"arguments": "{content}"}}
    _use_groups(transform, groups)
    return {**field, **_arguments(tools, options, lost), "transform": transform}


def _array(section: Pattern, call: Pattern, envelopes: Sequence[Envelope], turn_ends: Sequence[str]) -> dict[str, Any]:
    """Calls that are the elements of one JSON array."""
    opener, closer = section.opener.rstrip()[:-1].rstrip(), section.closer.lstrip()[1:].lstrip()
    if call.text != "{envelope}":
        raise _Inexpressible("an array whose elements have markers")
    if not opener:
        raise _Inexpressible("calls that do not begin with a marker")
    transform, _ = _envelope_transform(envelopes[0].root, ())
    close = {"close": closer} if closer else {"close_pattern": _output_end(turn_ends)}
    return {"open": opener, **close, "content": "json", "transform": transform, "transform_each": True}


def _opener(
    section: str, separator: str, before: list[Literal | Placeholder], after: list[Literal | Placeholder]
) -> dict[str, Any]:
    """The opener of a call, with the text between it and the section's opener or the call before it.

    Whitespace at the inner edges of a call's markers is left to the parser of its content, which skips it.
    """
    closer = after[-1].text.strip() if after and isinstance(after[-1], Literal) else ""
    between = f"(?:(?<={re.escape(closer)}){_expression([Literal(separator)])})?" if closer and separator else ""
    if not section and not between and len(before) == 1 and isinstance(before[0], Literal):
        return {"open": before[0].text.rstrip()}
    return {"open_pattern": between + _optional(section) + _expression(before)}


def _closer(
    section: Pattern, before: list[Literal | Placeholder], after: list[Literal | Placeholder], turn_ends: Sequence[str]
) -> dict[str, Any]:
    """The closer of a call; a call without one ends before the next opener, or with the output."""
    if not after:
        if section.closer or not isinstance(before[0], Literal):
            raise _Inexpressible("a call that does not end with a marker")
        return {"close_pattern": f"(?={_expression(before[:1])})|{_output_end(turn_ends)}"}
    if len(after) == 1 and isinstance(after[0], Literal):
        return {"close": after[0].text.strip()}
    return {"close_pattern": _expression(after)}


def _output_end(turn_ends: Sequence[str]) -> str:
    """An expression for the end of the turn or of the output."""
    return "|".join([*map(re.escape, turn_ends), r"\Z"])


def _spelled_out(items: list[Literal | Placeholder], id_pattern: Pattern) -> list[Literal | Placeholder]:
    """The items, with the pattern of an id in place of its placeholder."""
    return [part for item in items for part in (id_pattern.items if item == Placeholder("id") else (item,))]


def _optional(section: str) -> str:
    return f"(?:{_expression([Literal(section)])})?" if section else ""


def _use_groups(transform: dict[str, Any], groups: set[str]) -> None:
    if "id" in groups:
        transform["id"] = "{id}"
    if "name" in groups:
        transform["function"]["name"] = "{name}"


def _arguments(tools: ToolsSpec, options: dict[str, Any], lost: list[NotCarried]) -> dict[str, Any]:
    if not tools.argument:
        return {"content": "json", "content_args": options}
    if tools.escape:
        lost.append(NotCarried("/tools/escape", "values are not unescaped"))
    items = list(tools.argument[0].items)
    if not isinstance(items[-1], Literal) or not isinstance(items[0], Literal):
        raise _Inexpressible("arguments that do not begin and end with a marker")
    wanted: dict[str, Any] = {"tag_pattern": _expression(items)}
    if tools.values != "text":
        wanted["value_parser"] = {"name": "json", "args": {"allow_non_json": True, **options}}
    return {"content": "xml-inline", "content_args": wanted}


def _json_options(tools: ToolsSpec) -> dict[str, Any]:
    notation = tools.literals
    if (notation.true[0], notation.false[0], notation.null[0]) != ("true", "false", "null"):
        raise _Inexpressible("literals whose words are not those of JSON")
    options: dict[str, Any] = {}
    other = [quote for quote in notation.quotes if quote != '"']
    if any(len(quote) == 1 for quote in other):
        raise _Inexpressible("strings in other quotes, with escapes")
    if other:
        options["string_delims"] = [[quote, quote] for quote in other]
    if notation.bare_keys:
        options["unquoted_keys"] = True
    return options


def _envelope_transform(root: Members, start: tuple[str, ...]) -> tuple[dict[str, Any], set[str]]:
    """The transform that takes a call's parts from its envelope at the path `start`, and the names of these parts."""
    transform: dict[str, Any] = {"type": "function", "function": {}}
    found: set[str] = set()
    waiting: list[tuple[EnvelopeNode, tuple[str, ...]]] = [(root, start)]
    while waiting:
        node, path = waiting.pop(0)
        if isinstance(node, Members):
            for key, inner in node.items:
                if isinstance(key, EnvelopePlaceholder):
                    raise _Inexpressible("an object whose key is the name of the tool")
                waiting.append((inner, (*path, key)))
        elif isinstance(node, EnvelopePlaceholder):
            if node.name == "arguments" and node.quoted:
                raise _Inexpressible("arguments that are spelled as a string")
            place = "{" + ".".join(path) + "}"
            if node.name in ("name", "arguments"):
                transform["function"][node.name] = place
            elif node.name == "id":
                transform["id"] = place
            found.add(node.name)
    return transform, found


def _halves(pattern: Pattern, placeholder: str) -> tuple[list[Literal | Placeholder], list[Literal | Placeholder]]:
    at = next(
        index for index, item in enumerate(pattern.items) if isinstance(item, Placeholder) and item.name == placeholder
    )
    return list(pattern.items[:at]), list(pattern.items[at + 1 :])


def _expression(items: Sequence[Literal | Placeholder]) -> str:
    """A regular expression for items; a placeholder ends where the next literal begins.

    Whitespace in literals matches any run. A line break next to a value is optional and not part of the value.
    """
    written: list[str] = []
    for index, item in enumerate(items):
        if isinstance(item, Placeholder) and item in items[:index] and item.name not in _EXPRESSIONS:
            written.append(f"(?P={item.name})")
            continue
        if isinstance(item, Placeholder):
            following = items[index + 1] if index + 1 < len(items) else None
            stop = following.text.lstrip()[:1] if isinstance(following, Literal) else ""
            written.append(_placeholder_expression(item.name, stop))
            continue
        text, start, end = item.text, "", ""
        if index and items[index - 1] == _VALUE and text.startswith("\n"):
            text, start = text[1:], r"\n?"
        if items[index + 1 : index + 2] == [_VALUE] and text.endswith("\n"):
            text, end = text[:-1], r"\n?"
        written.append(start + r"\s*".join(re.escape(piece) for piece in re.split(r"\s+", text)) + end)
    return "".join(written)


def _placeholder_expression(name: str, stop: str) -> str:
    if name in _EXPRESSIONS:
        return _EXPRESSIONS[name]
    if name == "value":
        return "(?P<value>.*?)"
    return f"(?P<{name}>[^{re.escape(stop)}\\s]+)" if stop else f"(?P<{name}>[\\w.-]+)"
