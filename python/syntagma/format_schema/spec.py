"""`FormatSpec`: a whole format, and properties that follow from its parts.

A format is three examples with placeholders: how reasoning, content and a call are written. The same examples are read
leniently by `syntagma.parsing` and strictly by `syntagma.constraints`.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import msgspec

from syntagma.format_schema.envelope import Envelope
from syntagma.format_schema.header import split_header
from syntagma.format_schema.markers import Markers
from syntagma.format_schema.parts import ContentSpec, MessagesSpec, PromptSpec, ReasoningSpec, ToolsSpec
from syntagma.format_schema.pattern import Pattern, Spelled
from syntagma.format_schema.validation import check_headers, check_ids, check_part, check_types, format_error

__all__ = [
    "FormatSpec",
    "answer_before_calls",
    "as_data",
    "ends_at_next",
    "has_required_fields",
    "kept",
    "required_fields",
    "shown_headers",
    "texts_beside_calls",
    "texts_in_turn",
    "used_markers",
]


_Found = TypeVar("_Found")


class FormatSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, weakref=True, dict=True):
    """A whole format. Its rules are checked when it is made, whether from a file or in Python.

    Raises:
        FormatError: `E-FORMAT-KEY`, `-TYPE`, `-VALUE`, `-PATTERN` or `-CONFLICT`, with the JSON pointer of the field.
    """

    aliases: tuple[str, ...] = ()
    """further names"""
    families: tuple[str, ...] = ()
    """words for the models that write it, and for who makes them: an unknown name that has one suggests the format"""
    anchor: str | None = None
    """the text in a prompt after which the assistant's turn begins; what follows its last occurrence is read first"""
    end_of_turn: tuple[str | tuple[str, ...], ...] = ()
    """the texts that end the turn, in order; a tuple: any of its texts may stand in one place. The parser removes all
    of them, or the first few, from the end of the output"""
    markers: tuple[str, ...] = ()
    """markers beside every complete `<…>` and `[…]` in a literal"""
    reasoning: ReasoningSpec | None = None
    content: ContentSpec | None = None
    tools: ToolsSpec | None = None
    messages: MessagesSpec | None = None
    prompt: PromptSpec | None = None

    def __post_init__(self) -> None:
        check_types(self, "")
        _check_ends(self)
        _check_markers(self)
        for name in ("reasoning", "content", "tools", "messages", "prompt"):
            part = getattr(self, name)
            if part is not None:
                check_part(name, part, f"/{name}")
        if self.tools is not None:
            check_ids(self.tools)
        if self.messages is not None:
            check_headers(self.messages, self.reasoning, self.content, self.tools)
        _check_reasoning_ends(self)

    @functools.cached_property
    def turn_ends(self) -> tuple[tuple[str, ...], ...]:
        """The end of the turn: for each place in order, the texts any of which may stand there."""
        return tuple((texts,) if isinstance(texts, str) else texts for texts in self.end_of_turn)

    @functools.cached_property
    def cuts(self) -> Markers:
        """Cuts the format's literals at its markers."""
        return Markers(self.markers)

    @functools.cached_property
    def reasoning_blocks(self) -> tuple[Pattern, ...]:
        """The patterns of reasoning; empty if the format has none."""
        return self.reasoning.block if self.reasoning is not None else ()

    @functools.cached_property
    def wrappers(self) -> tuple[Pattern, ...]:
        """All wrappers of an answer; empty if the format has none."""
        return self.content.wrappers if self.content is not None else ()

    @property
    def drop(self) -> tuple[str, ...]:
        """The texts that are removed from an answer."""
        return self.content.drop if self.content is not None else ()

    @functools.cached_property
    def forms(self) -> tuple[ToolsSpec, ...]:
        """All forms of calls; empty if the format has none."""
        return self.tools.forms if self.tools is not None else ()

    @property
    def written_end(self) -> str:
        """The end of the turn that is written: the first text of each place."""
        return "".join(texts[0] for texts in self.turn_ends)


