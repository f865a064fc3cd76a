"""Reads transcripts: one reader for whole texts and for text that arrives in pieces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from operator import attrgetter

from syntagma.entry import entry
from syntagma.limits import Limits
from syntagma.openchatml.cursor import Cursor
from syntagma.openchatml.document_header_reader import DocumentHeaderReader
from syntagma.openchatml.errors import TRUNCATED
from syntagma.openchatml.legacy_reader import LegacyReader
from syntagma.openchatml.message_draft import MessageDraft
from syntagma.openchatml.message_reader import MessageReader
from syntagma.openchatml.read_events import ReadEvent
from syntagma.openchatml.reader_output import ReaderOutput
from syntagma.openchatml.reader_states import TRANSITIONS, Seen, State
from syntagma.openchatml.recovering_reader import RecoveringReader
from syntagma.openchatml.transcript import (
    Dialect,
    DocumentHeader,
    PartialMessage,
    Problem,
    Profile,
    Transcript,
    checked_profile,
    checked_stop,
)

__all__ = ["StreamReader", "parse"]

_WHITESPACE = " \t\r\n\ufeff"
_BODY = State.BODY
_OUTSIDE = (State.OPENING, State.DOCUMENT_HEADER, State.BETWEEN_MESSAGES, State.STRAY_TEXT, State.LEGACY_BETWEEN)

_STEPS: Mapping[State, Callable[[StreamReader], Callable[[], Seen | None]]] = {
    State.OPENING: attrgetter("_document.opening"),
    State.DOCUMENT_HEADER: attrgetter("_document.lines"),
    State.BETWEEN_MESSAGES: attrgetter("_messages.between"),
    State.STRAY_TEXT: attrgetter("_messages.stray_text"),
    State.MESSAGE_HEADER: attrgetter("_messages.header"),
    State.BODY: attrgetter("_messages.body"),
    State.LITERAL: attrgetter("_messages.literal"),
    State.LEGACY_BETWEEN: attrgetter("_legacy.between"),
    State.LEGACY_STRAY_TEXT: attrgetter("_legacy.stray_text"),
    State.LEGACY_HEADER: attrgetter("_legacy.header"),
    State.LEGACY_BODY: attrgetter("_legacy.body"),
}
"""the step of each state, a method of one of the reader's parts"""


