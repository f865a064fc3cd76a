"""Reads the messages of a transcript under the harmony profile, leniently: as `HarmonyReader` reads Harmony itself.

A transcript may also hold escapes and literal blocks, and further messages after a stop token.
"""

from __future__ import annotations

from syntagma.json_types import WHITESPACE
from syntagma.limits import Limits
from syntagma.openchatml.cursor import Cursor
from syntagma.openchatml.errors import HEADER
from syntagma.openchatml.harmony.completion_reader import HARMONY_TOKENS, HarmonyReader
from syntagma.openchatml.reader_output import ReaderOutput
from syntagma.openchatml.tokens import spell

__all__ = ["RecoveringReader"]

_ENDLITERAL = spell("endliteral")


class RecoveringReader:
    """Passes the text and the control tokens of a transcript to a `HarmonyReader`.

    Args:
        cursor: the text.
        output: receives what was read.
        role: the role whose header the prompt has begun, or None.
        deltas: report the pieces of bodies as events.
        limits: bounds on headers.
    """

    def __init__(self, cursor: Cursor, output: ReaderOutput, *, role: str | None, deltas: bool, limits: Limits) -> None:
        self._cursor = cursor
        self._output = output
        self.reader = HarmonyReader(role=role, deltas=deltas, limits=limits, document=True)
        self.reader.messages, self.reader.errors = output.messages, output.errors
        self._goes_on = role is None  # after a stop token, as only transcripts do
        self._in_literal = False
        self._lost = False  # text after the end of the turn is read

    def read(self) -> None:
        """Read all text at hand."""
        cursor, reader = self._cursor, self.reader
        while True:
            cursor.parts.clear()
            begin = cursor.at
            name = self._next()
            size = 0 if name is None else len(spell(name))
            reader.move_to(cursor.place(begin))
            self._pass("".join(cursor.parts), begin)
            if name is None:
                return
            reader.move_to(cursor.place(cursor.at - size))
            if self._in_literal:
                self._in_literal = False
            elif name == "start" and self._lost and self._goes_on:
                self._output.lose(cursor.kept(cursor.at - size))
                self._lost = False
                reader.resume()
                self._output.events += reader.feed_token(name, spelled=True)
            elif name == "literal" and reader.draft is not None:
                self._in_literal = True
            elif name in HARMONY_TOKENS:
                if self._is_lost(cursor.at - size):
                    continue
                self._output.events += reader.feed_token(name, spelled=True)
                self._is_lost(cursor.at - size)
            else:
                self._pass(spell(name), cursor.at - size)

    def _next(self) -> str | None:
        """Move past the next control token and return its name; in a literal block only its end is one."""
        if not self._in_literal:
            return self._cursor.next_token()
        return "endliteral" if self._cursor.until(_ENDLITERAL) else None

    def _pass(self, text: str, begin: int) -> None:
        if text and not self._lost:
            self._output.events += self.reader.feed_text(text)
            self._is_lost(begin + len(text) - len(text.lstrip(WHITESPACE)))

    def _is_lost(self, at: int) -> bool:
        """Whether text is read that belongs to no message; where it begins, at index `at`, this is reported."""
        if self.reader.is_over and not self._lost:
            self._lost = True
            place = self._cursor.place(at)
            self._output.fail(HEADER, "text after the end of the turn", place)
            self._cursor.keep(at)
        return self._lost

    def finish(self, stop: str | None) -> None:
        """End the text."""
        cursor, reader = self._cursor, self.reader
        if cursor.at < len(cursor.text):
            begin, rest = cursor.at, cursor.text[cursor.at :]
            cursor.at = len(cursor.text)
            self._pass(rest, begin)
        if self._lost:
            self._output.lose(cursor.kept(cursor.at))
        else:
            reader.move_to(cursor.place(cursor.at))
            self._output.events += reader.finish(stop=stop)
