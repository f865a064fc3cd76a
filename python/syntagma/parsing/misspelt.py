"""Other spellings of what opens a section of calls: in case and signs, such as `<Tool-Calls>` for `<|tool_calls|>`.

They count only where a call of the section follows, which the matcher of calls finds out.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

from syntagma.parsing.text.scanner import is_cut

__all__ = ["Misspelling", "Misspellings", "end_of_spelling"]

_WORD = re.compile(r"[^\W_]+")
_SIGNS = re.compile(r"(?:[^\w\s/]|_){0,4}")
_BETWEEN = re.compile(r"(?:[^\w/]|_){0,4}")
"""what may stand between two words of an opener"""


class Misspelling(NamedTuple):
    """Another spelling of an opener, or what may become one.

    Attributes:
        at: its index.
        size: its length; 0: more text decides.
        opener: how the format spells it.
    """

    at: int
    size: int
    opener: str


class Misspellings:
    """Other spellings of the openers of a format's sections. Immutable; parsers may share it.

    Args:
        openers: the openers. Other spellings of one are known if it begins with a sign.
        others: texts of the format that mean something else. An opener of the same letters has no other spelling.

    Attributes:
        openers: the openers of which other spellings are known.
    """

    __slots__ = ("_begins", "openers")

    def __init__(self, openers: Iterable[str], others: Iterable[str]) -> None:
        taken = {_letters(text) for text in others if "/" not in text}
        found = dict.fromkeys(one for one in openers if one and not one[0].isalnum() and "/" not in one)
        self.openers = tuple(one for one in found if _letters(one) not in taken)
        firsts = "".join(dict.fromkeys(opener[0] for opener in self.openers))
        self._begins = re.compile(f"[{re.escape(firsts)}]") if firsts else None

    def search(self, text: str, start: int, end: int, *, final: bool, among: Collection[str]) -> Misspelling | None:
        """The first of them, or of what may become one, that begins in `text[start:end]`.

        Args:
            text: the text, all of which may be looked at.
            start: the index from which on it may begin.
            end: the index before which it begins.
            final: whether no more text comes.
            among: the openers that are looked for.
        """
        for begin in self._begins.finditer(text, start, end) if self._begins is not None else ():
            at = begin.start()
            ends = {one: end_of_spelling(one, text, at) or 0 for one in self.openers if one in among}
            if not final and -1 in ends.values():
                return Misspelling(at, 0, "")
            opener = max(ends, key=ends.__getitem__, default="")
            after = ends.get(opener, 0)
            if after > 0 and text[at:after] not in self.openers:
                return Misspelling(at, after - at, opener)
        return None


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


@functools.lru_cache(maxsize=256)
def _parts(opener: str) -> tuple[str, tuple[str, ...], str]:
    """The signs before an opener's words, the words, and the signs after them."""
    words = _WORD.findall(opener)
    after = opener.rindex(words[-1]) + len(words[-1])
    return opener[: opener.index(words[0])], tuple(word.lower() for word in words), opener[after:]


def end_of_spelling(opener: str, text: str, at: int) -> int | None:
    """The index after a spelling of an opener, one with letters, that begins at `at`; None: there is none.

    -1: the text ends inside of what may be one.
    """
    leading, words, trailing = _parts(opener)
    pos, size = at, len(text)
    if leading:
        signs = _SIGNS.match(text, at + 1)
        pos = at + 1 if signs is None else signs.end()
        if text[at] != leading[0] or (leading[0] in text[at + 1 : pos] and leading[0] not in leading[1:]):
            return None
    for number, word in enumerate(words):
        if number:
            between = _BETWEEN.match(text, pos)
            pos = pos if between is None else between.end()
        if not word.startswith(text[pos : pos + len(word)].lower()):
            return None
        pos += len(word)
        if pos > size:
            return -1
    if text.startswith(trailing, pos):
        return pos + len(trailing)
    if is_cut(trailing, text, pos, size):
        return -1
    signs = _SIGNS.match(text, pos)
    after = pos if signs is None else signs.end()
    found = text.find(trailing[-1], pos, after + 1)
    return found + 1 if found >= 0 else -1 if after == size else None
