"""Finds the first of a few fixed texts in a stream, also where chunks cut them."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["Scanner"]

_SHORT = 16
"""characters of a chunk that is looked through at once before anything is remembered of it"""


class Scanner:
    """Leftmost, longest match of fixed texts.

    Texts are looked for by their first characters with `str.find`, whose answers are remembered as long as the buffer
    is the same, so that a buffer is passed over once however often it is asked about.
    """

    __slots__ = ("_base", "_buffer", "_by_first", "_firsts", "_next")

    def __init__(self, keys: Iterable[str]) -> None:
        self._by_first: dict[str, list[str]] = {}
        for key in sorted(set(keys), key=len, reverse=True):
            if key:
                self._by_first.setdefault(key[0], []).append(key)
        self._firsts = frozenset(self._by_first)
        self._buffer = ""
        self._base = 0
        self._next: dict[str, int] = {}

    def search(self, text: str, start: int, *, base: int, final: bool) -> tuple[int, str | None]:
        """The index of the first key from `start` on, and the key.

        `base` is the absolute position of the text, which tells two equal buffers apart.
        Without one: the index from which on the text may be the beginning of a key (the length of `text` if there is
        none, and always if `final`), and None.
        """
        size = len(text)
        if text is not self._buffer or base != self._base:
            if size - start < _SHORT and self._firsts.isdisjoint(text[start:]):
                return size, None
            self._buffer, self._base = text, base
            self._next = dict.fromkeys(self._by_first, -1)
        while True:
            at = size
            for first, known in self._next.items():
                found = known
                if known < start:
                    found = text.find(first, start)
                    found = self._next[first] = size if found < 0 else found
                at = min(at, found)
            if at >= size:
                return size, None
            rest = size - at
            for key in self._by_first[text[at]]:
                if text.startswith(key, at):
                    return at, key
                if not final and rest < len(key) and key.startswith(text[at:]):
                    return at, None
            start = at + 1
