"""The text that a reader still needs: a cursor, absolute positions, and a mark to come back to.

Nothing is copied twice: what the cursor has passed is dropped, or kept in pieces while a mark is set, and joined only
if the reader comes back to the mark.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Set

from syntagma.parsing.text.text_buffer import TextBuffer

__all__ = ["Window"]

_NOT_BLANK = re.compile(r"\S")


class Window:
    """Text from absolute position `base` on, with the cursor at index `pos`.

    Attributes:
        text: the text at hand.
        pos: index of the first unread character in `text`.
        base: absolute position of `text[0]`, code points.
    """

    __slots__ = ("_kept", "_kinds", "_mark", "_starts", "base", "pos", "text")

    def __init__(self) -> None:
        self.text = ""
        self.pos = 0
        self.base = 0
        self._kept = TextBuffer()
        self._mark: int | None = None
        # Ranges of known identity: start of each, and what is known: True = one special token from here to the next
        # start, a set = plain text of a vocabulary with these special tokens, False = plain text, None = unknown.
        self._starts: list[int] = []
        self._kinds: list[bool | Set[str] | None] = []

    @property
    def here(self) -> int:
        """Absolute position of the cursor."""
        return self.base + self.pos

    @property
    def end(self) -> int:
        """Absolute position behind the last character."""
        return self.base + len(self.text)

    @property
    def knows_tokens(self) -> bool:
        """Whether something is known of the tokens that the text was made of."""
        return bool(self._kinds)

    @property
    def identity(self) -> bool | Set[str] | None:
        """What is known of the tokens of the last text."""
        return self._kinds[-1] if self._kinds else None

    @property
    def is_empty(self) -> bool:
        """Everything was read, and there is nothing to come back to."""
        return self.pos == len(self.text) and self._mark is None

    def skip(self, size: int) -> None:
        """As many characters were read elsewhere; only where it is empty."""
        self.base += size

    def push(self, chunk: str, identity: bool | Set[str] | None = None) -> None:
        """Append text; `identity` says what is known of its tokens."""
        if self._mark is not None:
            self._kept.write(self.text[self._mark : self.pos])
            self._mark = 0
        self.base += self.pos
        self.text = self.text[self.pos :] + chunk
        self.pos = 0
        if identity is not None or self._kinds:
            self._note(self.end - len(chunk), identity)

    def _note(self, start: int, identity: bool | Set[str] | None) -> None:
        if identity is True or not self._kinds or self._kinds[-1] is not identity:
            if not self._starts or self._starts[-1] != start:
                self._starts.append(start)
                self._kinds.append(identity)
            else:
                self._kinds[-1] = identity
        if len(self._starts) > 4096 and self._mark is None:
            passed = bisect.bisect_right(self._starts, self.base) - 1
            if passed > 2048:
                del self._starts[:passed], self._kinds[:passed]

    def begin(self, tail: str) -> None:
        """Start with text that ends where position 0 is."""
        self.base = -len(tail)
        self.text = tail

    def mark(self) -> None:
        """Remember the cursor; a mark that is set stays where it is."""
        if self._mark is None:
            self._mark = self.pos
            self._kept = TextBuffer()

    def unmark(self) -> None:
        """Forget the mark."""
        self._mark = None
        self._kept = TextBuffer()

    def rewind(self) -> None:
        """Go back to the mark and forget it."""
        if self._mark is None:
            return
        if self._kept:
            kept = self._kept.take()
            self.text = kept + self.text[self._mark :]
            self.base += self._mark - len(kept)
            self.pos = 0
        else:
            self.pos = self._mark
        self.unmark()

    def marked(self) -> str:
        """The text from the mark to the cursor."""
        return "" if self._mark is None else self._kept.value() + self.text[self._mark : self.pos]

    def behind_blanks(self, index: int) -> int:
        """The index of the first character from `index` on that is not blank; the text's length if there is none."""
        found = _NOT_BLANK.search(self.text, index)
        return found.start() if found else len(self.text)

    def cut_at(self, index: int, literal: str) -> bool:
        """Whether the text ends, at or behind `index`, inside what may be this literal."""
        return len(self.text) - index < len(literal) and literal.startswith(self.text[index:])

    def are_markers(self, index: int, pieces: tuple[tuple[int, str], ...]) -> bool:
        """Whether every one of `pieces` (offset from `index`, text) may be a marker."""
        return not self._kinds or all(self.is_marker(index + offset, text) for offset, text in pieces)

    def is_token(self, index: int) -> bool:
        """Whether a special token is known to begin at `index`."""
        start = self.base + index
        at = bisect.bisect_right(self._starts, start) - 1
        return at >= 0 and self._kinds[at] is True and self._starts[at] == start

    def is_marker(self, index: int, text: str) -> bool:
        """Whether `text` at `index`, which was found there, may be a marker: by its tokens where they are known."""
        start = self.base + index
        at = bisect.bisect_right(self._starts, start) - 1
        if at < 0:
            return True
        kind = self._kinds[at]
        if kind is None:
            return True
        if kind is True:
            end = self._starts[at + 1] if at + 1 < len(self._starts) else self.end
            return self._starts[at] == start and end == start + len(text)
        return kind is not False and text not in kind
