"""Where the arguments of a call come from: each source reads text and passes on fragments of one JSON object."""

from __future__ import annotations

from typing import Protocol

from syntagma.parsing.json_machine import BLANKS, JsonMachine
from syntagma.parsing.json_string import StringReader

__all__ = ["ArgumentSource", "EncodedArguments", "HeldArguments"]


class ArgumentSource(Protocol):
    """Reads the arguments behind a call's commit point; `JsonMachine` is the plain one."""

    done: bool
    bad: bool

    def feed(self, text: str, pos: int, end: int) -> tuple[int, str]:
        """Read `text[pos:end]` as far as the arguments go; the new position, and JSON text to pass on."""
        ...


class EncodedArguments:
    """An object that is encoded as a JSON string; starts behind the opening quote, ends behind the closing one.

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
            elif piece.strip(BLANKS):
                blanks = len(piece) - len(piece.lstrip(BLANKS))
                self.begun = piece[blanks] == "{"
                self.bad = not self.begun
                return pos + blanks
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
                    # The quote is read on its own, so that no fragment's span holds it.
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
                if read < len(piece) and (self._machine.bad or piece[read:].strip(BLANKS)):
                    self.bad = True
                    pos += read if after - pos == len(piece) else 0
                else:
                    pos = after
        return pos, "".join(out)


class HeldArguments:
    """Arguments that were read before the name was known, or that the call does not have."""

    __slots__ = ("_text", "bad", "done")

    def __init__(self, text: str = "{}") -> None:
        self._text = text
        self.done = True
        self.bad = False

    def feed(self, text: str, pos: int, end: int) -> tuple[int, str]:  # noqa: ARG002  # the protocol's
        """See `ArgumentSource`."""
        return pos, self._text
