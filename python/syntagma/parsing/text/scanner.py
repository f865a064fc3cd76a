"""Finds the first of a few fixed texts in a stream, even if chunks cut them."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["MarkerSet", "is_cut"]

_SHORT_CHUNK = 16
"""characters up to which a chunk is first tested for those with which a text begins"""
_BLOCK = 256
"""characters in which each text is searched for before those after them; four times as many each time"""


def is_cut(literal: str, text: str, pos: int, end: int) -> bool:
    """Whether `text[pos:end]` is a beginning of this literal, or all of it."""
    return end - pos <= len(literal) and literal.startswith(text[pos:end])


class MarkerSet:
    """A few fixed texts, and the search for them. Immutable: parsers may share one.

    Attributes:
        texts: the texts, the longest first.
        firsts: their first characters.
        beginnings: all proper prefixes of the texts.
        longest: the length of the longest, in code points.
    """

    __slots__ = ("beginnings", "firsts", "longest", "texts")

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = tuple(sorted({text for text in texts if text}, key=len, reverse=True))
        self.firsts = frozenset(text[0] for text in self.texts)
        self.beginnings = frozenset(text[:size] for text in self.texts for size in range(1, len(text)))
        self.longest = len(self.texts[0]) if self.texts else 0

    def search(self, text: str, start: int, *, final: bool, end: int | None = None) -> tuple[int, str | None]:
        """Find the first of the texts in `text[start:end]`; of those that begin there, the longest.

        It looks no further than a few times the distance, so that to search on after each find is linear.

        Returns:
            its index, and the text; or the index from which on the text may be the beginning of one (`end` if there is
            none, and always if `final`), and None.
        """
        size = len(text) if end is None else end
        if size - start < _SHORT_CHUNK and self.firsts.isdisjoint(text[start:size]):
            return size, None
        at, found = size, None
        begin, block = start, _BLOCK
        while found is None and begin < size:
            limit = begin + block
            for marker in self.texts:
                here = text.find(marker, begin, min(size, limit + len(marker) - 1))
                if here >= 0:
                    at, found, limit = here, marker, here
            begin, block = limit, block * 4
        # A longer text may begin before or with the one found: the next characters decide.
        cut_from = size - self.longest + 1
        if final or at < cut_from:
            return at, found
        cut_from = max(start, cut_from)
        tail = text[cut_from:size]
        if not self.firsts.isdisjoint(tail):
            for cut in range(min(at + 1, size) - cut_from):
                if tail[cut:] in self.beginnings:
                    return cut_from + cut, None
        return at, found