def kept(find: Callable[[FormatSpec], _Found]) -> Callable[[FormatSpec], _Found]:
    """A function of a spec that is computed once; its result is kept on the spec, as long as that lives."""
    name = f"{find.__module__}.{find.__qualname__}"

    @functools.wraps(find)
    def found(spec: FormatSpec) -> _Found:
        known = vars(spec)
        if name not in known:
            # Two threads may both compute it; both then use the first result.
            known.setdefault(name, find(spec))
        result: _Found = known[name]
        return result

    return found


def ends_at_next(spec: FormatSpec, block: Pattern) -> bool:
    """Whether reasoning has no marker after it, and ends where the answer's wrapper or a call opens.

    Without a wrapper that is always written, it ends at the whitespace that the block shows after it.
    """
    content = spec.content
    wrapped = content is not None and content.when == "always" and any(one.opener.strip() for one in content.block)
    if content is not None and not all(one.opener.strip() for one in content.before_calls):
        return False
    return wrapped and spec.messages is None and not block.closer.strip()


@kept
def texts_in_turn(spec: FormatSpec) -> tuple[str, ...]:
    """All texts of the format that have a meaning inside a turn: all but those that end it."""
    return tuple(_texts((spec.reasoning, spec.content, spec.tools, spec.messages)))


def texts_beside_calls(spec: FormatSpec) -> tuple[str, ...]:
    """The texts of the format that are around reasoning and content."""
    return tuple(_texts((spec.reasoning, spec.content)))


def used_markers(spec: FormatSpec, markers: Iterable[str]) -> tuple[str, ...]:
    """The markers that occur in a text of the format, each once."""
    texts = (*_texts(spec.end_of_turn), *texts_in_turn(spec))
    return tuple(marker for marker in dict.fromkeys(markers) if any(marker in text for text in texts))


def _check_reasoning_ends(spec: FormatSpec) -> None:
    for block in spec.reasoning_blocks if spec.messages is None else ():
        if not block.closer and not ends_at_next(spec, block):
            hint = "text after {reasoning}, or a wrapper that every answer has: content.block"
            message = f"nothing ends the reasoning of {block.text!r}, which would hold every answer and call"
            raise format_error("E-FORMAT-CONFLICT", "/reasoning/block", message, hint)


def _check_ends(spec: FormatSpec) -> None:
    if any(not texts or not all(texts) for texts in spec.turn_ends):
        hint = "a text, or a list of texts any of which may stand in its place"
        raise format_error("E-FORMAT-VALUE", "/end_of_turn", "has an empty text or list", hint)


def _check_markers(spec: FormatSpec) -> None:
    used = used_markers(spec, spec.markers)
    for marker in spec.markers:
        if len(marker) < 2 or marker != marker.strip():
            hint = "a marker has two characters or more, and no whitespace at its edges"
            raise format_error("E-FORMAT-VALUE", "/markers", f"{marker!r} cannot be told from text", hint)
        if marker not in used:
            raise format_error("E-FORMAT-VALUE", "/markers", f"{marker!r} stands nowhere in the format")


