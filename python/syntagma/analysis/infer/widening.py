"""A format that also reads what the template writes with another setting of a variable."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from syntagma.errors import FormatError
from syntagma.format_schema import ContentSpec, FormatSpec, ReasoningSpec, ToolsSpec, used_markers
from syntagma.formats import ChatFormat

__all__ = ["widened"]

_Item = TypeVar("_Item")


def widened(spec: FormatSpec, other: FormatSpec) -> FormatSpec | None:
    """The format with the other one's reasoning, content and calls as further forms, which are read but not written.

    None if they are the same, if only one has messages with headers, or if no format can have both.

    Args:
        spec: the format that is written.
        other: the format of another setting.
    """
    if spec.messages != other.messages:
        return None
    made = msgspec.structs.replace(
        spec,
        reasoning=_with_reasoning(spec.reasoning, other.reasoning),
        content=_with_content(spec.content, other.content),
        tools=_with_forms(spec.tools, other.tools),
        end_of_turn=_with_ends(spec.end_of_turn, other.end_of_turn),
    )
    if made == spec:
        return None
    try:
        made = msgspec.structs.replace(made, markers=used_markers(made, (*spec.markers, *other.markers)))
        ChatFormat(made).parser()
    except FormatError:
        return None
    return made


def _with_forms(tools: ToolsSpec | None, other: ToolsSpec | None) -> ToolsSpec | None:
    if tools is None or other is None:
        return tools or other
    known = [_alone(form) for form in tools.forms]
    further = tuple(form for form in map(_alone, other.forms) if form not in known)
    return msgspec.structs.replace(tools, also=(*tools.also, *further))


def _alone(form: ToolsSpec) -> ToolsSpec:
    return msgspec.structs.replace(form, also=())


def _with_reasoning(part: ReasoningSpec | None, other: ReasoningSpec | None) -> ReasoningSpec | None:
    if part is None or other is None:
        return part or other
    return msgspec.structs.replace(part, block=_both(part.block, other.block))


def _with_content(part: ContentSpec | None, other: ContentSpec | None) -> ContentSpec | None:
    if part is None or other is None:
        return part or other
    return msgspec.structs.replace(part, block=_both(part.block, other.block))


def _both(some: tuple[_Item, ...], others: tuple[_Item, ...]) -> tuple[_Item, ...]:
    return tuple(dict.fromkeys((*some, *others)))


def _with_ends(ends: tuple[Any, ...], others: tuple[Any, ...]) -> tuple[Any, ...]:
    """The ends of the turn with the other's as alternatives, if both have as many."""
    if len(ends) != len(others):
        return ends or others
    return tuple(_either(one, other) for one, other in zip(ends, others, strict=True))


def _either(one: Any, other: Any) -> Any:
    texts, others = ((end,) if isinstance(end, str) else end for end in (one, other))
    both = _both(texts, others)
    return one if both == texts else both
