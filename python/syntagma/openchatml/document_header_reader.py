"""Reads the beginning of a transcript: the document header, or the first message if there is none."""

from __future__ import annotations

import re

from syntagma.errors import LimitError, SyntagmaError
from syntagma.limits import Limits
from syntagma.openchatml.cursor import Cursor
from syntagma.openchatml.document_header import read_header
from syntagma.openchatml.legacy_reader import LEGACY_EDGES, LEGACY_START
from syntagma.openchatml.message_draft import MessageDraft
from syntagma.openchatml.reader_output import ReaderOutput
from syntagma.openchatml.reader_states import Seen
from syntagma.openchatml.tokens import spell
from syntagma.openchatml.transcript import Dialect, DocumentHeader, PartialMessage, Profile, SourceLocation

__all__ = ["DocumentHeaderReader"]

_START = spell("start")
_STARTS = (_START, LEGACY_START, *LEGACY_EDGES)
_BOM = "\ufeff"
_LINE_OR_MARKER = re.compile(r"[:\n{#]|<\|")


class DocumentHeaderReader:
    """The reader's steps before the first message, and the facts they find about the whole transcript.

    Attributes:
        header: the document header, once it is read.
        profile: the profile in force: the caller's, else the header's.
        dialect: `v0.1` if the first message uses the first published syntax.
        is_delimited: the document header is between delimiters.
        recovers: the first message is read even if it lacks its beginning.
    """

    def __init__(
        self,
        cursor: Cursor,
        output: ReaderOutput,
        draft: MessageDraft,
        *,
        profile: Profile | None,
        limits: Limits,
        recovers: bool = False,
    ) -> None:
        self.header: DocumentHeader | None = None
        self.profile: Profile = profile or "ocm"
        self.dialect: Dialect = "ocm"
        self.is_delimited = False
        self._cursor = cursor
        self._output = output
        self._draft = draft
        self._limits = limits
        self._profile_given = profile is not None
        self.recovers = recovers
        self._lines: list[str] = []
        self._begin = 0  # offset of the first line
        self._size = 0  # code points of the lines, line breaks included

    def opening(self) -> Seen | None:
        """Tell a document header from a first message. A start token is left for the next state."""
        cursor = self._cursor
        if cursor.offset == 0 and cursor.text.startswith(_BOM, cursor.at):
            cursor.at += 1
            self._begin = 1
        rest = cursor.text[cursor.at :]
        if cursor.offset == self._begin and "---".startswith(rest[:3]):
            line, line_break, _ = rest.partition("\n")
            if not line_break:
                return None
            if line.rstrip(" \t\r") == "---":
                cursor.at += len(line) + 1
                self.is_delimited = True
                return "delimiter"
        begin = cursor.whitespace_end()
        # Empty lines are dropped. Whitespace before the first line of YAML is kept, because it is indentation.
        for line in cursor.text[cursor.at : begin].split("\n"):
            cursor.at = min(cursor.at, begin)
            if self._output.exceeds("openchatml_message_header_chars", len(line), SourceLocation(0, 1)):
                self._draft.begin_recovered("")
                return "limit"
            cursor.at += len(line) + 1
        cursor.at -= len(line) + 1
        word = cursor.text[begin:]
        if not word or any(len(word) < len(start) and start.startswith(word) for start in _STARTS):
            return None
        if not word.startswith(_STARTS):
            if not self.recovers:
                return "text"
            # A first message may lack its beginning; a line of YAML has a colon before any marker.
            room = self._limits.openchatml_message_header_chars
            found = _LINE_OR_MARKER.search(word[:room])
            if found is None and len(word) <= room:
                return None
            return "start" if found is not None and found.group() == "<|" else "text"
        self._output.warn("W-HEADER-MISSING", "the transcript has no document header", cursor.place(begin))
        return self._first_message(word)

    def lines(self) -> Seen | None:
        """Read lines of the document header. A start token is left for the next state."""
        cursor = self._cursor
        while True:
            line_end = cursor.text.find("\n", cursor.at)
            rest = cursor.text[cursor.at : line_end if line_end >= 0 else len(cursor.text)]
            if not self.is_delimited and rest.startswith((_START, LEGACY_START)):
                self._read()
                return self._first_message(rest)
            if not self.is_delimited and line_end < 0 and any(start.startswith(rest) for start in _STARTS[:2]):
                return None
            if self._output.exceeds("openchatml_header_bytes", self._size + len(rest), SourceLocation(0, 1)):
                self._draft.begin_recovered(self._so_far())
                return "limit"
            if line_end < 0:
                return None
            cursor.at = line_end + 1
            if self.is_delimited and rest.rstrip(" \t\r") in ("---", "..."):
                self._read()
                return "delimiter"
            self._lines.append(rest)
            self._size += len(rest) + 1

    def finish(self) -> None:
        """Handle a text that ends in the document header."""
        cursor, output = self._cursor, self._output
        end = cursor.place(len(cursor.text))
        last = cursor.text[cursor.at :]
        if self.is_delimited:
            output.truncate("the text ends inside the document header", end, None)
            output.lose(self._so_far() + last)
        elif len(last) > 1 and _START.startswith(last):
            output.truncate("the text ends inside a control token", end, PartialMessage())
            output.lose(self._so_far() + last)
        else:
            self._lines.append(last)
            self._read()

    def _first_message(self, text: str) -> Seen:
        """Set the transcript's dialect from `text`, which begins with the first message."""
        if text.startswith(_START):
            return "start"
        self.dialect = "v0.1"
        return "legacy_start"

    def _so_far(self) -> str:
        """The lines so far, as they were written."""
        return "".join(f"{line}\n" for line in [*(["---"] if self.is_delimited else []), *self._lines])

    def _read(self) -> None:
        """Parse the collected lines of the document header.

        Raises:
            LimitError: `E-LIMIT-OPENCHATML-HEADER`, the header is too long.
        """
        start = SourceLocation(0, 1)
        try:
            self.header = read_header("\n".join(self._lines), limits=self._limits)
        except LimitError as error:
            self._output.over_limit(error, start)
            self._draft.begin_recovered(self._so_far())
            self._draft.close(None)
            return
        except SyntagmaError as error:
            self._output.fail(error.code, error.message, start, self._so_far())
            return
        if self.header.number > (2, 2):
            self._output.warn("W-VERSION", f"version {self.header.version} is newer than 2.2", start)
        if not self._profile_given:
            self.profile = self.header.profile
