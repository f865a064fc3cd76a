"""Text that arrives in pieces: what is left to read, where that is, and the next control token in it.

Behind the cursor nothing is kept, and it stands still only before what may become a control token, a line of the
document header, or blanks: what is held back never grows with the text.
"""

from __future__ import annotations

import codecs

from syntagma.openchatml.tokens import TOKEN, held_from
from syntagma.openchatml.transcript import SourceLocation

__all__ = ["Cursor"]


class Cursor:
    """A reading position in text that arrives in pieces."""

    def __init__(self) -> None:
        self.text = ""
        self.at = 0
        self.parts: list[str] = []
        """text before the next token, decoded, in pieces"""
        self._base = 0
        self._mark = 0
        self._line = 1
        self._line_begin = 0
        self._after_sign = False
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode

    def decode(self, data: str | bytes, *, last: bool = False) -> str:
        """The text of a piece. Bytes may be cut anywhere; each maximal invalid sequence becomes one U+FFFD."""
        if isinstance(data, str):
            return self._decode(b"", True) + data
        return self._decode(data, last)

    def push(self, text: str) -> None:
        """Add text behind what is left."""
        self.text = self.text[self.at :] + text if self.at < len(self.text) else text
        self.at = 0

    def settle(self) -> None:
        """Forget what was read."""
        self.place(self.at)
        self._base += self.at
        self.text = self.text[self.at :]
        self._mark -= self.at
        self.at = 0

    def skip(self, text: str) -> None:
        """Count text that was read without being pushed; nothing may be left when this is called."""
        found = text.rfind("\n")
        if found >= 0:
            self._line += text.count("\n")
            self._line_begin = self._base + found + 1
        self._base += len(text)
        self._after_sign = False

    @property
    def offset(self) -> int:
        """Offset of the cursor in the whole text, code points."""
        return self._base + self.at

    def place(self, at: int) -> SourceLocation:
        """The place of index `at` of `text`; places are asked for in their order."""
        if at > self._mark:
            lines = self.text.count("\n", self._mark, at)
            if lines:
                self._line += lines
                self._line_begin = self._base + self.text.rfind("\n", self._mark, at) + 1
            self._mark = at
        offset = self._base + at
        return SourceLocation(offset, self._line, offset - self._line_begin + 1)

    def next_token(self) -> str | None:
        """Go behind the next control token and give its name; None when more text is needed.

        The text before it is added to `parts`, without the signs that escape tokens.
        """
        text, at = self.text, self.at
        while True:
            match = TOKEN.search(text, at)
            if match is None:
                cut = held_from(text, at)
                if cut > at:
                    self.parts.append(text[at:cut])
                    self._after_sign = text[cut - 1] == "<"
                self.at = cut
                return None
            begin, end = match.span()
            escaped = text[begin - 1] == "<" if begin > at else self._after_sign
            self._after_sign = False
            if not escaped:
                if begin > at:
                    self.parts.append(text[at:begin])
                self.at = end
                return match.group(1)
            # One sign of the run before it goes. Where that sign was given out before, the token's own goes instead.
            self.parts.append(text[at : begin - 1] + match.group() if begin > at else match.group()[1:])
            at = end

    def until(self, closer: str) -> bool:
        """Go behind the next `closer`, which escapes nothing; False when more text is needed."""
        found = self.text.find(closer, self.at)
        if found >= 0:
            if found > self.at:
                self.parts.append(self.text[self.at : found])
            self.at = found + len(closer)
            self._after_sign = False
            return True
        last = self.text.rfind(closer[0], max(self.at, len(self.text) - len(closer) + 1))
        cut = last if last >= 0 and closer.startswith(self.text[last:]) else len(self.text)
        if cut > self.at:
            self.parts.append(self.text[self.at : cut])
        self.at = cut
        return False
