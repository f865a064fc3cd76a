"""Reads messages (`<|start|>` header `<|message|>` body, terminator) and the text between them."""

from __future__ import annotations

from syntagma.errors import SyntagmaError
from syntagma.openchatml.constraint import is_checked
from syntagma.openchatml.cursor import Cursor
from syntagma.openchatml.document_header_reader import DocumentHeaderReader
from syntagma.openchatml.errors import HEADER
from syntagma.openchatml.message_draft import MessageDraft
from syntagma.openchatml.message_header import read_fields
from syntagma.openchatml.reader_output import ReaderOutput
from syntagma.openchatml.reader_states import SEEN, Seen
from syntagma.openchatml.tokens import TERMINATORS, spell
from syntagma.openchatml.transcript import Message

__all__ = ["MessageReader"]

_START = spell("start")
_END = spell("end")
_ENDLITERAL = spell("endliteral")


class MessageReader:
    """The reader's steps in and between messages.

    Attributes:
        has_start_in_body: a body contained a start token, which was read as text.
    """

    def __init__(
        self, cursor: Cursor, output: ReaderOutput, draft: MessageDraft, document: DocumentHeaderReader
    ) -> None:
        self._cursor = cursor
        self._output = output
        self._draft = draft
        self._document = document
        self._end_is_redundant = False
        self.has_start_in_body = False

    def begin_prompted(self, role: str) -> None:
        """Begin in the header of a message of this role, which the prompt has already begun."""
        self._draft.begin(0)
        self._draft.prompted = True
        self._draft.given = len(role)
        self._cursor.parts = [role]

    def between(self) -> Seen | None:
        """Skip whitespace up to the next message."""
        cursor = self._cursor
        cursor.at = at = cursor.whitespace_end()
        text = cursor.text
        if text.startswith(_START, at):
            cursor.at = at + len(_START)
            return self._begin()
        if self._end_is_redundant and text.startswith(_END, at):
            cursor.at = at + len(_END)
            self._end_is_redundant = False
            return "terminator"
        rest = text[at:]
        if not rest or _START.startswith(rest) or (self._end_is_redundant and _END.startswith(rest)):
            return None
        self._output.fail(HEADER, "text outside of any message", cursor.place(at))
        cursor.keep(at)
        cursor.parts = []
        return "text"

    def stray_text(self) -> Seen | None:
        """Skip text outside of messages, up to a start token."""
        cursor = self._cursor
        while (name := cursor.next_token()) is not None:
            if name == "start":
                return self._begin()
        cursor.parts.clear()
        return None

    def header(self) -> Seen | None:
        """Read one section of a header, and the token after it."""
        cursor, draft = self._cursor, self._draft
        mark = cursor.mark()
        name = cursor.next_token()
        size = cursor.offset - draft.place.offset
        if self._output.exceeds("openchatml_message_header_chars", size, draft.place):
            cursor.back_to(mark)
            draft.begin_recovered(draft.header_so_far())
            return "limit"
        if name is None:
            return None
        if name == "start" and draft.prompted and not draft.sections:
            # The completion repeats the start token at the end of the prompt.
            return self._begin()
        draft.next_section(name)
        if name == "message":
            draft.begin_body(None if draft.rejected else self._message())
        elif name not in ("channel", "constrain"):
            if not draft.rejected:
                self._output.fail(HEADER, f"{spell(name)} is not allowed in a header", draft.place)
            draft.rejected = True
            if name == "start":
                return self._begin()
            if name in TERMINATORS:
                draft.leave()
                self._end_is_redundant = name != "end"
        return SEEN[name]

    def body(self) -> Seen | None:
        """Read text of a body, and the token after it."""
        cursor, draft = self._cursor, self._draft
        name = cursor.next_token()
        if draft.rejected:
            cursor.parts.clear()
        if name is None:
            return None
        if name in TERMINATORS:
            self.close(name)
        elif name == "start" and draft.loose:
            draft.close(None)
            self._begin()
            return "next"
        elif name != "literal":
            written = spell(name)
            cursor.parts.append(written)
            self.has_start_in_body = self.has_start_in_body or name == "start"
            place = cursor.place(cursor.at - len(written))
            self._output.warn("W-BODY-TOKEN", f"{written} in a body is read as text", place)
        return SEEN[name]

    def literal(self) -> Seen | None:
        """Read text of a literal block, up to its end."""
        closed = self._cursor.until(_ENDLITERAL)
        if self._draft.rejected:
            self._cursor.parts.clear()
        return "endliteral" if closed else None

    def close(self, terminator: str) -> None:
        """End the current message. An end token directly after another terminator is ignored."""
        self._draft.close(terminator)
        self._end_is_redundant = terminator != "end"

    def _begin(self) -> Seen:
        """Begin a message after its start token was read."""
        self._end_is_redundant = False
        self._draft.begin(self._cursor.at - len(_START))
        return "start"

    def _message(self) -> Message | None:
        """The message of the current header, without its body; None if the header is malformed."""
        output, draft = self._output, self._draft
        try:
            header = read_fields(draft.sections, self._document.profile)
        except SyntagmaError as error:
            output.fail(error.code, error.message, draft.place)
            return None
        for irregular in header.warnings:
            output.warn("W-HEADER", irregular, draft.place)
        if header.constrain is not None and not is_checked(header.constrain):
            output.warn("W-CONSTRAINT", f"bodies of type {header.constrain!r} cannot be checked", draft.place)
        given = header.attributes
        return Message(
            role=header.role,
            channel=header.channel,
            name=given.get("name"),
            recipient=given.get("to"),
            call_id=given.get("call_id"),
            intent=given.get("intent"),
            content_type=given.get("content_type"),
            constrain=header.constrain,
            extra=header.extra,
            terminator="end",
            role_raw=header.role_raw,
            place=draft.place,
        )
