"""Takes the end of the turn off the end of the output."""

from __future__ import annotations

from collections.abc import Set
from typing import TypeAlias

__all__ = ["EndOfTurn"]

Piece: TypeAlias = tuple[str, bool | Set[str] | None]


class EndOfTurn:
    """Holds back what may be the end of the turn, and only as long as it may be.

    `atoms` end the turn, in their order; the leading ones that the output ends with are taken off: all, or the first
    few, and no part of one.
    """

    __slots__ = ("_ends", "_first", "_held", "_whole")

    def __init__(self, atoms: tuple[str, ...]) -> None:
        self._whole = "".join(atoms)
        self._first = atoms[0] if atoms else ""
        self._ends = {"".join(atoms[: n + 1]) for n in range(len(atoms))}
        self._held: list[Piece] = []

    @property
    def first(self) -> str:
        """The first character of what ends the turn."""
        return self._whole[:1]

    @property
    def is_empty(self) -> bool:
        """Nothing is held back."""
        return not self._held

    def feed(self, text: str, identity: bool | Set[str] | None) -> list[Piece]:
        """More output → what is certainly not the end of the turn, each piece with what is known of its tokens."""
        whole = self._whole
        is_text = identity is False or (isinstance(identity, Set) and self._first in identity)
        if not whole or (is_text and not self._held):
            return [(text, identity)]
        self._held.append((text, identity))
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
            text, identity = self._held.pop(0)
            if len(text) > size:
                self._held.insert(0, (text[size:], identity))
                text = text[:size]
            out.append((text, identity))
            size -= len(text)
        return out

    def finish(self) -> list[Piece]:
        """The output is over: what is held and is not the end of the turn."""
        held, self._held = self._held, []
        text = "".join(piece for piece, _ in held)
        return [] if text in self._ends else held
