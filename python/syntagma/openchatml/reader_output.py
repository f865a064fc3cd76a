"""The output of a transcript reader: messages, errors, warnings, and pending events."""

from __future__ import annotations

from msgspec.structs import replace

from syntagma.errors import LimitError
from syntagma.limits import Limits
from syntagma.openchatml.errors import HEADER, TRUNCATED, log_error
from syntagma.openchatml.read_events import ReadError, ReadEvent
from syntagma.openchatml.transcript import Message, PartialMessage, Problem, ReadWarning, SourceLocation

__all__ = ["ReaderOutput"]


class ReaderOutput:
    """Collects what the parts of a reader produce.

    Attributes:
        messages: the finished messages.
        errors: the faults found.
        warnings: irregular but readable text.
        incomplete: the message in which the text ends.
        events: events since the last `take_events`.
        keeps_text: whether text that is in no message is kept, in the error.
        stopped: all further text is ignored: a strict reader has found a fault, or the text has ended.
    """

    def __init__(self, *, strict: bool, limits: Limits) -> None:
        self.messages: list[Message] = []
        self.errors: list[Problem] = []
        self.warnings: list[ReadWarning] = []
        self.incomplete: PartialMessage | None = None
        self.events: list[ReadEvent] = []
        self.stopped = False
        self._strict = strict
        self.keeps_text = not strict
        self._allowed = {
            "openchatml_header_bytes": limits.openchatml_header_bytes,
            "openchatml_message_header_chars": limits.openchatml_message_header_chars,
        }

    def fail(self, code: str, message: str, place: SourceLocation, text: str | None = None) -> None:
        """Add an error. A strict reader stops. `text`: the text there, if it is in no message."""
        problem = Problem(code, message, place, index=len(self.messages), text=text)
        self.errors.append(problem)
        self.stopped = self.stopped or self._strict
        self.events.append(ReadError(problem, self.stopped))
        log_error(code, message)

    def lose(self, text: str) -> None:
        """Add text to the last error: it is in no message."""
        if text and self.errors:
            self.errors[-1] = replace(self.errors[-1], text=(self.errors[-1].text or "") + text)

    def truncate(self, message: str, place: SourceLocation, partial: PartialMessage | None) -> None:
        """Add the error `E-STREAM-TRUNCATED`. `partial` is the message in which the text ends, if one has begun."""
        self.incomplete = partial
        self.fail(TRUNCATED, message, place)

    def warn(self, code: str, message: str, place: SourceLocation) -> None:
        """Add a warning."""
        self.warnings.append(ReadWarning(code, message, place))

    def exceeds(self, limit: str, size: int, place: SourceLocation) -> bool:
        """Whether a header is too long. If so, an error is added; the caller makes the header's text a body.

        Args:
            limit: name of the bound, a field of `Limits`.
            size: length of the header so far, in code points.
            place: where the header begins.

        Raises:
            LimitError: `E-LIMIT-OPENCHATML-HEADER`, the header is too long and the reader is strict.
        """
        allowed = self._allowed[limit]
        if size <= allowed:
            return False
        what = "document header" if limit == "openchatml_header_bytes" else "message header"
        error = LimitError(
            "E-LIMIT-OPENCHATML-HEADER",
            f"the {what} is longer than {allowed} characters",
            limit=limit,
            given=size,
            allowed=allowed,
        )
        self.over_limit(error, place)
        return True

    def over_limit(self, error: LimitError, place: SourceLocation) -> None:
        """Report a header that is too long: a strict reader raises the error, another adds it."""
        if self._strict:
            self.stopped = True
            raise error
        self.fail(HEADER, error.message, place)

    def take_events(self) -> list[ReadEvent]:
        """Return the events since the last call, and clear them."""
        events, self.events = self.events, []
        return events
