"""Takes a code fence off an answer that was asked for as JSON."""

from __future__ import annotations

__all__ = ["FenceFilter"]

_MARK = "```"
_OPENERS = ("```json\n", "```JSON\n", "```\n")


class FenceFilter:
    """Removes a fence that surrounds the whole answer.

    What stands at the start is held while it may be an opening fence, and a closing fence is held until text follows it
    (then it was none, and stays).
    """

    __slots__ = ("_held", "_held_at", "_state")

    def __init__(self) -> None:
        self._state = "start"
        self._held: list[str] = []
        self._held_at = 0

    def feed(self, text: str, start: int) -> list[tuple[str, int]]:
        """Text at absolute position `start` → the pieces to pass on, each with its position."""
        if self._state == "plain":
            return [(text, start)]
        if not self._held:
            self._held_at = start
        if self._state == "start":
            return self._start(text)
        return self._inside(text)

    def release(self) -> list[tuple[str, int]]:
        """Something else than content follows: what is held was no fence."""
        held, self._held = "".join(self._held), []
        if self._state == "start" and held:
            self._state = "plain"
        return [(held, self._held_at)] if held else []

    def finish(self) -> list[tuple[str, int]]:
        """The answer is over: a held closing fence is taken off."""
        held = "".join(self._held)
        if self._state == "inside" and held.strip() == _MARK:
            self._held = []
            return []
        return self.release()

    def _start(self, text: str) -> list[tuple[str, int]]:
        held = "".join(self._held) + text
        bare = held.lstrip()
        for opener in _OPENERS:
            if bare.startswith(opener):
                self._state, self._held = "inside", []
                rest = bare[len(opener) :]
                at = self._held_at + len(held) - len(rest)
                self._held_at = at
                return self._inside(rest) if rest else []
        if any(opener.startswith(bare) for opener in _OPENERS) and len(held) < 64:
            self._held = [held]
            return []
        self._state, self._held = "plain", []
        return [(held, self._held_at)]

    def _inside(self, text: str) -> list[tuple[str, int]]:
        # Held: a suffix of the form newline? fence blanks, or the beginning of one. Blanks behind a whole fence are
        # kept in pieces, so that a flood of them costs nothing.
        if self._held and self._held[0].endswith(_MARK) and not text.strip():
            self._held.append(text)
            return []
        text = "".join(self._held) + text
        at = self._held_at
        keep = _held_from(text)
        self._held = [text[keep:]] if keep < len(text) else []
        if self._held:
            whole = self._held[0]
            cut = whole.find(_MARK) + len(_MARK)
            if _MARK in whole:
                self._held = [whole[:cut], whole[cut:]]
        self._held_at = at + keep
        return [(text[:keep], at)] if keep else []


def _held_from(text: str) -> int:
    """The index from which on the text may be the end of a fenced answer."""
    end = len(text.rstrip())
    if text.endswith(_MARK, 0, end) and (end == len(_MARK) or text[end - len(_MARK) - 1] == "\n"):
        return max(0, end - len(_MARK) - 1)
    for size in (3, 2, 1):
        if text.endswith(f"\n{_MARK}"[:size]):
            return len(text) - size
    return len(text)
