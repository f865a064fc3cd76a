"""Markers: a `<…>` or `[…]` inside one literal, without a bracket of the other kind in it."""

from __future__ import annotations

import re

import msgspec

__all__ = ["LiteralPiece", "pieces"]

_MARKER = re.compile(r"<[^<>\[\]\s][^<>\[\]]*>|\[[^\[\]\s][^\[\]]*\]")


class LiteralPiece(msgspec.Struct, frozen=True):
    """A part of a literal: a marker (a token of its own where a vocabulary has it) or plain text."""

    text: str
    is_marker: bool


def pieces(literal: str) -> tuple[LiteralPiece, ...]:
    """Split a literal at its markers. `< a>` and `[ a]`, which begin with whitespace, are plain text."""
    found: list[LiteralPiece] = []
    end = 0
    for match in _MARKER.finditer(literal):
        if match.start() > end:
            found.append(LiteralPiece(literal[end : match.start()], False))
        found.append(LiteralPiece(match[0], True))
        end = match.end()
    if end < len(literal):
        found.append(LiteralPiece(literal[end:], False))
    return tuple(found)
