"""The record of a request while it is answered, which logs, metrics and traces all read."""

from __future__ import annotations

import contextlib
import logging
import re
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, Self, cast

import msgspec

from syntagma.errors import SyntagmaError, UpstreamError
from syntagma.events import Event
from syntagma.parsing import StreamParser
from syntagma.serving.errors import ERROR_HEADER, error_body
from syntagma.serving.inner import Began, Ended, Update, Wrote

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = [
    "Observer",
    "Recording",
    "RequestRecord",
    "Watch",
    "current_record",
    "note_break",
    "stage",
    "tell_failure",
    "timed",
]

_log = logging.getLogger("syntagma.serving")
_UNKNOWN: Final = "E-REQUEST-FAILED"
ID_HEADER: Final = b"x-request-id"
_ID: Final = re.compile(rb"[A-Za-z0-9._:/+=@-]{1,128}\Z")
"""request ids of clients that are used as they are: text that is safe in a header and in a line of a log"""


class Choice(msgspec.Struct, kw_only=True):
    """When a choice was written; times are those of `time.time_ns`.

    Attributes:
        began: when the engine wrote its first piece.
        ended: when it was complete.
        result: how it ended.
    """

    began: int
    ended: int
    result: Ended


class RequestRecord(msgspec.Struct, kw_only=True):
    """A request and its answer. Times are seconds; those of `stages` are those of `time.time_ns`.

    Attributes:
        id: the client's `x-request-id`, or one made here.
        method: the HTTP method.
        path: the path of the request.
        route: the pattern of the path, one for each endpoint; None: no endpoint has the path.
        headers: the headers of the request.
        key: the name of the key; None: no key is needed, or none was accepted.
        model: the name of the model that answers.
        status: the HTTP status; None: there was no answer.
        code: the code of the error in the answer, or that ended it.
        broken: whether an answer that had begun ended in an error.
        began: when the request came, by `time.perf_counter`.
        seconds: from then to the end of the answer.
        first: from then to the first piece that a model wrote.
        stages: the steps before a model writes: name, begin and end.
        choices: the complete choices.
        parse_seconds: the time that parsing the model's text took.
    """

    id: str
    method: str
    path: str
    headers: Sequence[tuple[bytes, bytes]] = ()
    route: str | None = None
    key: str | None = None
    model: str | None = None
    status: int | None = None
    code: str | None = None
    broken: bool = False
    began: float = 0.0
    seconds: float = 0.0
    first: float | None = None
    stages: list[tuple[str, int, int]] = []
    choices: list[Choice] = []
    parse_seconds: float = 0.0


class Observer:
    """Hears of requests; subclasses override the methods that they need."""

    def came(self, record: RequestRecord) -> None:
        """A request has come."""

    def waits(self, record: RequestRecord) -> None:
        """The request has been read, and waits for a model."""

    def begins(self, record: RequestRecord) -> None:
        """A model has written its first piece."""

    def wrote(self, record: RequestRecord, seconds: float) -> None:
        """A model has written a further piece, `seconds` after the one before."""

    def ended(self, record: RequestRecord, choice: Choice) -> None:
        """A choice is complete."""

    def leaves(self, record: RequestRecord) -> None:
        """No model writes for the request any more, whether or not one began to."""

    def finished(self, record: RequestRecord) -> None:
        """The answer has been sent, or its client has left."""


_current: ContextVar[RequestRecord | None] = ContextVar("syntagma_request", default=None)


def current_record() -> RequestRecord | None:
    """The record of the request that the calling code answers; None: there is none."""
    return _current.get()


class Recording:
    """An ASGI application around another that makes the records, and adds the request's id to every answer.

    Args:
        app: the other application.
        observers: hear of requests.
    """

    def __init__(self, app: ASGIApp, observers: Sequence[Observer]) -> None:
        self._app = app
        self._observers = observers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; see ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = [(bytes(name), bytes(value)) for name, value in scope["headers"]]
        record = RequestRecord(
            id=_id_of(headers),
            method=scope["method"],
            path=scope["path"],
            headers=headers,
            began=time.perf_counter(),
        )
        identity = (ID_HEADER, record.id.encode())

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                record.status = message["status"]
                said = dict(message["headers"]).get(ERROR_HEADER.encode())
                record.code = None if said is None else said.decode("latin-1")
                message["headers"] = [*message["headers"], identity]
            await send(message)

        token = _current.set(record)
        try:
            for observer in self._observers:
                observer.came(record)
            await self._app(scope, receive, sent)
        finally:
            record.seconds = time.perf_counter() - record.began
            record.route = _route_of(scope)
            for observer in self._observers:
                observer.finished(record)
            _current.reset(token)


