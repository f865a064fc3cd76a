"""The first published syntax (v0.1): `<|im_start|>role name=…`, line break, body, `<|im_end|>`.

Four roles, no channels, no escapes; one line break is trimmed on each side of a body. Marks of the beginning and end
of the text may stand between messages.
"""

from __future__ import annotations

import re

from syntagma.errors import SyntagmaError
from syntagma.openchatml.errors import HEADER, error_for
from syntagma.openchatml.read_events import BodyStarted
from syntagma.openchatml.reading import Reading
from syntagma.openchatml.tokens import WORD
from syntagma.openchatml.transcript import Message

__all__ = ["BEGIN", "EDGES", "END", "LegacyReading"]

BEGIN = "<|im_start|>"
END = "<|im_end|>"
EDGES = ("[BOS]", "[EOS]", "<s>", "</s>")
_ROLES = ("system", "user", "assistant", "tool")
_NAME = re.compile(r"name=(.+)", re.DOTALL)


def _read_legacy_header(line: str) -> Message:
    """The message that a header line announces.

    Raises:
        HeaderError: `E-PARSE-HEADER`.
    """
    words = WORD.findall(line)
    if not words or words[0] not in _ROLES:
        raise error_for(HEADER, f"{words[0]!r} is no role of this syntax" if words else "a header without a role")
    match = _NAME.fullmatch(words[1]) if len(words) == 2 else None
    if len(words) > 1 and match is None:
        raise error_for(HEADER, f"{words[-1]!r} does not belong in a header of this syntax")
    return Message(role=words[0], name=match.group(1) if match else None)


def _body_cut(text: str, begin: int) -> int:
    """How much of a body without its end may be given out: neither what may begin the end, nor a line break before."""
    last = text.rfind("<", max(begin, len(text) - len(END) + 1))
    cut = last if last >= 0 and END.startswith(text[last:]) else len(text)
    for tail in ("\r\n", "\n", "\r"):
        if text.endswith(tail, begin, cut):
            return cut - len(tail)
    return cut


def _without_tail(body: str) -> str:
    """A body without the one line break that ends it."""
    return body.removesuffix("\n").removesuffix("\r") if body.endswith("\n") else body


class LegacyReading(Reading):
    """The states of the first published syntax."""

    def _go_legacy(self) -> None:
        self.dialect = "v0.1"
        self._state = self._legacy_between

    def _legacy_between(self) -> bool:
        cursor = self._cursor
        cursor.at = at = self._blanks()
        rest = cursor.text[at:]
        if rest.startswith(EDGES):
            cursor.at += next(len(edge) for edge in EDGES if rest.startswith(edge))
            return True
        if rest.startswith(BEGIN):
            self._begin_frame(at)
            cursor.at = at + len(BEGIN)
            self._state = self._legacy_head
            return True
        if any(opener.startswith(rest) for opener in (BEGIN, *EDGES)):
            return False
        self._fail(HEADER, "text outside of any message", cursor.place(at))
        self._state = self._legacy_stray
        return True

    def _legacy_stray(self) -> bool:
        cursor = self._cursor
        found = cursor.text.find(BEGIN, cursor.at)
        if found >= 0:
            cursor.at = found
            self._state = self._legacy_between
            return True
        last = cursor.text.rfind("<", max(cursor.at, len(cursor.text) - len(BEGIN) + 1))
        cursor.at = last if last >= 0 and BEGIN.startswith(cursor.text[last:]) else len(cursor.text)
        return False

    def _legacy_head(self) -> bool:
        cursor = self._cursor
        line_end = cursor.text.find("\n", cursor.at)
        self._bound("openchatml_message_header_chars", len(cursor.text) - cursor.at if line_end < 0 else 0)
        if line_end < 0:
            return False
        try:
            draft = _read_legacy_header(cursor.text[cursor.at : line_end])
        except SyntagmaError as error:
            self._fail(error.code, error.message, self._frame)
            draft, self._rejected = Message(role="user"), True
        cursor.at = line_end + 1
        cursor.parts = []
        self._index = -1 if self._rejected else len(self.messages)
        self._message = Message(role=draft.role, name=draft.name, place=self._frame)
        if not self._rejected:
            self._events.append(BodyStarted(self._index, self._message))
        self._state = self._legacy_body
        return True

    def _legacy_body(self) -> bool:
        cursor = self._cursor
        found = cursor.text.find(END, cursor.at)
        cut = found if found >= 0 else _body_cut(cursor.text, cursor.at)
        piece = cursor.text[cursor.at : cut]
        cursor.at = cut if found < 0 else cut + len(END)
        piece = piece if found < 0 else _without_tail(piece)
        if piece and not self._rejected:
            cursor.parts.append(piece)
        if found < 0:
            return False
        self._tell()
        if not self._rejected:
            self._finish_message("".join(cursor.parts), "end")
        self._leave("end")
        self._state = self._legacy_between
        return True
