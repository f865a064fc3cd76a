"""The message that is being read: first the parts of its header, then its body."""

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
    """One message at a time, from its start token to its terminator. The text itself is in the cursor's `parts`.

    Attributes:
        place: where the message begins.
        sections: what is read of the header, as `(token before it, text)`.
        section: the token before the text that is read now.
        rejected: the header is malformed: the body is passed over.
        prompted: the prompt has begun this header.
        given: how much of the header is the prompt's, code points.
        loose: the body is that of a header which was too long; it may end at a start token, too.
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
        self._index = -1  # of the message whose body is read, -1 outside of bodies and where the body is passed over
        self._reported = 0  # parts of the body that events have reported

    def begin(self, at: int) -> None:
        """A header begins; its start token stands at index `at` of the cursor's text."""
        self.place = self._cursor.place(at)
        self._cursor.parts = []
        self.sections = []
        self.section = "start"
        self.rejected = self.prompted = self.loose = False
        self.given = 0
        self._reported = 0

    def next_section(self, token: str) -> None:
        """The text so far belongs to the section at hand; `token` begins the next."""
        self.sections.append((self.section, "".join(self._cursor.parts)))
        self._cursor.parts = []
        self.section = token

    def begin_body(self, message: Message | None) -> None:
        """The header is complete and says this; None: it is rejected."""
        self._cursor.parts = []
        self._reported = 0
        self.rejected = message is None
        self.loose = False
        self._index = -1
        if message is not None:
            self.message = message
            self._index = len(self._output.messages)
            self._output.events.append(BodyStarted(self._index, message))

    def begin_recovered(self, held: str) -> None:
        """A header is too long: what was read of it is the beginning of a body that nobody sees."""
        # As a tool's message it has no authority.
        self.begin_body(Message(role="tool", channel="analysis", terminator="end", recovered=True, place=self.place))
        self._cursor.parts = [held] if held else []
        self.loose = True

    def header_so_far(self) -> str:
        """What was read of the header, as it was written."""
        sections = [*self.sections, (self.section, "".join(self._cursor.parts))]
        text = "".join((spell(token) if token != "start" else "") + text for token, text in sections)
        return text[self.given :]

    def add_text(self, text: str) -> list[ReadEvent]:
        """Add text of the body that holds no `<`, and return the events; nothing else may be waiting."""
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
        """The body is complete, or nothing ends it: check its constraint, and add the message to the output."""
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
        """The message is over; its text is forgotten."""
        self._cursor.parts = []
        self._reported = 0
        self._index = -1

    def partial(self) -> PartialMessage | None:
        """What is read of a message whose body is cut; None if its header is rejected."""
        if self.rejected:
            return None
        draft = self.message
        return PartialMessage(draft.role, draft.effective_channel, draft.recipient, "".join(self._cursor.parts))
