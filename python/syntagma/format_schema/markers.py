"""Markers in literals: those that a format's file lists, and every complete `<…>` and `[…]` in a literal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

__all__ = ["LiteralPiece", "Markers", "PlacedPiece"]

_BRACKETED = re.compile(r"(<+)[^<>\[\]\s][^<>\[\]]*(>+)|(\[+)[^\[\]\s][^\[\]]*(\]+)")


class LiteralPiece(msgspec.Struct, frozen=True):
    """A part of a literal: a marker, or other text.

    If a vocabulary has a special token of a marker's text, or inside other text, this token is written and read there.
    Without a vocabulary only markers are known to be more than text.
    """

    text: str
    is_marker: bool


class PlacedPiece(NamedTuple):
    """A part of a literal, and the index in the literal where it begins."""

    at: int
    text: str
    is_marker: bool


class Markers:
    """Cuts the literals of one format at its markers.

    Args:
        named: the markers that the format's file lists.
    """

    def __init__(self, named: tuple[str, ...] = ()) -> None:
        self._named = tuple(sorted(named, key=len, reverse=True))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Markers) and self._named == other._named

    def __hash__(self) -> int:
        return hash(self._named)

    def pieces(self, literal: str) -> tuple[LiteralPiece, ...]:
        """Split a literal at its markers. `< a>` and `[ a]`, which begin with whitespace, are plain text.

        Brackets may be doubled: `<<a>>` is one marker. In `<<a>` the first bracket is plain text.
        """
        found: list[LiteralPiece] = []
        rest = literal
        while rest:
            places = ((at, one) for one in self._named if (at := rest.find(one)) >= 0)
            at, marker = min(places, key=lambda place: place[0], default=(len(rest), ""))
            found += _bracketed(rest[:at])
            if marker:
                found.append(LiteralPiece(marker, True))
            rest = rest[at + len(marker) :]
        return tuple(found)

    def placed(self, literal: str) -> tuple[PlacedPiece, ...]:
        """The parts of a literal that may be tokens: its markers, and other text of two characters or more."""
        found: list[PlacedPiece] = []
        at = 0
        for piece in self.pieces(literal):
            text = piece.text.strip()
            if len(text) > 1:
                found.append(PlacedPiece(at + piece.text.index(text), text, piece.is_marker))
            at += len(piece.text)
        return tuple(found)


def _bracketed(text: str) -> Iterator[LiteralPiece]:
    """Split text at its parts in brackets, which must have as many closing as opening ones."""
    end = 0
    for match in _BRACKETED.finditer(text):
        opened, closed = len(match[1] or match[3]), len(match[2] or match[4])
        start, stop = match.start() + max(0, opened - closed), match.end() - max(0, closed - opened)
        if start > end:
            yield LiteralPiece(text[end:start], False)
        yield LiteralPiece(text[start:stop], True)
        end = stop
    if end < len(text):
        yield LiteralPiece(text[end:], False)
