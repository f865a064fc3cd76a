"""Arguments that are a JSON object encoded as a JSON string."""

from __future__ import annotations

import bisect

from syntagma.json_types import WHITESPACE
from syntagma.parsing.arguments.json_arguments import JsonArguments
from syntagma.parsing.arguments.json_string import StringReader
from syntagma.parsing.arguments.source import ArgumentSource

__all__ = ["EncodedArguments"]


class EncodedArguments(ArgumentSource):
    """An object that is encoded as a JSON string; starts after the opening quote, ends after the closing one.

    Args:
        repair: whether slips are repaired.

    Attributes:
        begun: whether the object's brace was seen (not read yet), or the string is empty.
        done: whether the closing quote was read.
        bad: whether the next character fits neither the string nor the object.
    """

    __slots__ = ("_inner", "_string", "bad", "begun", "done", "withheld")

    def __init__(self, *, repair: bool = True) -> None:
        self._string = StringReader()
        self._inner = JsonArguments(repair=repair)
        self.withheld = 0
        self.begun = False
        self.done = False
        self.bad = False

    def begin(self, text: str, pos: int, end: int) -> int:
        """Read up to the object's brace; sets `begun` or `bad` once that is decided."""
        while pos < end and not (self.begun or self.bad):
            after, piece = self._string.piece(text, pos, end)
            if self._string.bad:
                self.bad = True
            elif self._string.done:
                self.begun = self.done = True
                return after
            elif after == pos:
                break
            elif piece.strip(WHITESPACE):
                indent = len(piece) - len(piece.lstrip(WHITESPACE))
                self.begun = piece[indent] == "{"
                self.bad = not self.begun
                return pos + indent
            else:
                pos = after
        return pos

    def feed(self, text: str, pos: int, end: int) -> tuple[int, str]:
        """See `ArgumentSource`."""
        if self.done:
            return pos, "{}"
        decoded, starts, string = _decoded(text, pos, end)
        read, fragment = self._read(decoded)
        here = _place(starts, read)
        withheld = self._inner.withheld
        self.withheld = here - _place(starts, read - withheld) if withheld <= read else self.withheld + here - pos
        if here == pos and not (self.bad or fragment or self._inner.has_repair):
            fragment = self._at_end(string, decoded[read:])
            here = starts[-1][1] + 1 if self.done else here
        return here, fragment

    def _read(self, decoded: str) -> tuple[int, str]:
        """Read the decoded text, as far as possible; whitespace may follow the object."""
        if not self._inner.done:
            read, fragment = self._inner.feed(decoded, 0, len(decoded))
            self.bad = self._inner.bad
            return read, fragment
        rest = decoded.lstrip(WHITESPACE)
        self.bad = bool(rest)
        return len(decoded) - len(rest), ""

    def _at_end(self, string: StringReader, rest: str) -> str:
        """Handle the end of the readable text: the quote is next, or it is no JSON string, or more text is needed.

        The quote is read on its own, so that it is outside the span of every other fragment.

        Returns:
            the text that completes the arguments at the quote.
        """
        ending = ""
        if not string.done:
            self.bad = string.bad
        elif not self._inner.done:
            closing = self._inner.close(rest)
            self.bad = closing is None
            ending = closing or ""
        self.done = string.done and not self.bad
        return ending

    def finish(self, rest: str) -> str:
        """See `ArgumentSource`."""
        return "" if self._inner.done else self._inner.finish(_decoded(rest, 0, len(rest))[0])

    @property
    def has_repair(self) -> bool:
        """See `ArgumentSource`."""
        return self._inner.has_repair

    def take_repair(self) -> str | None:
        """See `ArgumentSource`."""
        return self._inner.take_repair()


def _place(starts: list[tuple[int, int]], offset: int) -> int:
    """The index at which the character at this offset of the decoded text begins."""
    decoded, raw = starts[bisect.bisect_right(starts, offset, key=lambda start: start[0]) - 1]
    return raw + offset - decoded


def _decoded(text: str, pos: int, end: int) -> tuple[str, list[tuple[int, int]], StringReader]:
    """The decoded rest of a JSON string, as far as it is there.

    Returns:
        the decoded text; the offsets in it at which runs and escapes begin and at which it ends, each with its index
        in `text`; and the reader, which has reached the quote or an invalid character, or needs more text.
    """
    string = StringReader()
    pieces: list[str] = []
    starts: list[tuple[int, int]] = []
    size = 0
    while True:
        after, piece = string.piece(text, pos, end)
        starts.append((size, pos))
        if string.done or string.bad or after == pos:
            return "".join(pieces), starts, string
        pieces.append(piece)
        size += len(piece)
        pos = after
