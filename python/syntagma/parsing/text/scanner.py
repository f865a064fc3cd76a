"""Finds the first of a few fixed texts in a stream, also where chunks cut them."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["Scanner"]

_SHORT = 16
"""characters of a chunk that is looked through at once before anything is remembered of it"""


class Scanner:
    """Leftmost, longest match of fixed texts.

    Each text is looked for with `str.find`, whose answers are remembered as long as the buffer is the same, so that a
    buffer is passed over once for each text however often it is asked about.
    """

    __slots__ = ("_beginnings", "_buffer", "_cut", "_firsts", "_from", "_keys", "_longest", "_next")

    def __init__(self, keys: Iterable[str]) -> None:
        self._keys = sorted({key for key in keys if key}, key=len, reverse=True)
        self._firsts = frozenset(key[0] for key in self._keys)
        self._longest = len(self._keys[0]) if self._keys else 0
        self._beginnings = frozenset(key[:size] for key in self._keys for size in range(1, len(key)))
        self._buffer = ""
        self._from = 0
        self._next: dict[str, int] = {}
        self._cut = -1

    @property
    def firsts(self) -> frozenset[str]:
        """The first characters of the texts: where none of them stands, no text begins."""
        return self._firsts

    def search(self, text: str, start: int, *, final: bool) -> tuple[int, str | None]:
        """The index of the first key from `start` on, and the key.

        Without one: the index from which on the text may be the beginning of a key (the length of `text` if there is
        none, and always if `final`), and None.
        """
        size = len(text)
        # What is remembered holds for this text from the index on at which the last search began.
        if text is not self._buffer or start < self._from:
            if size - start < _SHORT and self._firsts.isdisjoint(text[start:]):
                return size, None
            self._buffer, self._cut = text, -1
            self._next = dict.fromkeys(self._keys, -1)
        self._from = start
        at: int = size
        found: str | None = None
        for key, known in self._next.items():
            here = known
            if here < start:
                here = text.find(key, start)
                if here < 0:
                    here = size
                self._next[key] = here
            if here < at:
                at, found = here, key
        if final:
            return at, found
        if self._cut < start:
            self._cut = self._cut_from(text, max(start, size - self._longest + 1))
        # Where a text stands whole, a longer one may begin, too: what comes decides.
        return (self._cut, None) if self._cut <= at else (at, found)

    def _cut_from(self, text: str, start: int) -> int:
        """The first index from `start` on at which the text ends inside a key; its length if there is none."""
        tail = text[start:]
        if not self._firsts.isdisjoint(tail):
            for at in range(len(tail)):
                if tail[at:] in self._beginnings:
                    return start + at
        return len(text)
