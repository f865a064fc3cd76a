"""Sentinels: made-up words whose places in a render are exact.

A sentinel is nine consonants, so it hits no word of any language, holds no digit (counters are looked for in digits),
and passes for the strictest known shape of a call id (nine alphanumerics).
"""

from __future__ import annotations

import random

__all__ = ["Sentinels"]

_CONSONANTS = "bcdfghjklmnpqrstvwxz"
_LENGTH = 9


class Sentinels:
    """A seeded source of sentinels; none is given twice."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)
        self._given: set[str] = set()
        self._numbers: set[int] = set()

    def word(self, kind: str) -> str:
        """A new sentinel whose first letter is `kind`, a consonant; no letter stands twice in a row."""
        while True:
            letters = [kind]
            while len(letters) < _LENGTH:
                letter = self._random.choice(_CONSONANTS)
                if letter != letters[-1]:
                    letters.append(letter)
            text = "".join(letters)
            if text not in self._given:
                self._given.add(text)
                return text

    def number(self) -> int:
        """A new number of six digits, none of them 0, 1 or 2, so that no counter is hit."""
        while True:
            value = int("".join(self._random.choice("3456789") for _ in range(6)))
            if value not in self._numbers:
                self._numbers.add(value)
                return value

    @property
    def given(self) -> frozenset[str]:
        """Every text that was given, numbers included: none may survive in a format."""
        return frozenset(self._given | {str(number) for number in self._numbers})