def _id_of(headers: Sequence[tuple[bytes, bytes]]) -> str:
    given = next((value for name, value in headers if name == ID_HEADER), b"")
    return given.decode() if _ID.match(given) else uuid.uuid4().hex


def _route_of(scope: Scope) -> str | None:
    """The pattern of the path, once a route has been found."""
    if "endpoint" not in scope:
        return None
    path: str = scope["path"]
    for name, value in scope.get("path_params", {}).items():
        path = path.removesuffix(str(value)) + f"{{{name}}}"
    return path


class Watch:
    """Reports the updates of the current request, if there is one, to observers; a context while a model writes.

    Args:
        model: the name of the model that answers.
        observers: hear of them.
    """

    def __init__(self, model: str, observers: Sequence[Observer]) -> None:
        self._record = _current.get()
        self._observers = () if self._record is None else observers
        self._told_pieces = [one.wrote for one in self._observers if type(one).wrote is not Observer.wrote]
        self._begun: dict[int, int] = {}
        self._last: float | None = None
        if self._record is not None:
            self._record.model = model

    def __enter__(self) -> Self:
        if self._record is not None:
            for observer in self._observers:
                observer.waits(self._record)
        return self

    def __exit__(self, *_: object) -> None:
        if self._record is not None:
            for observer in self._observers:
                observer.leaves(self._record)

    def saw(self, update: Update) -> None:
        """Report an update."""
        record = self._record
        if record is None:
            return
        if isinstance(update, Wrote):
            now = time.perf_counter()
            # A choice's first piece comes with its beginning, so there is no time between them.
            if self._last is not None:
                for wrote in self._told_pieces:
                    wrote(record, now - self._last)
            self._last = now
        elif isinstance(update, Began):
            self._last = None
            self._begun[update.index] = time.time_ns()
            if record.first is None:
                record.first = time.perf_counter() - record.began
                for observer in self._observers:
                    observer.begins(record)
        else:
            at = time.time_ns()
            choice = Choice(began=self._begun.get(update.index, at), ended=at, result=update)
            record.choices.append(choice)
            for observer in self._observers:
                observer.ended(record, choice)


def tell_failure(error: BaseException, what: str) -> None:
    """Log an error that is not the request's fault: an engine's with its address, and any of the server's own.

    Args:
        error: the error.
        what: what failed because of it.
    """
    if isinstance(error, UpstreamError) and error.status != HTTPStatus.BAD_REQUEST:
        _log.warning("%s failed: %s: %s (%s)", what, error.code, error.message, error.source)
    elif error_body(error)[0] == HTTPStatus.INTERNAL_SERVER_ERROR:
        _log.error("%s failed", what, exc_info=error)


def note_break(error: BaseException) -> None:
    """Note in the record of the current request that its answer ended in an error, and log what is not its fault."""
    tell_failure(error, "a stream")
    record = _current.get()
    if record is not None:
        record.code = error.code if isinstance(error, SyntagmaError) else _UNKNOWN
        record.broken = True


@contextlib.contextmanager
def stage(name: str) -> Iterator[None]:
    """Note how long the context takes in the record of the current request, if there is one."""
    record = _current.get()
    if record is None:
        yield
        return
    began = time.time_ns()
    try:
        yield
    finally:
        record.stages.append((name, began, time.time_ns()))


def timed(parser: StreamParser) -> StreamParser:
    """The same parser; its time is added up in the record of the current request, if there is one."""
    record = _current.get()
    return parser if record is None else cast("StreamParser", _TimedParser(parser, record))


class _TimedParser:
    """A stream parser that counts the time of its work."""

    def __init__(self, parser: StreamParser, record: RequestRecord) -> None:
        self._parser = parser
        self._record = record
        self.feed = self._timed(parser.feed)
        self.feed_tokens = self._timed(parser.feed_tokens)
        self.finish = self._timed(parser.finish)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._parser, name)

    def _timed(self, read: Callable[..., list[Event]]) -> Callable[..., list[Event]]:
        record, now = self._record, time.perf_counter

        def timed(*given: Any) -> list[Event]:
            began = now()
            events = read(*given)
            record.parse_seconds += now() - began
            return events

        return timed
