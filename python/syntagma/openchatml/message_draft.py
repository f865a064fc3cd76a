"""The message that is being read: first its header in sections, then its body."""

from __future__ import annotations

from msgspec.structs import replace

from syntagma.openchatml.constraint import violation
from syntagma.openchatml.cursor import Cursor
from syntagma.openchatml.errors import CONSTRAINT
from syntagma.openchatml.read_events import BodyDelta, BodyStarted, MessageFinished, ReadEvent
from syntagma.openchatml.reader_output import ReaderOutput
from syntagma.openchatml.tokens import spell
from syntagma.openchatml.transcript import Message, PartialMessage, SourceLocation

__all__ = ["MessageDraft"]


class MessageDraft:
    """The current message, from its start token to its terminator. Its text is in the cursor's `parts`.

    Attributes:
        place: where the message begins.
        sections: the header's complete sections, as `(token before the text, text)`.
        section: the token before the current section.
        rejected: the header is malformed, so the body is skipped.
        prompted: the prompt contains the beginning of this header.
        given: length of that beginning, in code points.
        loose: the body began as a header that was too long; a start token ends it, too.
        message: the message, without its body, once the header is complete.
    """

    def __init__(self, cursor: Cursor, output: ReaderOutput, *, deltas: bool) -> None:
        self.place = SourceLocation(0, 1)
        self.sections: list[tuple[str, str]] = []
        self.section = "start"
        self.rejected = False
        self.prompted = False
        self.given = 0
        self.loose = False
        self.message = Message(role="user")
        self._cursor = cursor
        self._output = output
        self._deltas = deltas
        self._index = -1  # of the message whose body is read; -1 outside of bodies and in skipped ones
        self._reported = 0  # parts of the body that events have reported

    def begin(self, at: int) -> None:
        """Begin a header, whose start token is at index `at` of the cursor's text."""
        self.place = self._cursor.place(at)
        if self._output.keeps_text:
            # Until the header is read it is not known whether the text will be in a message.
            self._output.lose(self._cursor.kept(at))
            self._cursor.keep(at)
        self._cursor.parts = []
        self.sections = []
        self.section = "start"
        self.rejected = self.prompted = self.loose = False
        self.given = 0
        self._reported = 0

    def next_section(self, token: str) -> None:
        """End the current section, and begin the next with `token`."""
        self.sections.append((self.section, "".join(self._cursor.parts)))
        self._cursor.parts = []
        self.section = token

    def begin_body(self, message: Message | None) -> None:
        """Begin the body of a message whose header is complete; None: the header was rejected."""
        self._cursor.parts = []
        self._reported = 0
        self.rejected = message is None
        self.loose = False
        self._index = -1
        if message is not None:
            self._cursor.drop()
            self.message = message
            self._index = len(self._output.messages)
            self._output.events.append(BodyStarted(self._index, message))

    def begin_recovered(self, held: str) -> None:
        """Handle a header that is too long: the text read so far begins the body of a hidden message."""
        # As a tool message it has no authority.
        self.begin_body(Message(role="tool", channel="analysis", terminator="end", recovered=True, place=self.place))
        self._cursor.parts = [held] if held else []
        self.loose = True

    def header_so_far(self) -> str:
        """The header so far as it was written, without the prompt's part."""
        sections = [*self.sections, (self.section, "".join(self._cursor.parts))]
        text = "".join((spell(token) if token != "start" else "") + text for token, text in sections)
        return text[self.given :]

    def add_text(self, text: str) -> list[ReadEvent]:
        """Add text of the body that contains no `<`, and return the events. The cursor must have no unread text."""
        self._cursor.skip(text)
        if self.rejected:
            return []
        parts = self._cursor.parts
        parts.append(text)
        if not self._deltas:
            return []
        self._reported = len(parts)
        return [BodyDelta(self._index, text)]

    def report_body(self) -> None:
        """Emit the text of the body that no event has reported yet."""
        parts = self._cursor.parts
        if self._deltas and self._index == len(self._output.messages) and self._reported < len(parts):
            text = "".join(parts[self._reported :])
            if text:
                self._output.events.append(BodyDelta(self._index, text))
        self._reported = len(parts)

    def close(self, terminator: str | None) -> None:
        """End the body: check its constraint and add the message to the output. `terminator` is None if it was cut."""
        self.report_body()
        if not self.rejected:
            self._finish(terminator)
        self.leave()

    def _finish(self, terminator: str | None) -> None:
        output = self._output
        draft = self.message
        body = "".join(self._cursor.parts)
        wrong = None if draft.constrain is None else violation(draft.constrain, body)
        if wrong is not None:
            output.fail(CONSTRAINT, wrong, self.place)
            if output.stopped:
                return
        message = replace(draft, body=body, terminator=terminator, end=self._cursor.offset)
        output.messages.append(message)
        output.events.append(MessageFinished(self._index, message))

    def leave(self) -> None:
        """Leave the message and discard its text, which is lost if no message holds it."""
        if self.rejected:
            self._output.lose(self._cursor.kept(self._cursor.at))
        self._cursor.parts = []
        self._reported = 0
        self._index = -1

    def partial(self) -> PartialMessage | None:
        """The message so far, if its body was cut off; None if its header was rejected."""
        if self.rejected:
            return None
        draft = self.message
        return PartialMessage(draft.role, draft.effective_channel, draft.recipient, "".join(self._cursor.parts))