class StreamReader:
    """Reads a transcript, or a model's completion, from text or bytes that arrive in pieces cut anywhere.

    `feed` and `finish` return events. A fault in the text is a `ReadError` among the events, and in `errors`; only a
    header that is too long is raised. A strict reader stops at the first fault.

    The class owns a cursor over the text, readers for the document header and for messages in both syntaxes, the
    current message and the output. It calls the step of its state and takes the next state from
    `reader_states.TRANSITIONS`.

    Attributes:
        messages: the finished messages.
        errors: the faults found so far.
        warnings: the warnings so far.
    """

    @entry
    def __init__(
        self,
        *,
        strict: bool = True,
        profile: Profile | None = None,
        role: str | None = None,
        response: bool = False,
        deltas: bool = True,
        limits: Limits | None = None,
    ) -> None:
        """Create a reader.

        Args:
            strict: stop at the first error; otherwise continue after it.
            profile: the profile whose rules apply; None: the document header's.
            role: the text continues a prompt that ended after the start token and this role.
            response: the text is an answer, which must end with a stop token.
            deltas: report the pieces of bodies as `BodyDelta` events.
            limits: bounds on headers.

        Raises:
            ArgumentError: `E-ARGUMENT-VALUE`, the profile is unknown.
        """
        limits = limits or Limits()
        profile = checked_profile(profile)
        self._response = response
        self._cursor = Cursor()
        self._output = ReaderOutput(strict=strict, limits=limits)
        self._draft = MessageDraft(self._cursor, self._output, deltas=deltas)
        self._recovers = not strict
        self._document = DocumentHeaderReader(
            self._cursor,
            self._output,
            self._draft,
            profile=profile,
            limits=limits,
            recovers=self._recovers and profile == "harmony",
        )
        self._messages = MessageReader(self._cursor, self._output, self._draft, self._document)
        self._legacy = LegacyReader(self._cursor, self._output, self._draft)
        self._state = State.OPENING
        self._recovering: RecoveringReader | None = None
        self._begin_recovering = partial(RecoveringReader, self._cursor, self._output, deltas=deltas, limits=limits)
        if role is not None and self._recovers and profile == "harmony":
            self._recovering = self._begin_recovering(role=role)
        elif role is not None:
            self._messages.begin_prompted(role)
            self._state = State.MESSAGE_HEADER
        self.messages = self._output.messages
        self.errors = self._output.errors
        self.warnings = self._output.warnings

    @property
    def header(self) -> DocumentHeader | None:
        """The document header; None before it is read, or if there is none."""
        return self._document.header

    @property
    def profile(self) -> Profile:
        """The profile in force."""
        return self._document.profile

    @property
    def dialect(self) -> Dialect:
        """`v0.1` if the first message uses the first published syntax, else `ocm`."""
        return self._document.dialect

    @property
    def incomplete(self) -> PartialMessage | None:
        """After `finish`: the message in which the text ends, or None."""
        return self._output.incomplete

    @property
    def in_message(self) -> bool:
        """Whether a message has begun, even if only with a part of its start token, and is not complete."""
        if self._output.stopped:
            return False
        if self._recovering is not None:
            reader = self._recovering.reader
            return reader.in_header or reader.draft is not None or bool(self._cursor.text.strip(_WHITESPACE))
        return self._state not in _OUTSIDE or bool(self._cursor.text.strip(_WHITESPACE))

    @property
    def has_start_in_body(self) -> bool:
        """Whether a body contained a start token as text, which may mean that several streams were mixed."""
        return self._messages.has_start_in_body

    @property
    def error(self) -> Problem | None:
        """The first error, or None."""
        return self.errors[0] if self.errors else None

    @entry
    def feed(self, data: str | bytes) -> list[ReadEvent]:
        """Read a piece and return its events.

        Args:
            data: text, or UTF-8, each cut anywhere.

        Raises:
            LimitError: `E-LIMIT-OPENCHATML-HEADER`, strict reading only: a header is too long; the reader stops.
        """
        if self._output.stopped:
            return []
        cursor = self._cursor
        text = cursor.decode(data)
        if self._state is _BODY and not cursor.text and "<" not in text:
            # Fast path: most pieces of an answer are text of the body only.
            return self._draft.add_text(text) if text else []
        cursor.push(text)
        return self._read()

    def finish(self, *, stop: str | None = None) -> list[ReadEvent]:
        """End the text and return the last events.

        Args:
            stop: name of the stop token that the engine removed from the end: `return`, `call` or `end`.

        Raises:
            ArgumentError: `E-ARGUMENT-VALUE`, `stop` is none of these.
            LimitError: `E-LIMIT-OPENCHATML-HEADER`, strict reading only.
        """
        stop = checked_stop(stop)
        output, cursor = self._output, self._cursor
        if output.stopped:
            return []
        cursor.push(cursor.decode(b"", last=True))
        events = self._read()
        if output.stopped:
            return events
        if self._recovering is None and self._state is State.OPENING and self._document.recovers:
            self._recovering = self._begin_recovering(role=None)
        if self._recovering is not None:
            self._recovering.finish(stop)
            self._check_response()
            output.stopped = True
            return events + output.take_events()
        if stop is not None and self._state is _BODY:
            # The body is complete, so a cut token at its end is text.
            cursor.flush()
            self._messages.close(stop)
            cursor.settle()
            self._state = State.BETWEEN_MESSAGES
        self._finish()
        output.stopped = True
        return events + output.take_events()

    @property
    def transcript(self) -> Transcript:
        """The transcript so far."""
        return Transcript(
            messages=tuple(self.messages),
            header=self.header,
            profile=self.profile,
            dialect=self.dialect,
            errors=tuple(self.errors),
            warnings=tuple(self.warnings),
            incomplete=self.incomplete,
        )

    def _read(self) -> list[ReadEvent]:
        output, state = self._output, self._state
        while self._recovering is None and not output.stopped and (seen := _STEPS[state](self)()) is not None:
            self._state = state = TRANSITIONS[state][seen]
            if state is State.BETWEEN_MESSAGES and self._recovers and self._document.profile == "harmony":
                self._recovering = self._begin_recovering(role=None)
        if self._recovering is not None:
            self._recovering.read()
        else:
            self._draft.report_body()
        self._cursor.settle()
        return output.take_events()

    def _finish(self) -> None:
        """Report the message or header in which the text ends."""
        cursor, output = self._cursor, self._output
        end = cursor.place(len(cursor.text))
        lost = cursor.kept(len(cursor.text))
        match self._state:
            case State.BETWEEN_MESSAGES | State.OPENING | State.LEGACY_BETWEEN:
                if cursor.text.strip(_WHITESPACE):
                    output.truncate("the text ends inside a control token", end, PartialMessage())
                    lost = lost or cursor.text.strip(_WHITESPACE)
            case State.MESSAGE_HEADER | State.LEGACY_HEADER:
                output.truncate("the text ends inside a message header", end, PartialMessage())
            case State.BODY | State.LITERAL | State.LEGACY_BODY if self._draft.loose:
                cursor.flush()
                self._draft.close(None)
            case State.BODY | State.LITERAL | State.LEGACY_BODY:
                output.truncate("the text ends inside a message", end, self._draft.partial())
            case State.DOCUMENT_HEADER:
                self._document.finish()
            case State.STRAY_TEXT | State.LEGACY_STRAY_TEXT:
                pass  # it has been reported
        output.lose(lost)
        self._check_response()

    def _check_response(self) -> None:
        """Report an answer without a stop token."""
        if self._response and not self.errors and (not self.messages or self.messages[-1].terminator == "end"):
            place = self._cursor.place(len(self._cursor.text))
            self._output.fail(TRUNCATED, "the answer ends without a stop token", place)


@entry
def parse(
    text: str | bytes,
    *,
    strict: bool = True,
    profile: Profile | None = None,
    role: str | None = None,
    limits: Limits | None = None,
) -> Transcript:
    """Read a whole transcript.

    Args:
        text: the transcript. Bytes are read as UTF-8; every invalid sequence becomes one U+FFFD.
        strict: raise the first error; otherwise keep what can be kept and list the errors.
        profile: the profile whose rules apply; None: the document header's.
        role: the text continues a prompt that ended after the start token and this role.
        limits: bounds on headers.

    Raises:
        OpenChatMLError: strict reading only: the first fault, with its place.
        LimitError: `E-LIMIT-OPENCHATML-HEADER`, strict reading only: a header is too long.
        ArgumentError: `E-ARGUMENT-VALUE`, the profile is unknown.
    """
    reader = StreamReader(strict=strict, profile=profile, role=role, deltas=False, limits=limits)
    reader.feed(text)
    reader.finish()
    if strict and reader.error is not None:
        raise reader.error.exception()
    return reader.transcript
