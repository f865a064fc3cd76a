"""The rules of a format, checked on the value; a rule that is broken raises `FormatError` with a JSON pointer.

Files are read into the same values (see `toml`), so files and formats built in Python have one set of rules.
"""

from __future__ import annotations

import functools
import re
from typing import Any, NoReturn, get_args, get_origin

import msgspec

from syntagma.errors import FormatError
from syntagma.format_schema.header import default_fields, split_header
from syntagma.format_schema.parts import ContentSpec, MessagesSpec, Part, PromptSpec, ReasoningSpec, ToolsSpec
from syntagma.format_schema.pattern import Pattern, Spelled
from syntagma.json_pointer import steps_of
from syntagma.typed import Problem, as_type, problem

__all__ = [
    "ALLOWED_PLACEHOLDERS",
    "check_headers",
    "check_ids",
    "check_part",
    "check_types",
    "decode_spelled",
    "format_error",
    "key_names",
    "type_error",
]

ALLOWED_PLACEHOLDERS = {
    "reasoning.block": ("reasoning",),
    "content.block": ("content",),
    "content.before_calls": ("content",),
    "tools.section": ("calls",),
    "tools.call": ("name", "arguments", "envelope", "id", "index", "ordinal"),
    "tools.id": ("name", "index", "ordinal"),
    "tools.argument": ("key", "value", "type"),
    "tools.envelope": ("name", "arguments", "id", "index", "ordinal"),
}
"""the placeholders that have a meaning in each kind of pattern"""
_REQUIRED_PLACEHOLDERS = {
    "reasoning.block": ("reasoning",),
    "content.block": ("content",),
    "content.before_calls": ("content",),
    "tools.section": ("calls",),
    "tools.argument": ("key", "value"),
}
_REQUIRED_KEYS = {
    "reasoning": ("block",),
    "tools": ("section", "call"),
    "messages": ("fields", "body"),
    "prompt": ("tool_list",),
    "literals": ("quotes", "true", "false", "null"),
}
_UNREAD_ESCAPE = re.compile(r"\\(?:[ntr](?![^\W\d_])|[\"\\])")
"""an escape of TOML that was not decoded; a backslash before a word begins a marker"""
_TYPE_WORDS = {"str": "a string", "array": "a list", "object": "a table", "bool": "true or false"}


def format_error(code: str, pointer: str, message: str, hint: str | None = None) -> FormatError:
    """The error for a key of a format.

    Args:
        code: `E-FORMAT-…`.
        pointer: JSON pointer of the key.
        message: what is wrong with it.
        hint: what to do about it.
    """
    return FormatError(code, f"{'.'.join(key_names(pointer))}: {message}", hint=hint, pointer=pointer)


def key_names(pointer: str) -> list[str]:
    """The names of the tables and the key at a pointer, without the numbers of further forms."""
    steps = steps_of(pointer)
    return [step for before, step in zip(["", *steps], steps, strict=False) if before != "also" or not step.isdigit()]


def type_error(found: Problem, kind: type[msgspec.Struct], pointer: str) -> FormatError:
    """The error for a value that does not have the type of its field.

    Args:
        found: what msgspec says of the value.
        kind: the struct that has the field.
        pointer: JSON pointer of the value; its last name is the field's.
    """
    if found.kind == "refused":
        return format_error("E-FORMAT-PATTERN", pointer, found.text)
    declared = _types(kind).get(key_names(pointer)[-1])
    choices = _choices(declared)
    if choices and (found.kind == "choice" or get_origin(declared) is not frozenset):
        return format_error(
            "E-FORMAT-VALUE", pointer, "must be one of " + ", ".join(f'"{choice}"' for choice in choices)
        )
    if found.kind != "type":
        return format_error("E-FORMAT-TYPE", pointer, found.text)
    wanted = " or ".join(_TYPE_WORDS.get(name, name) for name in found.wanted)
    return format_error("E-FORMAT-TYPE", pointer, f"must be {wanted}, not {_TYPE_WORDS.get(found.given, found.given)}")


