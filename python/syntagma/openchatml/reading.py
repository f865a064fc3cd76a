"""What all states of the reader share: the message at hand, events, errors, limits."""

from __future__ import annotations

import re
from collections.abc import Callable

from syntagma.errors import LimitError
from syntagma.limits import Limits
from syntagma.openchatml.constraint import violation
from syntagma.openchatml.cursor import Cursor
from syntagma.openchatml.errors import CONSTRAINT
from syntagma.openchatml.read_events import BodyDelta, MessageFinished, ReadError, ReadEvent
from syntagma.openchatml.transcript import (
    Dialect,
    DocumentHeader,
    Message,
    PartialMessage,
    Problem,
    Profile,
    ReadWarning,
    SourceLocation,
)

__all__ = ["Reading"]

_BLANKS = re.compile(r"[ \t\r\n]*")


class Reading:
    """A reading in progress.

    A state is a method that goes on in the text; it returns True when the state, perhaps another now, is to be called
    again, and False when more text is needed.
    """

    def __init__(self, *, strict: bool, profile: Profile | None, response: bool, deltas: bool, limits: Limits) -> None:
        self.messages: list[Message] = []
        self.header: DocumentHeader | None = None
        self.profile: Profile = profile or "ocm"
        self.dialect: Dialect = "ocm"
        self.errors: list[Problem] = []
        self.warnings: list[ReadWarning] = []
        self.incomplete: PartialMessage | None = None
        self._strict = strict
        self._profile_given = profile is not None
        self._response = response
        self._deltas = deltas
        self._limits = limits
        self._cursor = Cursor()
        self._events: list[ReadEvent] = []
        self._stopped = False
        self._absorb = False
        self._index = -1
        self._told = 0
        self._rejected = False
        self._sections: list[tuple[str, str]] = []
        self._section = "start"
        self._message = Message(role="user")
        self._frame = SourceLocation(0, 1)
        self._state: Callable[[], bool] = self._nothing
        self._prompted = False

    def _nothing(self) -> bool:
        return False

    def _between(self) -> bool:
        raise NotImplementedError

    def _head(self) -> bool:
        raise NotImplementedError

    def _read(self) -> list[ReadEvent]:
        while not self._stopped and self._state():
            pass
        self._tell()
        self._cursor.settle()
        return self._take_events()

    def _take_events(self) -> list[ReadEvent]:
        events, self._events = self._events, []
        return events

    def _tell(self) -> None:
        """Report the text of the body that was not yet reported."""
        parts = self._cursor.parts
        if self._deltas and self._index == len(self.messages) and self._told < len(parts):
            text = "".join(parts[self._told :])
            if text:
                self._events.append(BodyDelta(self._index, text))
        self._told = len(parts)

    def _fail(self, code: str, message: str, place: SourceLocation, *, fatal: bool = False) -> None:
        problem = Problem(code, message, place, index=len(self.messages))
        self.errors.append(problem)
        self._stopped = self._stopped or self._strict or fatal
        self._events.append(ReadError(problem, self._stopped))

    def _warn(self, code: str, message: str, place: SourceLocation) -> None:
        self.warnings.append(ReadWarning(code, message, place))

    def _bound(self, limit: str, size: int) -> None:
        allowed = getattr(self._limits, limit)
        if size > allowed:
            self._stopped = True
            what = "document header" if limit == "openchatml_header_bytes" else "message header"
            raise LimitError(
                "E-LIMIT-OPENCHATML-HEADER", f"a {what} longer than {allowed}", limit=limit, given=size, allowed=allowed
            )

    def _blanks(self) -> int:
        match = _BLANKS.match(self._cursor.text, self._cursor.at)
        return match.end() if match else self._cursor.at

    def _begin_frame(self, at: int) -> None:
        self._frame = self._cursor.place(at)
        self._cursor.parts = []
        self._sections = []
        self._section = "start"
        self._rejected = self._absorb = self._prompted = False
        self._told = 0
        self._state = self._head

    def _finish_message(self, body: str, terminator: str) -> None:
        draft = self._message
        wrong = None if draft.constrain is None else violation(draft.constrain, body)
        if wrong is not None:
            self._fail(CONSTRAINT, wrong, self._frame)
            if self._stopped:
                return
        values = {name: getattr(draft, name) for name in draft.__struct_fields__}
        values |= {"body": body, "terminator": terminator, "end": self._cursor.offset}
        message = Message(**values)
        self.messages.append(message)
        self._events.append(MessageFinished(self._index, message))

    def _leave(self, name: str) -> None:
        self._cursor.parts = []
        self._told = 0
        self._index = -1
        self._absorb = name != "end"
        self._state = self._between
