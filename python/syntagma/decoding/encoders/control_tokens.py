"""Finds the control tokens of a vocabulary in a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from syntagma.decoding.vocabularies.tokens import Tokens

__all__ = ["ControlTokens", "Placed", "Range"]

Range: TypeAlias = tuple[int, int]
"""a half-open range of code points"""

_MAX_PREFIX = 3


class Placed(NamedTuple):
    """A control token in a text, with its half-open range in code points."""

    start: int
    end: int
    token_id: int


class ControlTokens:
    """The control tokens of a vocabulary, by their texts. Immutable.

    No text of others may become one of them. They are the special tokens, the ends of a turn, and the added tokens with
    a character other than letters, digits, `_` and whitespace, because many chat formats have markers that are added
    but not special. Added words and runs of spaces are text.

    Attributes:
        ids: id by text.
    """

    def __init__(self, tokens: Tokens) -> None:
        special = {*tokens.special_token_ids, *tokens.eos_token_ids}
        self.ids: dict[str, int] = {}
        for token_id in sorted(special.union(tokens.added_token_ids)):
            try:
                text = tokens.table[token_id].decode() if token_id < len(tokens.table) else ""
            except UnicodeDecodeError:
                continue
            if text and (token_id in special or not _is_word(text)):
                self.ids.setdefault(text, token_id)
        self._prefix = min((len(text) for text in self.ids), default=1)
        self._prefix = min(self._prefix, _MAX_PREFIX)
        self._first = sorted({text[0] for text in self.ids})
        lengths: dict[str, set[int]] = {}
        for text in self.ids:
            lengths.setdefault(text[: self._prefix], set()).add(len(text))
        self._lengths = {prefix: sorted(found, reverse=True) for prefix, found in lengths.items()}

    def find(self, text: str, ranges: Sequence[Range] | None = None) -> list[Placed]:
        """The control tokens in a text, found as a tokenizer does: from the left, the longest at each place.

        Args:
            text: the text.
            ranges: find only tokens that are completely in one of these ranges; None: everywhere.
        """
        found: list[Placed] = []
        for start, end in [(0, len(text))] if ranges is None else ranges:
            self._find_in(text, start, end, found)
        return found

    def _find_in(self, text: str, start: int, end: int, found: list[Placed]) -> None:
        done = start
        for place in self._candidates(text, start, end):
            if place < done:
                continue
            for length in self._lengths.get(text[place : place + self._prefix], ()):
                if place + length <= end and (token_id := self.ids.get(text[place : place + length])) is not None:
                    done = place + length
                    found.append(Placed(place, done, token_id))
                    break

    def _candidates(self, text: str, start: int, end: int) -> Iterator[int]:
        """The offsets of characters with which a control token may begin, ascending."""
        places: list[int] = []
        for first in self._first:
            place = text.find(first, start, end)
            while place >= 0:
                places.append(place)
                place = text.find(first, place + 1, end)
        return iter(sorted(places)) if len(self._first) > 1 else iter(places)


def _is_word(text: str) -> bool:
    return all(char.isalnum() or char.isspace() or char in "_▁" for char in text)
