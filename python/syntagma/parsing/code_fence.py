"""Removes the code fence around an answer that was asked for as JSON."""

from __future__ import annotations

from typing import Literal, TypeAlias

__all__ = ["FenceFilter"]

_MARK = "```"
_OPENERS = ("```json\n", "```JSON\n", "```\n")
_MAX_LOOK_AHEAD = 64
"""the most characters up to the end of an opening fence, whitespace before it included"""

Piece: TypeAlias = tuple[str, int]


class FenceFilter:
    """Removes a fence that surrounds the whole answer.

    The start is held back while it may be an opening fence. A closing fence is held back until text follows it: then it
    was none, and stays.
    """

    __slots__ = ("_closing", "_held", "_state")

    def __init__(self) -> None:
        self._state: Literal["start", "inside", "plain"] = "start"
        self._held: list[Piece] = []
        self._closing = False

    def feed(self, text: str, start: int) -> list[Piece]:
        """Take text at absolute position `start`; returns the pieces to pass on, each with its position."""
        if self._state == "plain":
            return [(text, start)]
        self._held.append((text, start))
        if self._closing and text.isspace():
            return []
        held = "".join(piece for piece, _ in self._held)
        if self._state == "start":
            bare = held.lstrip()
            opener = next((one for one in _OPENERS if bare.startswith(one)), None)
            if opener is None:
                if any(one.startswith(bare) for one in _OPENERS) and len(held) < _MAX_LOOK_AHEAD:
                    return []
                return self.release()
            self._state = "inside"
            size = len(held) - len(bare) + len(opener)
            self._take(size)
            held = held[size:]
        keep = _held_from(held)
        self._closing = _MARK in held[keep:]
        return self._take(keep)

    def release(self) -> list[Piece]:
        """Pass on what is held back: something else than content follows, so it was no fence."""
        held, self._held = self._held, []
        self._closing = False
        if self._state == "start" and held:
            self._state = "plain"
        return held

    def finish(self) -> list[Piece]:
        """End the answer: a closing fence that is held back is removed, other text passed on."""
        if self._closing:
            self._held = []
        return self.release()

    def _take(self, size: int) -> list[Piece]:
        """Take out the first `size` characters that are held back."""
        taken: list[Piece] = []
        rest: list[Piece] = []
        for text, at in self._held:
            if size > 0:
                taken.append((text[:size], at))
            if size < len(text):
                cut = max(size, 0)
                rest.append((text[cut:], at + cut))
            size -= len(text)
        self._held = rest
        return taken


def _held_from(text: str) -> int:
    """The index from which on the text may be the end of a fenced answer."""
    end = len(text.rstrip())
    if text.endswith(_MARK, 0, end):
        start = end - len(_MARK)
        return start - 1 if start and text[start - 1] == "\n" else start
    for beginning in ("\n``", "\n`", "``", "\n", "`"):
        if text.endswith(beginning):
            return len(text) - len(beginning)
    return len(text)
