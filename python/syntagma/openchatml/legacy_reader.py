"""Reads the first published syntax (v0.1, §13): `<|im_start|>role name=…`, line break, body, `<|im_end|>`.

It has four roles, no channels and no escapes. One line break is trimmed on each side of a body. Tokens for the
beginning and the end of the text may be between messages.
"""

from __future__ import annotations

import re

from syntagma.errors import SyntagmaError
from syntagma.openchatml.cursor import Cursor
from syntagma.openchatml.errors import HEADER, error_for
from syntagma.openchatml.message_draft import MessageDraft
from syntagma.openchatml.reader_output import ReaderOutput
from syntagma.openchatml.reader_states import Seen
from syntagma.openchatml.tokens import WORD
from syntagma.openchatml.transcript import Message, SourceLocation

__all__ = ["LEGACY_EDGES", "LEGACY_START", "LegacyReader"]

LEGACY_START = "<|im_start|>"
LEGACY_EDGES = ("[BOS]", "[EOS]", "<s>", "</s>")
"""tokens for the beginning and the end of the text"""

_END = "<|im_end|>"
_ROLES = ("system", "user", "assistant", "tool")
_NAME = re.compile(r"name=(.+)", re.DOTALL)


class LegacyReader:
    """The reader's steps in the states of the first published syntax."""

    def __init__(self, cursor: Cursor, output: ReaderOutput, draft: MessageDraft) -> None:
        self._cursor = cursor
        self._output = output
        self._draft = draft

    def between(self) -> Seen | None:
        """Skip whitespace and tokens for the edges of the text, up to the next message."""
        cursor = self._cursor
        cursor.at = at = cursor.whitespace_end()
        rest = cursor.text[at:]
        if rest.startswith(LEGACY_EDGES):
            cursor.at += next(len(edge) for edge in LEGACY_EDGES if rest.startswith(edge))
            return "legacy_edge"
        if rest.startswith(LEGACY_START):
            self._draft.begin(at)
            cursor.at = at + len(LEGACY_START)
            return "legacy_start"
        if any(token.startswith(rest) for token in (LEGACY_START, *LEGACY_EDGES)):
            return None
        self._output.fail(HEADER, "text outside of any message", cursor.place(at))
        cursor.keep(at)
        return "text"

    def stray_text(self) -> Seen | None:
        """Skip text outside of messages, up to a start token, which is left for the next state."""
        cursor = self._cursor
        found = cursor.text.find(LEGACY_START, cursor.at)
        if found >= 0:
            cursor.at = found
            return "legacy_start"
        cursor.at = cursor.incomplete_from(LEGACY_START)
        return None

    def header(self) -> Seen | None:
        """Read a header, which is one line."""
        cursor, draft = self._cursor, self._draft
        line_end = cursor.text.find("\n", cursor.at)
        size = (line_end if line_end >= 0 else len(cursor.text)) - cursor.at
        if self._output.exceeds("openchatml_message_header_chars", size, draft.place):
            draft.begin_recovered("")
            return "limit"
        if line_end < 0:
            return None
        message = None
        try:
            message = _read_line(cursor.text[cursor.at : line_end], draft.place)
        except SyntagmaError as error:
            self._output.fail(error.code, error.message, draft.place)
        cursor.at = line_end + 1
        draft.begin_body(message)
        return "line_end"

    def body(self) -> Seen | None:
        """Read text of a body, and its end token."""
        cursor, draft = self._cursor, self._draft
        found = cursor.text.find(_END, cursor.at)
        cut = found if found >= 0 else _safe_end(cursor)
        piece = cursor.text[cursor.at : cut]
        if found >= 0:
            piece = _without_line_break(piece)
            cut += len(_END)
        cursor.at = cut
        if piece and not draft.rejected:
            cursor.parts.append(piece)
        if found < 0:
            return None
        draft.close("end")
        return "legacy_end"


def _read_line(line: str, place: SourceLocation) -> Message:
    """The message of a header line, still without its body.

    Raises:
        HeaderError: `E-PARSE-HEADER`, the line has no role of this syntax, or more than a name after it.
    """
    words = WORD.findall(line)
    if not words or words[0] not in _ROLES:
        raise error_for(HEADER, f"{words[0]!r} is not a role of this syntax" if words else "the header has no role")
    match = _NAME.fullmatch(words[1]) if len(words) == 2 else None
    if len(words) > 1 and match is None:
        raise error_for(HEADER, f"{words[-1]!r} does not belong in a header of this syntax")
    return Message(role=words[0], name=match.group(1) if match else None, place=place)


def _safe_end(cursor: Cursor) -> int:
    """The index up to which the text of an unfinished body can be reported.

    A possible beginning of the end token is not reported yet, nor is a line break before it.
    """
    cut = cursor.incomplete_from(_END)
    for line_break in ("\r\n", "\n", "\r"):
        if cursor.text.endswith(line_break, cursor.at, cut):
            return cut - len(line_break)
    return cut


def _without_line_break(body: str) -> str:
    """A body without the one line break that ends it."""
    return body.removesuffix("\n").removesuffix("\r") if body.endswith("\n") else body
