"""Finds markers of the format in text that is passed on as the answer or as reasoning. Nothing is held for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from syntagma.format_schema import PlacedPiece
from syntagma.parsing.text.scanner import MarkerSet
from syntagma.parsing.text.window import Window

__all__ = ["MarkerWatch"]


class MarkerWatch:
    """Finds the ends of markers in pieces of text, even if a marker is cut.

    Args:
        texts: the markers; none contains another, so that each is known at its last character.
        pieces: for each, its parts that may be tokens.
        window: the text from which the pieces come.
    """

    __slots__ = ("_end", "_kind", "_pieces", "_tail", "_texts", "_window")

    def __init__(self, texts: MarkerSet, pieces: Mapping[str, tuple[PlacedPiece, ...]], window: Window) -> None:
        self._texts, self._pieces, self._window = texts, pieces, window
        self._kind: Literal["content", "reasoning"] = "content"
        self._tail = ""
        self._end = 0

    def sees(self, text: str) -> bool:
        """Whether a marker may begin or end in a piece; if not, the piece need not be looked at."""
        if self._tail:
            return True
        for first in self._texts.firsts:  # noqa: SIM110  # `any` costs more than the search in a short piece
            if first in text:
                return True
        return False

    @property
    def may_go_on(self) -> bool:
        """Whether the last piece ends inside what may be a marker."""
        return bool(self._tail)

    def ends(self, kind: Literal["content", "reasoning"], text: str, start: int) -> Sequence[tuple[int, str]]:
        """The markers that end in a piece.

        Args:
            kind: where the piece goes.
            text: the piece.
            start: its absolute position.

        Returns:
            for each marker the index in `text` after it, and its text.
        """
        tail = self._tail if kind == self._kind and start == self._end else ""
        self._kind, self._end = kind, start + len(text)
        whole, found, at = tail + text, [], 0
        index = start - len(tail) - self._window.base
        while True:
            at, marker = self._texts.search(whole, at, final=False)
            if marker is None:
                break
            if self._window.are_markers(index + at, self._pieces[marker]):
                at += len(marker)
                found.append((at - len(tail), marker))
            else:
                at += 1
        self._tail = whole[at:]
        return found
