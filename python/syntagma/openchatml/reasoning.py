"""Splits private reasoning at its markers (§7), for debugging and offline analysis only."""

from __future__ import annotations

import re

import msgspec

from syntagma.entry import entry

__all__ = ["ReasoningPart", "split_reasoning"]

_MARKER = re.compile(r"<\|start_(reflect|introspect|reason)\|>")


class ReasoningPart(msgspec.Struct, frozen=True):
    """A part of private reasoning.

    Attributes:
        kind: the name of the marker before the text: `reflect`, `introspect` or `reason`; None before the first marker.
        text: the text up to the next marker.
    """

    kind: str | None
    text: str


@entry
def split_reasoning(body: str) -> list[ReasoningPart]:
    """The parts of the body of an analysis message. Each marker applies up to the next one."""
    parts: list[ReasoningPart] = []
    kind: str | None = None
    at = 0
    for match in _MARKER.finditer(body):
        if kind is not None or match.start() > at:
            parts.append(ReasoningPart(kind, body[at : match.start()]))
        kind, at = match.group(1), match.end()
    if kind is not None or at < len(body):
        parts.append(ReasoningPart(kind, body[at:]))
    return parts
