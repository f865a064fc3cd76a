"""A cursor over text that arrives in pieces: the unread text, its location, and the next control token in it.

Text that has been read is not kept. The cursor waits for more text only at a possible control token, a line of the
document header, or whitespace, so the memory it needs does not grow with the text.
"""

from __future__ import annotations

import codecs
import re

from syntagma.openchatml.tokens import TOKEN, incomplete_token_from
from syntagma.openchatml.transcript import SourceLocation

__all__ = ["Cursor"]

_WHITESPACE = re.compile(r"[ \t\r\n]*")


class Cursor:
    """A reading position in text that arrives in pieces.

    Attributes:
        text: the unread text, preceded by what was read since the last `settle`.
        at: index in `text` of the next character to read.
        parts: pieces of the text before the next token, with escapes resolved.
    """

    def __init__(self) -> None:
        self.text = ""
        self.at = 0
        self.parts: list[str] = []
        self._base = 0  # offset of `text` in the whole text
        self._counted = 0  # index in `text` up to which lines are counted
        self._line = 1
        self._line_begin = 0  # offset of the first character of that line
        self._kept: list[str] | None = None  # text that is kept as it is written, up to index `_kept_at`
        self._kept_at = 0
        self._after_escape = False  # the character before `at`, which is not in `text` any more, is `<`
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode

    def decode(self, data: str | bytes, *, last: bool = False) -> str:
        """The text of a piece. Bytes may be cut anywhere. Each maximal invalid sequence becomes one U+FFFD."""
        if isinstance(data, str):
            return self._decode(b"", True) + data
        return self._decode(data, last)

    def push(self, text: str) -> None:
        """Append text to the unread text."""
        self.text = self.text[self.at :] + text if self.at < len(self.text) else text
        self.at = 0

    def settle(self) -> None:
        """Discard the text that has been read."""
        self.place(self.at)
        if self._kept is not None:
            self._kept.append(self.text[self._kept_at : self.at])
            self._kept_at = 0
        self._base += self.at
        self.text = self.text[self.at :]
        self._counted -= self.at
        self.at = 0

    def flush(self) -> None:
        """Move the unread text to the end of `parts`, as plain text."""
        self.parts.append(self.text)
        self.push("")
        self.at = len(self.text)

    def skip(self, text: str) -> None:
        """Count text that was read without `push`. Call this only if no unread text is left."""
        found = text.rfind("\n")
        if found >= 0:
            self._line += text.count("\n")
            self._line_begin = self._base + found + 1
        self._base += len(text)
        if self._kept is not None:
            self._kept.append(text)
        self._after_escape = False

    def keep(self, at: int) -> None:
        """Keep all text from index `at` on as it is written, until `kept`."""
        self._kept, self._kept_at = [], at

    def drop(self) -> None:
        """Keep no more, and forget what was kept."""
        self._kept = None

    def kept(self, at: int) -> str:
        """The kept text up to index `at`; no more is kept."""
        text = "" if self._kept is None else "".join(self._kept) + self.text[self._kept_at : at]
        self._kept = None
        return text

    @property
    def offset(self) -> int:
        """The cursor's offset in the whole text, in code points."""
        return self._base + self.at

    def place(self, at: int) -> SourceLocation:
        """The location of index `at` of `text`. Successive calls must pass ascending indexes."""
        if at > self._counted:
            lines = self.text.count("\n", self._counted, at)
            if lines:
                self._line += lines
                self._line_begin = self._base + self.text.rfind("\n", self._counted, at) + 1
            self._counted = at
        offset = self._base + at
        return SourceLocation(offset, self._line, offset - self._line_begin + 1)

    def whitespace_end(self) -> int:
        """The index of the next character that is not whitespace, or of the end of the text."""
        match = _WHITESPACE.match(self.text, self.at)
        return match.end() if match else self.at

    def mark(self) -> tuple[int, int, bool]:
        """The cursor's state, to return to with `back_to`."""
        return self.at, len(self.parts), self._after_escape

    def back_to(self, mark: tuple[int, int, bool]) -> None:
        """Return to a `mark`. Since then, `settle` must not have run and nothing may have been taken from `parts`."""
        self.at, count, self._after_escape = mark
        del self.parts[count:]

    def next_token(self) -> str | None:
        """Move past the next control token and return its name; None if more text is needed.

        The text before the token is added to `parts`, without the `<` that escapes a token.
        """
        text, at = self.text, self.at
        while True:
            match = TOKEN.search(text, at)
            if match is None:
                cut = incomplete_token_from(text, at)
                if cut > at:
                    self.parts.append(text[at:cut])
                    self._after_escape = text[cut - 1] == "<"
                self.at = cut
                return None
            begin, end = match.span()
            escaped = text[begin - 1] == "<" if begin > at else self._after_escape
            self._after_escape = False
            if not escaped:
                if begin > at:
                    self.parts.append(text[at:begin])
                self.at = end
                return match.group(1)
            # Drop one `<` before the token. If it was already reported, drop the token's own `<` instead.
            self.parts.append(text[at : begin - 1] + match.group() if begin > at else match.group()[1:])
            at = end

    def until(self, closer: str) -> bool:
        """Move past the next `closer`, which cannot be escaped; False if more text is needed."""
        found = self.text.find(closer, self.at)
        if found >= 0:
            if found > self.at:
                self.parts.append(self.text[self.at : found])
            self.at = found + len(closer)
            self._after_escape = False
            return True
        cut = self.incomplete_from(closer)
        if cut > self.at:
            self.parts.append(self.text[self.at : cut])
        self.at = cut
        return False

    def incomplete_from(self, token: str) -> int:
        """The index, from the cursor on, at which a cut `token` may begin; the length of the text if there is none."""
        last = self.text.rfind(token[0], max(self.at, len(self.text) - len(token) + 1))
        return last if last >= 0 and token.startswith(self.text[last:]) else len(self.text)
