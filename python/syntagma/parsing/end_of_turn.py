"""Removes the end of the turn from the end of the output."""

from __future__ import annotations

import functools
import os
from typing import NamedTuple, TypeAlias

from syntagma.parsing.text.token_kind import SPECIAL, TokenKind

__all__ = ["EndOfTurn"]

Piece: TypeAlias = tuple[str, TokenKind]


class _Bounds(NamedTuple):
    """Properties of the end of the turn, computed before any text comes."""

    longest: int
    """the most code points of the end of the turn"""
    prefixes: tuple[tuple[str, tuple[str, ...]], ...]
    """the texts that may stand first, grouped by first character: their common prefix, and the texts"""
    beginnings: frozenset[str]
    """all proper prefixes of the texts that may stand first"""
    cut: int
    """the most code points of such a prefix"""


@functools.lru_cache(maxsize=256)
def _bounds(places: tuple[tuple[str, ...], ...]) -> _Bounds:
    first = places[0] if places else ()
    alike = [tuple(text for text in first if text[0] == char) for char in sorted({text[0] for text in first})]
    return _Bounds(
        sum(max(map(len, texts)) for texts in places),
        tuple((os.path.commonprefix(texts), texts) for texts in alike),  # noqa: RUF071  # characters are meant
        frozenset(text[:size] for text in first for size in range(1, len(text))),
        max(map(len, first), default=1) - 1,
    )


class EndOfTurn:
    """Holds text back as long as it may be the end of the turn.

    Args:
        places: the end of the turn: for each place in order, the texts any of which may stand there. The output may end
            with the texts of all places or of the first few; these texts are removed, but no part of a text.

    Attributes:
        first_chars: the characters with which the end of the turn may begin; empty if nothing ends it.
    """

    __slots__ = ("_bounds", "_held", "_places", "_tokens", "first_chars")

    def __init__(self, places: tuple[tuple[str, ...], ...]) -> None:
        self._places = places
        self._bounds = _bounds(places)
        self.first_chars = frozenset(prefix[0] for prefix, _ in self._bounds.prefixes)
        self._held: list[Piece] = []
        self._tokens: list[str] = []
        """the text of end tokens of the vocabulary after the held text, as long as nothing follows them"""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is held back."""
        return not self._held and not self._tokens

    def beginning_in(self, text: str) -> int:
        """The first index at which the end of the turn may begin in this text; its length if there is none."""
        size = found = len(text)
        _, prefixes, beginnings, cut = self._bounds
        tail = size - cut if size > cut else 0
        for prefix, texts in prefixes:
            at = text.find(prefix)
            while 0 <= at < found:
                if text.startswith(texts, at):
                    found = at
                at = text.find(prefix, at + 1)
            at = text.find(prefix[0], tail)
            while 0 <= at < found:
                if text[at:] in beginnings:
                    found = at
                at = text.find(prefix[0], at + 1)
        return found

    def is_cut(self, text: str) -> bool:
        """Whether a text that begins like the end of the turn lacks a part of its first text."""
        return not text.startswith(self._places[0])

    def feed(self, text: str, kind: TokenKind) -> list[Piece]:
        """Take more output; returns what is certainly not the end of the turn, each piece with its token kind."""
        if len(self._held) == 1 and not self._tokens and kind is self._held[0][1] and kind is not SPECIAL:
            text = self._held.pop()[0] + text
        if not self._held and not self._tokens and self.beginning_in(text) == len(text):
            return [(text, kind)]
        self._held += ((token, SPECIAL) for token in self._tokens)
        self._tokens.clear()
        self._held.append((text, kind))
        return self._release(self._end_from(whole=False))

    def feed_token(self, text: str) -> None:
        """Take an end token of the vocabulary; it is no part of the output, unless more follows it."""
        self._tokens.append(text)

    def finish(self) -> list[Piece]:
        """End the output; returns the held text that is not the end of the turn."""
        out = self._release(self._end_from(whole=True))
        self._held.clear()
        self._tokens.clear()
        return out

    def _end_from(self, *, whole: bool) -> int:
        """The start of the end-of-turn text in the held text; unless `whole`, of one that may be cut."""
        held = "".join(piece for piece, _ in self._held)
        begin = 0
        for piece, kind in self._held:
            after = begin + len(piece)
            # Nothing begins inside of a special token.
            last = begin + 1 if kind is SPECIAL else after
            for start in range(max(begin, len(held) - self._bounds.longest), last):
                if held[start] in self.first_chars and self._is_end(held, start, kind, whole=whole):
                    return start
            begin = after
        return len(held)

    def _is_end(self, text: str, start: int, kind: TokenKind, *, whole: bool) -> bool:
        """Whether `text` is the end of the turn from `start` on, or, unless `whole`, may become it."""
        reached = {start}
        for number, texts in enumerate(self._places):
            allowed = texts if number else tuple(one for one in texts if kind.may_hold(one))
            if not whole and any(one.startswith(text[at:]) for at in reached for one in allowed):
                return True
            reached = {at + len(one) for at in reached for one in allowed if text.startswith(one, at)}
            if whole and len(text) in reached:
                return True
        return len(text) in reached

    def _release(self, size: int) -> list[Piece]:
        """Take out the first `size` characters that are held back."""
        out: list[Piece] = []
        while size > 0:
            text, kind = self._held.pop(0)
            if len(text) > size:
                self._held.insert(0, (text[size:], kind))
                text = text[:size]
            out.append((text, kind))
            size -= len(text)
        return out
