"""Arguments that are an object of JSON inside of a JSON string."""

from __future__ import annotations

from syntagma.parsing.arguments.json_machine import JsonMachine
from syntagma.parsing.arguments.json_string import StringReader
from syntagma.parsing.arguments.json_syntax import WHITESPACE
from syntagma.parsing.arguments.source import ArgumentSource

__all__ = ["EncodedArguments"]


class EncodedArguments(ArgumentSource):
    """An object that is encoded as a JSON string; starts after the opening quote, ends after the closing one.

    Attributes:
        begun: the object's brace was seen (not read yet), or the string is empty.
        done: the closing quote was read.
        bad: the next character fits neither the string nor the object.
    """

    __slots__ = ("_machine", "_string", "bad", "begun", "done")

    def __init__(self) -> None:
        self._string = StringReader()
        self._machine = JsonMachine()
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
        out: list[str] = []
        start = pos
        while pos < end and not (self.done or self.bad):
            after, piece = self._string.piece(text, pos, end)
            if self._string.bad:
                self.bad = True
            elif self._string.done:
                if pos > start:
                    # The quote is read on its own, so that it is outside the span of every fragment.
                    self._string = StringReader()
                    break
                self.bad = not self._machine.done
                self.done = not self.bad
                pos = after if self.done else pos
            elif after == pos:
                break
            else:
                read, fragment = self._machine.feed(piece, 0, len(piece))
                out.append(fragment)
                if read < len(piece) and (self._machine.bad or piece[read:].strip(WHITESPACE)):
                    self.bad = True
                    pos += read if after - pos == len(piece) else 0
                else:
                    pos = after
        return pos, "".join(out)
