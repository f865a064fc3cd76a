"""Literals of structure, between which whitespace is optional."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from syntagma.format_schema.markers import LiteralPiece

__all__ = ["structure_steps"]

_WORD = re.compile(r"\s+|\S+?(?=\s|\Z|(?<=[\]})])```)")


def structure_steps(pieces: Iterable[LiteralPiece]) -> Iterator[LiteralPiece | None]:
    """The markers and words of a literal, with None where whitespace is optional.

    That is where the literal shows whitespace, and also after a marker, between `>` and `<`, and between a bracket and
    a code fence.

    Args:
        pieces: the literal, split at its markers.
    """
    last: str | None = ""
    """the text before, unless it is whitespace"""
    for piece in pieces:
        if piece.is_marker:
            if last is not None and last.endswith(">"):
                yield None
            yield piece
            last = piece.text
            continue
        for word in _WORD.findall(piece.text):
            if word.isspace():
                yield None
                last = None
                continue
            if last:
                yield None
            yield LiteralPiece(word, False)
            last = word
