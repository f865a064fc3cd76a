"""What a reading has produced: messages, errors and warnings so far, and the events that nobody has taken yet."""

from __future__ import annotations

from syntagma.errors import LimitError
from syntagma.limits import Limits
from syntagma.openchatml.errors import HEADER, TRUNCATED, log_error
from syntagma.openchatml.read_events import ReadError, ReadEvent
from syntagma.openchatml.transcript import Message, PartialMessage, Problem, ReadWarning, SourceLocation

__all__ = ["ReaderOutput"]


class ReaderOutput:
    """Collects what the parts of a reader produce.

    Attributes:
        messages: complete messages.
        errors: what is wrong.
        warnings: what is irregular and was read all the same.
        incomplete: the message that the text ends in.
        events: events since they were last taken.
        stopped: nothing is read any more: a strict reader has met an error, a header is too long, or the text is over.
    """

    def __init__(self, *, strict: bool, limits: Limits) -> None:
        self.messages: list[Message] = []
        self.errors: list[Problem] = []
        self.warnings: list[ReadWarning] = []
        self.incomplete: PartialMessage | None = None
        self.events: list[ReadEvent] = []
        self.stopped = False
        self._strict = strict
        self._allowed = {
            "openchatml_header_bytes": limits.openchatml_header_bytes,
            "openchatml_message_header_chars": limits.openchatml_message_header_chars,
        }

    def fail(self, code: str, message: str, place: SourceLocation) -> None:
        """Add an error; a strict reading stops."""
        problem = Problem(code, message, place, index=len(self.messages))
        self.errors.append(problem)
        self.stopped = self.stopped or self._strict
        self.events.append(ReadError(problem, self.stopped))
        log_error(code, message)

    def truncate(self, message: str, place: SourceLocation, partial: PartialMessage | None) -> None:
        """Add the error `E-STREAM-TRUNCATED`; `partial` is what the text ends in, where anything is known of it."""
        self.incomplete = partial
        self.fail(TRUNCATED, message, place)

    def warn(self, code: str, message: str, place: SourceLocation) -> None:
        """Add a warning."""
        self.warnings.append(ReadWarning(code, message, place))

    def exceeds(self, limit: str, size: int, place: SourceLocation) -> bool:
        """Whether a header is too long: an error, and what it holds is to become the body of a message.

        Args:
            limit: name of the bound, a field of `Limits`.
            size: code points of the header so far.
            place: where it begins.

        Raises:
            LimitError: `E-LIMIT-OPENCHATML-HEADER`, where the reading is strict.
        """
        allowed = self._allowed[limit]
        if size <= allowed:
            return False
        what = "document header" if limit == "openchatml_header_bytes" else "message header"
        error = LimitError(
            "E-LIMIT-OPENCHATML-HEADER", f"a {what} longer than {allowed}", limit=limit, given=size, allowed=allowed
        )
        self.over_limit(error, place)
        return True

    def over_limit(self, error: LimitError, place: SourceLocation) -> None:
        """A header is too long: raise it where the reading is strict, else add an error."""
        if self._strict:
            self.stopped = True
            raise error
        self.fail(HEADER, error.message, place)

    def take_events(self) -> list[ReadEvent]:
        """The events since the last call."""
        events, self.events = self.events, []
        return events
