"""`TurnLayout`: how a format writes a turn, in modes and kinds, with a name for every literal.

It is derived from the format and the prompts, without renders.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from syntagma.format_schema import Envelope, EnvelopePlaceholder, FormatSpec, Members, Pattern, ToolsSpec
from syntagma.format_schema import Literal as PatternLiteral
from syntagma.formats import ChatFormat

__all__ = ["GenerationPrompt", "TurnLayout", "layout_of"]

ReasoningMode: TypeAlias = Literal["none", "tag_based", "delimiter", "forced_open", "forced_closed", "tools_only"]
ContentMode: TypeAlias = Literal["plain", "always_wrapped", "wrapped_with_reasoning"]
ToolFormat: TypeAlias = Literal["none", "json_native", "tag_with_json", "tag_with_tagged"]
CallIdPosition: TypeAlias = Literal[
    "none", "in_json", "holds_name", "before_name", "between_name_and_arguments", "after_arguments"
]
ArgumentKind: TypeAlias = Literal["none", "json", "json_text", "literal", "text_each", "json_each", "literal_each"]

_EACH: dict[str, ArgumentKind] = {"text": "text_each", "json": "json_each", "literal": "literal_each"}


class GenerationPrompt(msgspec.Struct, frozen=True, kw_only=True):
    """The text that a template appends after the user's message to let the model write.

    Attributes:
        settings: template variables that were set; empty for the default.
        tools: whether a tool was declared.
        text: the generation prompt.
        reasoning: the state of reasoning after it: `possible`, a block may come; `open`, inside one; `done`, over or
            switched off.
    """

    settings: dict[str, Any] = {}
    tools: bool = False
    text: str
    reasoning: Literal["possible", "open", "done"]


class TurnLayout(msgspec.Struct, frozen=True, kw_only=True):
    """How a turn is written.

    Attributes:
        reasoning_mode: `tag_based`: between an opener and a closer; `delimiter`: a closer alone separates it from
            content; `forced_open`: the generation prompt opens it; `forced_closed`: a setting makes the prompt close
            it, too; `tools_only`: renders show it only beside calls.
        content_mode: whether content has a wrapper, always or beside reasoning.
        tool_format: `json_native`: name and arguments stand in one JSON object; `tag_with_json`: the name between
            markers, the arguments in one object; `tag_with_tagged`: separate arguments.
        call_id_position: the position of a call's id; `holds_name`: the id stands in place of the name, and holds it.
        argument_kind: one object of JSON, of JSON inside a string or of literals of another notation; or separate
            arguments of text, JSON or literals.
        markers: every literal that is not empty, by its position, such as `reasoning_start`, `call_end` or
            `between_name_and_arguments`.
        wrappers: opener and closer around one or several parts: `content`, `section`, or `array` for calls in a JSON
            array.
        fields: JSON pointers to `name`, `arguments` and `id` in a call's JSON object; if the name is itself a key,
            that key is `{name}`.
    """

    reasoning_mode: ReasoningMode
    content_mode: ContentMode
    tool_format: ToolFormat
    call_id_position: CallIdPosition
    argument_kind: ArgumentKind
    markers: dict[str, str]
    wrappers: dict[str, tuple[str, str]]
    fields: dict[str, str]


def layout_of(fmt: ChatFormat, prompts: Sequence[GenerationPrompt] = (), shapes: Collection[str] = ()) -> TurnLayout:
    """The layout of a format.

    Args:
        fmt: the format.
        prompts: the generation prompts of the template, the default one first.
        shapes: the shapes of a turn in its renders, letters of `RCT`.
    """
    spec = fmt.spec
    tools = spec.tools
    return TurnLayout(
        reasoning_mode=_reasoning_mode(spec, prompts, shapes),
        content_mode=_content_mode(spec),
        tool_format=_tool_format(tools),
        call_id_position=_call_id_position(tools),
        argument_kind=_argument_kind(tools),
        markers={name: text for name, text in _markers(spec) if text},
        wrappers=dict(_wrappers(spec)),
        fields=dict(_fields(tools.envelope[0])) if tools is not None and tools.envelope else {},
    )


def _reasoning_mode(spec: FormatSpec, prompts: Sequence[GenerationPrompt], shapes: Collection[str]) -> ReasoningMode:
    if spec.reasoning is None:
        return "none"
    states = {one.reasoning for one in prompts}
    default = prompts[0].reasoning if prompts else None
    shown = [shape for shape in shapes if "R" in shape]
    if not spec.reasoning.block[0].opener.strip():
        return "delimiter"
    if "done" in states and (states - {"done"} or default == "done"):
        return "forced_closed"
    if default == "open" or (default is None and spec.reasoning.start == "open"):
        return "forced_open"
    return "tools_only" if shown and all("T" in shape for shape in shown) else "tag_based"


def _content_mode(spec: FormatSpec) -> ContentMode:
    if spec.content is None or not spec.content.block or not spec.content.block[0].text.replace("{content}", ""):
        return "plain"
    return "always_wrapped" if spec.content.when == "always" else "wrapped_with_reasoning"


def _tool_format(tools: ToolsSpec | None) -> ToolFormat:
    if tools is None:
        return "none"
    if tools.envelope:
        return "json_native"
    return "tag_with_tagged" if tools.argument else "tag_with_json"


def _call_id_position(tools: ToolsSpec | None) -> CallIdPosition:
    if tools is None:
        return "none"
    if tools.envelope:
        return "in_json" if "id" in tools.envelope[0].pattern.placeholders else "none"
    order = tools.call[0].placeholders
    if "id" not in order:
        return "none"
    if "name" not in order:
        return "holds_name"
    at, name = order.index("id"), order.index("name")
    if at < name:
        return "before_name"
    arguments = order.index("arguments") if "arguments" in order else len(order)
    return "between_name_and_arguments" if at < arguments else "after_arguments"


def _argument_kind(tools: ToolsSpec | None) -> ArgumentKind:
    if tools is None:
        return "none"
    if tools.argument:
        return _EACH[tools.values]
    quoted = any(
        placeholder.name == "arguments" and placeholder.quoted
        for envelope in tools.envelope
        for _, placeholder in _placeholders(envelope.root, "")
    )
    if quoted:
        return "json_text"
    return "json" if tools.literals.writes_json else "literal"


def _markers(spec: FormatSpec) -> Iterator[tuple[str, str]]:
    """Every literal of the written form with its name."""
    yield "turn_start", spec.anchor or ""
    yield "turn_end", spec.written_end
    if spec.reasoning is not None:
        yield from _literals(spec.reasoning.block[0], "reasoning")
    if spec.content is not None and spec.content.block:
        yield from _literals(spec.content.block[0], "content")
    tools = spec.tools
    if tools is None:
        return
    yield from _literals(tools.section[0], "section")
    yield "call_separator", tools.separator
    yield from _literals(tools.call[0], "call")
    if tools.argument:
        yield from _literals(tools.argument[0], "argument")
        yield "argument_separator", tools.argument_separator


def _literals(pattern: Pattern, part: str) -> Iterator[tuple[str, str]]:
    """The literals of one pattern: before its first placeholder, after its last, and between each two."""
    yield f"{part}_start", pattern.opener
    for before, literal, after in zip(pattern.items, pattern.items[1:], pattern.items[2:], strict=False):
        if isinstance(literal, PatternLiteral):
            # A literal has placeholders on both sides here, since no two literals follow each other.
            yield f"between_{before.name}_and_{after.name}", literal.text  # type: ignore[union-attr]
    yield f"{part}_end", pattern.closer


def _wrappers(spec: FormatSpec) -> Iterator[tuple[str, tuple[str, str]]]:
    if _content_mode(spec) != "plain" and spec.content is not None:
        yield "content", (spec.content.block[0].opener, spec.content.block[0].closer)
    if spec.tools is not None:
        section = spec.tools.section[0]
        if section.opener or section.closer:
            yield "section", (section.opener, section.closer)
        if section.opener.rstrip().endswith("[") and section.closer.lstrip().startswith("]"):
            yield "array", ("[", "]")


def _fields(envelope: Envelope) -> Iterator[tuple[str, str]]:
    """The placeholders of an envelope, with their JSON pointers."""
    for pointer, placeholder in _placeholders(envelope.root, ""):
        yield placeholder.name, pointer


def _placeholders(node: Members, pointer: str) -> Iterator[tuple[str, EnvelopePlaceholder]]:
    """Every placeholder of an envelope with its JSON pointer."""
    for key, value in node.items:
        if isinstance(key, EnvelopePlaceholder):
            yield f"{pointer}/{{{key.name}}}", key
        at = f"{pointer}/{{{key.name}}}" if isinstance(key, EnvelopePlaceholder) else f"{pointer}/{key}"
        if isinstance(value, EnvelopePlaceholder):
            yield at, value
        elif isinstance(value, Members):
            yield from _placeholders(value, at)
