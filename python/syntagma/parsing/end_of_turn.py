"""Takes the end of the turn off the end of the output."""

from __future__ import annotations

from itertools import accumulate
from typing import TypeAlias

from syntagma.parsing.text.token_kind import TokenKind

__all__ = ["EndOfTurn"]

Piece: TypeAlias = tuple[str, TokenKind]


class EndOfTurn:
    """Holds back what may be the end of the turn, and only as long as it may be.

    Args:
        atoms: what ends the turn, in this order. The leading ones that the output ends with are taken off: all, or the
            first few, and no part of one.

    Attributes:
        first_char: the first character of what ends the turn; empty if nothing does.
    """

    __slots__ = ("_atoms", "_held", "_whole", "first_char")

    def __init__(self, atoms: tuple[str, ...]) -> None:
        self._atoms = atoms
        self._whole = "".join(atoms)
        self._held: list[Piece] = []
        self.first_char = self._whole[:1]

    @property
    def is_empty(self) -> bool:
        """Nothing is held back."""
        return not self._held

    def feed(self, text: str, kind: TokenKind) -> list[Piece]:
        """More output → what is certainly not the end of the turn, each piece with the kind of its tokens."""
        whole = self._whole
        if not whole or not (self._held or kind.may_hold(self._atoms[0])):
            return [(text, kind)]
        if not self._held and self.first_char not in text:
            return [(text, kind)]
        self._held.append((text, kind))
        held = "".join(piece for piece, _ in self._held)
        start = max(0, len(held) - len(whole))
        while True:
            start = held.find(whole[0], start)
            if start < 0:
                out, self._held = self._held, []
                return out
            if whole.startswith(held[start:]):
                return self._release(start)
            start += 1

    def _release(self, size: int) -> list[Piece]:
        """The first `size` characters that are held."""
        out: list[Piece] = []
        while size > 0:
            text, kind = self._held.pop(0)
            if len(text) > size:
                self._held.insert(0, (text[size:], kind))
                text = text[:size]
            out.append((text, kind))
            size -= len(text)
        return out

    def finish(self) -> list[Piece]:
        """The output is over: what is held and is not the end of the turn."""
        held, self._held = self._held, []
        text = "".join(piece for piece, _ in held)
        return [] if text in accumulate(self._atoms) else held
