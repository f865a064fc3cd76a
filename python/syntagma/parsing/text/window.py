"""The text that a reader still needs: a cursor, absolute positions, and a mark to return to.

No text is copied twice: text before the cursor is dropped; while a mark is set, it is kept in pieces, which are joined
only if the reader returns to the mark.
"""

from __future__ import annotations

import bisect
import re

from syntagma.format_schema import PlacedPiece
from syntagma.parsing.text.text_buffer import TextBuffer
from syntagma.parsing.text.token_kind import SPECIAL, UNKNOWN, TokenKind

__all__ = ["Window"]

_NOT_WHITESPACE = re.compile(r"\S")
_MAX_KINDS = 4096
"""pieces of known kind above which those already read are forgotten"""


class Window:
    """Text from absolute position `base` on, with the cursor at index `pos`.

    Attributes:
        text: the available text.
        pos: index of the first unread character in `text`; only methods of the window change it.
        base: absolute position of `text[0]`, code points.
        is_final: whether no more text comes.
        message_end: absolute position at which the message that is read ends; -1: it is not known.
        vocabulary: the kind of a vocabulary's text tokens, once tokens of it were read.
    """

    __slots__ = ("_kept", "_kinds", "_mark", "_starts", "base", "is_final", "message_end", "pos", "text", "vocabulary")

    def __init__(self) -> None:
        self.text = ""
        self.pos = 0
        self.base = 0
        self.is_final = False
        self.message_end = -1
        self.vocabulary: TokenKind | None = None
        # The text since the mark that is no longer in `text`.
        self._kept: TextBuffer | None = None
        self._mark: int | None = None
        # Pieces of known kind: the start of each, and its kind. Empty as long as no kind is known.
        self._starts: list[int] = []
        self._kinds: list[TokenKind] = []

    @property
    def here(self) -> int:
        """Absolute position of the cursor."""
        return self.base + self.pos

    @property
    def _end(self) -> int:
        """Absolute position after the last character."""
        return self.base + len(self.text)

    @property
    def place(self) -> tuple[int, int]:
        """The empty span at the cursor."""
        return self.base + self.pos, self.base + self.pos

    def move(self, end: int) -> None:
        """Move the cursor to this index."""
        self.pos = end

    def take(self, end: int) -> str:
        """Move the cursor to this index; returns the text that it passes."""
        text = self.text[self.pos : end]
        self.pos = end
        return text

    @property
    def unread(self) -> str:
        """The text that is not read yet."""
        return self.text[self.pos :]

    @property
    def knows_tokens(self) -> bool:
        """Whether the kind of some text is known."""
        return bool(self._kinds)

    @property
    def last_kind(self) -> TokenKind:
        """The token kind of the last piece of text."""
        return self._kinds[-1] if self._kinds else UNKNOWN

    @property
    def is_empty(self) -> bool:
        """Whether all text was read, and no mark is set."""
        return self.pos == len(self.text) and self._mark is None

    def skip(self, size: int) -> None:
        """Move past `size` characters that the fast path has passed on; the window must be empty."""
        self.base += size

    def push(self, chunk: str, kind: TokenKind = UNKNOWN) -> None:
        """Append text of this kind."""
        if self._mark is not None:
            if self._kept is None:
                self._kept = TextBuffer()
            self._kept.write(self.text[self._mark : self.pos])
            self._mark = 0
        self.base += self.pos
        self.text = self.text[self.pos :] + chunk
        self.pos = 0
        if kind is not UNKNOWN or self._kinds:
            self._note(self._end - len(chunk), kind)

    def _note(self, start: int, kind: TokenKind) -> None:
        if kind is SPECIAL or not self._kinds or self._kinds[-1] is not kind:
            if not self._starts or self._starts[-1] != start:
                self._starts.append(start)
                self._kinds.append(kind)
            else:
                self._kinds[-1] = kind
        if len(self._starts) > _MAX_KINDS and self._mark is None:
            passed = bisect.bisect_right(self._starts, self.base) - 1
            if passed > _MAX_KINDS // 2:
                del self._starts[:passed], self._kinds[:passed]

    def begin(self, tail: str) -> None:
        """Start with text that ends at absolute position 0."""
        self.base = -len(tail)
        self.text = tail

    def mark(self) -> None:
        """Set the mark at the cursor, unless one is set."""
        if self._mark is None:
            self._mark = self.pos
            self._kept = None

    def mark_again(self) -> None:
        """Set the mark at the cursor, wherever it was."""
        self._mark, self._kept = self.pos, None

    def unmark(self) -> None:
        """Remove the mark."""
        self._mark = self._kept = None

    def rewind(self) -> None:
        """Return to the mark and remove it."""
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
        if self._mark is None:
            return ""
        return (self._kept.value() if self._kept else "") + self.text[self._mark : self.pos]

    def after_whitespace(self, index: int) -> int:
        """The index of the first character from `index` on that is not whitespace; the text's length without one."""
        found = _NOT_WHITESPACE.search(self.text, index)
        return found.start() if found else len(self.text)

    def cut_at(self, index: int, literal: str) -> bool:
        """Whether the text from `index` on is a proper beginning of this literal."""
        return len(self.text) - index < len(literal) and literal.startswith(self.text[index:])

    def are_markers(self, index: int, pieces: tuple[PlacedPiece, ...]) -> bool:
        """Whether the literal found at `index` may be one of the format: all pieces have the right tokens, if known."""
        return not self._kinds or all(self._is_spelled(index + offset, text, marker) for offset, text, marker in pieces)

    def _is_spelled(self, index: int, text: str, marker: bool) -> bool:
        """Whether the piece of a literal at `index` has the tokens by which the vocabulary spells it."""
        inside = self.vocabulary.tokens_in(text) if self.vocabulary is not None else ()
        if marker and not any(token != text for _, token in inside):
            return self._is_marker(index, text)
        return all(self._is_marker(index + offset, token) for offset, token in inside)

    def is_token(self, index: int) -> bool:
        """Whether a special token is known to begin at `index`."""
        start = self.base + index
        at = bisect.bisect_right(self._starts, start) - 1
        return at >= 0 and self._kinds[at] is SPECIAL and self._starts[at] == start

    def _is_marker(self, index: int, text: str) -> bool:
        """Whether `text`, found at `index`, may be a marker, by its tokens if they are known."""
        start = self.base + index
        at = bisect.bisect_right(self._starts, start) - 1
        if at < 0:
            return True
        kind = self._kinds[at]
        if kind is SPECIAL:
            end = self._starts[at + 1] if at + 1 < len(self._starts) else self._end
            return self._starts[at] == start and end == start + len(text)
        return kind.may_hold(text)