def _texts(value: Any) -> Iterator[str]:
    """All texts in a part of a format."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Spelled):
        yield value.text
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from _texts(getattr(value, name))
    elif isinstance(value, dict):
        yield from _texts(tuple(value.items()))
    elif isinstance(value, tuple | frozenset):
        for inner in value:
            yield from _texts(inner)


def as_data(spec: FormatSpec) -> dict[str, Any]:
    """The format as plain data for JSON output; patterns with their items, envelopes with their members."""
    data: dict[str, Any] = msgspec.to_builtins(spec, enc_hook=_spelled_as_data)
    return data


def _spelled_as_data(value: Any) -> dict[str, Any]:
    if isinstance(value, Pattern):
        return {"text": value.text, "items": value.items}
    if isinstance(value, Envelope):
        return {"pattern": value.pattern, "root": value.root}
    raise NotImplementedError(f"a format has no {type(value).__name__}")


@kept
def required_fields(spec: FormatSpec) -> tuple[str, ...]:
    """The fields that every header must have.

    These are the fields that begin with a marker and that an example of reasoning or of an answer has.
    """
    messages = spec.messages
    if messages is None:
        return ()
    blocks = (*spec.reasoning_blocks, *(spec.content.block if spec.content else ()))
    shown = {field for block in blocks for field, _ in split_header(block, messages).fields}
    return tuple(field for field in messages.fields if field in shown and not field[0].isspace())


def has_required_fields(spec: FormatSpec, pattern: Pattern) -> bool:
    """Whether a pattern shows all fields that every header must have, so that its header may be written."""
    assert spec.messages is not None
    shown = {field for field, _ in split_header(pattern, spec.messages).fields}
    return shown.issuperset(required_fields(spec))


@kept
def shown_headers(spec: FormatSpec) -> tuple[Pattern, ...]:
    """The headers of calls that may be written before a body like that of the first call; first those in the file.

    They have all required fields. If all calls have such a body, the fields may stand in any order, with any value in
    the file, and one further field at the end; otherwise another field could lead to a body that ends differently.
    """
    messages, tools = spec.messages, spec.tools
    if messages is None or tools is None:
        return ()
    body = split_header(tools.call[0], messages).body
    alike = [pattern for pattern in tools.call if split_header(pattern, messages).body == body]
    shown = [pattern.text.partition(messages.body)[0] for pattern in alike if has_required_fields(spec, pattern)]
    fields = [split_header(pattern, messages).fields for pattern in alike if len(alike) == len(tools.call)]
    call_id = "".join(prefix + shape.text for prefix, shape in _fields_with(tools.call[0], messages, "id"))
    naming: dict[str, list[dict[str, str]]] = {}
    for each in fields:
        fixed = {prefix: shape.text for prefix, shape in each if not shape.placeholders}
        for prefix, shape in each:
            if "name" in shape.placeholders:
                naming.setdefault(prefix + shape.text + call_id, []).append(fixed)
    named = {prefix for each in fields for prefix, shape in each if "name" in shape.placeholders}
    required = [field for field in required_fields(spec) if field not in named]
    further = dict.fromkeys(
        f" {prefix.lstrip()}{shape.text}"
        for each in fields
        for prefix, shape in each
        if prefix not in (*required, *named) and not (call_id and "id" in shape.placeholders)
    )
    for name, examples in naming.items():
        for values in itertools.product(*(_values_of(spec, field) for field in required)):
            chosen = dict(zip(required, values, strict=True))
            if any(all(one.get(field, value) == value for field, value in chosen.items()) for one in examples):
                for order in itertools.permutations((name, *(field + value for field, value in chosen.items()))):
                    shown += ["".join((*order, one)) for one in ("", *further)]
    return tuple(Pattern(text + messages.body) for text in dict.fromkeys(shown))


def _fields_with(pattern: Pattern, messages: MessagesSpec, placeholder: str) -> list[tuple[str, Pattern]]:
    """The fields of a header whose values have this placeholder."""
    return [
        (prefix, shape) for prefix, shape in split_header(pattern, messages).fields if placeholder in shape.placeholders
    ]


def _values_of(spec: FormatSpec, field: str) -> tuple[str, ...]:
    """The fixed values of a field that the examples show."""
    assert spec.messages is not None
    patterns = [*(spec.tools.call if spec.tools is not None else ())]
    for part in (spec.reasoning, spec.content):
        patterns += part.block if part is not None else ()
    shapes = (shape for one in patterns for prefix, shape in split_header(one, spec.messages).fields if prefix == field)
    return tuple(dict.fromkeys(shape.text for shape in shapes if not shape.placeholders))


def answer_before_calls(content: ContentSpec, messages: MessagesSpec) -> Pattern:
    """The pattern of an answer before calls: the first one after which a message may come."""
    return next((one for one in content.block if one.closer.strip() in messages.end[:1]), content.block[0])