def decode_spelled(kind: type[Any], value: Any) -> Any:
    """Patterns and envelopes from their text, for msgspec; a value that is already one is returned.

    Raises:
        ValueError: the text cannot be read.
        TypeError: the value is not a string, or is empty.
    """
    if isinstance(value, kind):
        return value
    if not issubclass(kind, Spelled) or not isinstance(value, str):
        raise TypeError(f"must be a string, not {type(value).__name__}")
    if not value:
        raise TypeError("must not be empty")
    return kind(value)


@functools.cache
def _types(kind: type[msgspec.Struct]) -> dict[str, Any]:
    return {field.name: field.type for field in msgspec.structs.fields(kind)}


@functools.cache
def _unchecked(kind: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """A struct with the same fields: msgspec checks types when it converts, except for a struct of the same kind."""
    return msgspec.defstruct(kind.__name__, list(_types(kind).items()), kw_only=True)


def _choices(declared: Any) -> tuple[str, ...]:
    """The words that a field's type allows; empty if it allows any."""
    inner = [choice for part in get_args(declared) for choice in (_choices(part) or (part,))]
    return tuple(choice for choice in inner if isinstance(choice, str))


def check_part(name: str, part: Part, pointer: str) -> None:
    """Check the rules of one part by itself.

    Args:
        name: which part: `reasoning`, `content`, `tools`, `messages`, `prompt` or `literals`.
        part: the part.
        pointer: JSON pointer of the part.

    Raises:
        FormatError: `E-FORMAT-KEY`, `-TYPE`, `-VALUE`, `-PATTERN` or `-CONFLICT`, with the pointer.
    """
    check_types(part, pointer)
    for key in _REQUIRED_KEYS.get(name, ()):
        if not getattr(part, key):
            raise format_error("E-FORMAT-KEY", f"{pointer}/{key}", "is required")
    for key in _types(type(part)):
        if f"{name}.{key}" in ALLOWED_PLACEHOLDERS:
            for pattern in getattr(part, key):
                if isinstance(pattern, Pattern):
                    _check_pattern(f"{name}.{key}", pattern, f"{pointer}/{key}")
    if isinstance(part, ToolsSpec):
        _check_tools(part, pointer)
    if isinstance(part, PromptSpec):
        _check_prompt(part, pointer)


def _check_prompt(prompt: PromptSpec, pointer: str) -> None:
    """Check that each pattern has its placeholder once, with text around it."""
    texts = [("tool_list", prompt.tool_list, ("{tools}",)), ("tool", prompt.tool, ("{tool}", "{function}"))]
    texts += [("result", text, ("{result}",)) for text in prompt.result]
    for key, text, placeholders in texts:
        if sum(text.count(one) for one in placeholders) != 1:
            raise format_error("E-FORMAT-PATTERN", f"{pointer}/{key}", f"needs {' or '.join(placeholders)} once")
        if key != "tool" and not all(part.strip() for part in text.split(placeholders[0])):
            raise format_error("E-FORMAT-PATTERN", f"{pointer}/{key}", "has no text on both sides of its placeholder")


def check_types(part: msgspec.Struct, pointer: str) -> None:
    """Check that every field has its type, and that lists have no empty string.

    Raises:
        FormatError: `E-FORMAT-TYPE`, `-VALUE` or `-PATTERN`, with the pointer.
    """
    try:
        converted = as_type(part, _unchecked(type(part)), from_attributes=True, dec_hook=decode_spelled)
    except msgspec.ValidationError as error:
        found = problem(error)
        raise type_error(found, type(part), f"{pointer}/{found.path[0]}") from error
    for key, declared in _types(type(part)).items():
        value = getattr(part, key)
        if value != getattr(converted, key):
            raise format_error("E-FORMAT-TYPE", f"{pointer}/{key}", f"must be {declared}, not {type(value).__name__}")
        if isinstance(value, tuple) and any(not (one.text if isinstance(one, Spelled) else one) for one in value):
            raise format_error("E-FORMAT-TYPE", f"{pointer}/{key}", "must be a list of texts, none empty")


def _check_pattern(kind: str, pattern: Pattern, pointer: str) -> None:
    if _UNREAD_ESCAPE.search(pattern.text):
        hint = "TOML reads \\n in \"…\" only; '…' keeps it as it stands"
        raise format_error("E-FORMAT-PATTERN", pointer, "holds a backslash that looks like an escape", hint)
    for placeholder in pattern.placeholders:
        if placeholder not in ALLOWED_PLACEHOLDERS[kind]:
            raise format_error("E-FORMAT-PATTERN", pointer, f"{{{placeholder}}} has no meaning here")
    for placeholder in _REQUIRED_PLACEHOLDERS.get(kind, ()):
        if placeholder not in pattern.placeholders:
            raise format_error("E-FORMAT-PATTERN", pointer, f"lacks {{{placeholder}}}")
    for first, second in zip(pattern.items, pattern.items[1:], strict=False):
        names = {getattr(first, "name", ""), getattr(second, "name", "")}
        # Two literals never follow each other. Arguments have their own end.
        if "" not in names and not names >= {"arguments", "name"}:
            raise format_error("E-FORMAT-PATTERN", pointer, f"nothing separates two placeholders in {pattern.text!r}")


def _check_tools(tools: ToolsSpec, pointer: str) -> None:
    """Check the rules for keys of `[tools]` that depend on each other."""

    def conflict(key: str, message: str, hint: str | None = None) -> NoReturn:
        raise format_error("E-FORMAT-CONFLICT", f"{pointer}/{key}", message, hint)

    by_envelope = [pattern for pattern in tools.call if "envelope" in pattern.placeholders]
    if bool(by_envelope) != bool(tools.envelope):
        conflict("envelope", "{envelope} in `call` and the key `envelope` need each other")
    if any("arguments" in pattern.placeholders for pattern in by_envelope):
        conflict("call", "has both {arguments} and {envelope}")
    if bool(tools.types) != any("type" in pattern.placeholders for pattern in tools.argument):
        conflict("types", "{type} in `argument` and the key `types` need each other")
    _check_values(tools, pointer)
    if tools.item is not None and not tools.argument:
        conflict("item", "means nothing without `argument`")
    if tools.item is not None and (tools.escape or tools.types or tools.values == "literal"):
        conflict("item", "has no meaning beside `escape`, `types` or literal values")
    check_part("literals", tools.literals, f"{pointer}/literals")
    for key, sign in (("member_separator", ","), ("key_separator", ":")):
        written = getattr(tools.literals, key)
        if written is not None and written.strip() != sign:
            message = f"must be {sign!r} with or without whitespace"
            raise format_error("E-FORMAT-VALUE", f"{pointer}/literals/{key}", message)
    if not tools.literals.is_json and any('"{arguments}"' in one.text for one in tools.envelope):
        conflict("literals", "an object that is spelled as a string is JSON")
    for index, form in enumerate(tools.also):
        check_part("tools", form, f"{pointer}/also/{index}")
        if form.also:
            raise format_error(
                "E-FORMAT-CONFLICT", f"{pointer}/also/{index}/also", "a further form has no further forms"
            )
    if tools.item is not None and tools.element is None:
        hint = "an element shows {key} a second time, where it closes"
        conflict("item", "only elements that are named after their keys nest", hint)
    if tools.element is not None and tools.argument_separator.strip():
        conflict("argument_separator", "only whitespace can stand between elements")


def _check_values(tools: ToolsSpec, pointer: str) -> None:
    """Check that values which may be JSON do not end at a space."""
    end = (tools.argument[0].around("value")[1] or tools.argument_separator) if tools.argument else ""
    if tools.values == "json" and end and not end.strip(" \t"):
        message = "a declared string would keep its quotes, and end at the first space in it"
        hint = 'values = "literal" if strings have quotes; "text" if they have none'
        raise format_error("E-FORMAT-CONFLICT", f"{pointer}/values", message, hint)


def check_ids(tools: ToolsSpec) -> None:
    """Check that the shape of ids belongs to an id: in some form that has it, a call or an envelope shows `{id}`.

    Raises:
        FormatError: `E-FORMAT-CONFLICT`, with the pointer.
    """
    placed = [(pointer, form) for pointer, form in tools.placed_forms if form.id]
    shown = {
        form.id
        for _, form in placed
        if any("id" in one.placeholders for one in (*form.call, *(envelope.pattern for envelope in form.envelope)))
    }
    for pointer, form in placed:
        if form.id not in shown:
            hint = "{id} where a call has its id, or no key `id` (`id = []` if it is inherited)"
            message = "no `call` and no `envelope` shows {id}"
            raise format_error("E-FORMAT-CONFLICT", f"{pointer}/id", message, hint)


def check_headers(
    messages: MessagesSpec, reasoning: ReasoningSpec | None, content: ContentSpec | None, tools: ToolsSpec | None
) -> None:
    """Check the rules of formats with headers: each pattern shows a header, and keys that headers replace are not used.

    Raises:
        FormatError: `E-FORMAT-PATTERN` or `-CONFLICT`, with the pointer.
    """
    if not (messages.end or messages.start) and all(field[0].isspace() for field in messages.fields):
        raise format_error("E-FORMAT-CONFLICT", "/messages/end", "nothing ends a message, and nothing begins one")
    # A value is one word: whitespace between it and the prefix is no part of either.
    if spaced := next((field for field in messages.fields if field != field.rstrip()), None):
        message = f'{spaced!r} ends in whitespace; a prefix ends in a sign, as in " to="'
        raise format_error("E-FORMAT-VALUE", "/messages/fields", message)
    if spaced := next((end for end in messages.end if end != end.strip()), None):
        message = f"{spaced!r} has whitespace at an edge; it is read, and dropped, without being named"
        raise format_error("E-FORMAT-VALUE", "/messages/end", message)
    for marker in (*messages.start, *messages.fields, messages.body):
        if inside := next((end for end in messages.end if end in marker and end != marker), None):
            message = f"{inside!r} stands inside of {marker!r}: an answer that is cut there could not be read"
            raise format_error("E-FORMAT-CONFLICT", "/messages/end", message)
    if reasoning is not None and (reasoning.start != "closed" or reasoning.interrupt):
        key = "interrupt" if reasoning.interrupt else "start"
        raise format_error("E-FORMAT-CONFLICT", f"/reasoning/{key}", "has no meaning beside [messages]")
    if content is not None and content.before_calls:
        message = "has no meaning beside [messages]; the end of a message says whether another one follows"
        raise format_error("E-FORMAT-CONFLICT", "/content/before_calls", message)
    forms = tools.placed_forms if tools is not None else ()
    for pointer, form in forms:
        if any(pattern.text != "{calls}" for pattern in form.section):
            message = "has no meaning beside [messages]; the header stands in `call`"
            raise format_error("E-FORMAT-CONFLICT", f"{pointer}/section", message)
    try:
        default_fields(messages)
    except ValueError as error:
        raise format_error("E-FORMAT-VALUE", "/messages/default", str(error)) from None
    shown = [("/reasoning/block", pattern) for pattern in (reasoning.block if reasoning is not None else ())]
    shown += [("/content/block", pattern) for pattern in (content.block if content is not None else ())]
    shown += [(f"{pointer}/call", pattern) for pointer, form in forms for pattern in form.call]
    for pointer, pattern in shown:
        try:
            split_header(pattern, messages)
        except ValueError as error:
            raise format_error("E-FORMAT-PATTERN", pointer, f"{pattern.text!r} {error}") from None
