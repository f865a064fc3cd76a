"""Finds the first of a few fixed texts in a stream, even if chunks cut them."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["MarkerSet", "Scanner"]

_SHORT_CHUNK = 16
"""characters up to which a chunk is searched without a cache"""


class MarkerSet:
    """The fixed texts that a scanner looks for. Immutable: parsers may share one.

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


class Scanner:
    """Finds the leftmost, longest match of the texts of a set, for one parser.

    It uses `str.find` for each text, and caches the results as long as the buffer is the same, so that each text is
    searched for once, however often the buffer is asked about.
    """

    __slots__ = ("_buffer", "_cut", "_from", "_next", "markers")

    def __init__(self, markers: MarkerSet) -> None:
        self.markers = markers
        self._buffer = ""
        self._from = 0
        self._next: dict[str, int] = {}
        self._cut = -1

    def search(self, text: str, start: int, *, final: bool) -> tuple[int, str | None]:
        """Find the first of the texts from `start` on.

        Returns:
            its index, and the text; or the index from which on the buffer may be the beginning of one (the length of
            `text` if there is none, and always if `final`), and None.
        """
        size = len(text)
        # The cache is valid for this text, from the start of the last search on.
        if text is not self._buffer or start < self._from:
            if size - start < _SHORT_CHUNK and self.markers.firsts.isdisjoint(text[start:]):
                return size, None
            self._buffer, self._cut = text, -1
            self._next = dict.fromkeys(self.markers.texts, -1)
        self._from = start
        at: int = size
        found: str | None = None
        for marker, known in self._next.items():
            here = known
            if here < start:
                here = text.find(marker, start)
                if here < 0:
                    here = size
                self._next[marker] = here
            if here < at:
                at, found = here, marker
        if final:
            return at, found
        if self._cut < start:
            self._cut = self._cut_from(text, max(start, size - self.markers.longest + 1))
        # A longer text may begin before or with the one found: the next characters decide.
        return (self._cut, None) if self._cut <= at else (at, found)

    def _cut_from(self, text: str, start: int) -> int:
        """The first index from `start` on at which a text begins that the buffer cuts; its length if there is none."""
        tail = text[start:]
        if not self.markers.firsts.isdisjoint(tail):
            beginnings = self.markers.beginnings
            for at in range(len(tail)):
                if tail[at:] in beginnings:
                    return start + at
        return len(text)
