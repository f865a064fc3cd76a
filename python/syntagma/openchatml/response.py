"""The public events of a response, for a user interface, while an answer arrives (§9)."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from syntagma.entry import check_argument, entry, strict_entry
from syntagma.openchatml.errors import HEADER, VISIBILITY, OpenChatMLError, error_for, log_error
from syntagma.openchatml.read_events import BodyDelta, BodyStarted, MessageFinished, ReadError, ReadEvent
from syntagma.openchatml.tokens import REASONING_MARKERS
from syntagma.openchatml.tool_calls import open_calls
from syntagma.openchatml.transcript import Message, Problem
from syntagma.openchatml.transcript_reader import StreamReader
from syntagma.openchatml.visibility import is_visible

__all__ = [
    "Multiplexer",
    "ResponseCancel",
    "ResponseDelta",
    "ResponseDone",
    "ResponseError",
    "ResponseEvent",
    "ResponseFlush",
    "ResponseStream",
    "ToolCancel",
]


class _Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", omit_defaults=True):
    """An event. `message_id` identifies the stream if several share one transport."""

    message_id: str | None = None


class ResponseDelta(_Event, frozen=True, tag="response.delta"):
    """Visible text of message `index`."""

    index: int
    text: str


class ResponseFlush(_Event, frozen=True, tag="response.delta.flush"):
    """A good moment to display the text so far: its first `position` code points of visible text."""

    position: int


class ResponseDone(_Event, frozen=True, tag="response.done"):
    """The answer ended. `stop` is its stop token: `return` or `call`."""

    stop: str


class ResponseCancel(_Event, frozen=True, tag="response.cancel"):
    """The answer was cancelled; no more text follows."""

    reason: str = ""


class ToolCancel(_Event, frozen=True, tag="tool.cancel"):
    """A call was cancelled. This event is for the router, not for users."""

    call_id: str
    reason: str = ""


class ResponseError(_Event, frozen=True, tag="response.error"):
    """The text has a fault. Text that was already shown stays."""

    problem: Problem = msgspec.field(name="report")


ResponseEvent: TypeAlias = ResponseDelta | ResponseFlush | ResponseDone | ResponseCancel | ToolCancel | ResponseError


class ResponseStream:
    """Turns arriving text into public events. Hidden channels never produce text events.

    Attributes:
        reader: the underlying reader, with messages and errors.
    """

    def __init__(self, *, message_id: str | None = None, response: bool = True, **options: Any) -> None:
        """Create a stream. `options` are passed to `StreamReader`. `response`: the text must end with a stop token."""
        check_argument("message_id", message_id, str | None)
        check_argument("response", response, bool)
        self.reader = StreamReader(response=response, **options)
        self.message_id = message_id
        self._visible = False
        self._position = 0
        self._flushed = 0
        self._newlines = 0
        self._pending = ""
        self._cancelled = False

    @property
    def in_message(self) -> bool:
        """Whether a message has begun and is not complete."""
        return not self._cancelled and self.reader.in_message

    @entry
    def feed(self, data: str | bytes) -> list[ResponseEvent]:
        """Read a piece of text or UTF-8, cut anywhere, and return its events."""
        return [] if self._cancelled else self._public(self.reader.feed(data))

    def finish(self, *, stop: str | None = None) -> list[ResponseEvent]:
        """End the text. `stop` names the stop token that the engine removed: `return`, `call` or `end`.

        Raises:
            ArgumentError: `E-ARGUMENT-VALUE`, `stop` is none of these.
        """
        return [] if self._cancelled else self._public(self.reader.finish(stop=stop))

    @strict_entry
    def cancel(self, reason: str = "") -> list[ResponseEvent]:
        """Cancel the answer and its calls without a reply. All further text is ignored."""
        if self._cancelled:
            return []
        self._cancelled = True
        messages = self.reader.messages
        waiting = [messages[index].call_id for index in open_calls(messages)]
        events: list[ResponseEvent] = [ResponseCancel(message_id=self.message_id, reason=reason)]
        events += [ToolCancel(message_id=self.message_id, call_id=name, reason=reason) for name in waiting if name]
        return events

    def _public(self, events: list[ReadEvent]) -> list[ResponseEvent]:
        public: list[ResponseEvent] = []
        for event in events:
            if isinstance(event, BodyDelta):
                if self._visible:
                    self._show(event.index, event.text, public)
            elif isinstance(event, BodyStarted):
                self._visible = event.message.role == "assistant" and is_visible(event.message)
                self._pending = ""
            elif isinstance(event, MessageFinished):
                self._end(event.index, event.message, public)
            elif isinstance(event, ReadError):
                public.append(ResponseError(message_id=self.message_id, problem=event.problem))
        return public

    def _end(self, index: int, message: Message, public: list[ResponseEvent]) -> None:
        if self._visible:
            pending, self._pending = self._pending, ""
            self._give(index, pending, public)
            self._flush(self._position, public)
        self._visible = False
        if message.role == "assistant" and message.terminator in ("return", "call"):
            public.append(ResponseDone(message_id=self.message_id, stop=message.terminator))

    def _show(self, index: int, text: str, public: list[ResponseEvent]) -> None:
        """Emit text of a visible message, up to a possible marker of private reasoning."""
        text = self._pending + text
        found = min((at for marker in REASONING_MARKERS if (at := text.find(marker)) >= 0), default=-1)
        if found >= 0:
            self._give(index, text[:found], public)
            self._visible, self._pending = False, ""
            problem = Problem(VISIBILITY, f"message {index} contains markers of private reasoning", index=index)
            log_error(VISIBILITY, problem.message)
            public.append(ResponseError(message_id=self.message_id, problem=problem))
            return
        last = text.rfind("<")
        pending = last >= 0 and any(marker.startswith(text[last:]) for marker in REASONING_MARKERS)
        self._pending = text[last:] if pending else ""
        self._give(index, text[:last] if pending else text, public)

    def _give(self, index: int, text: str, public: list[ResponseEvent]) -> None:
        if not text:
            return
        public.append(ResponseDelta(message_id=self.message_id, index=index, text=text))
        if "\n" in text or self._newlines:
            for offset, character in enumerate(text):
                if character == "\n":
                    self._newlines += 1
                    if self._newlines == 2:
                        self._flush(self._position + offset + 1, public)
                elif character != "\r":
                    self._newlines = 0
        self._position += len(text)

    def _flush(self, position: int, public: list[ResponseEvent]) -> None:
        if position > self._flushed:
            self._flushed = position
            public.append(ResponseFlush(message_id=self.message_id, position=position))


class Multiplexer:
    """Several responses over one transport. The message id of a piece identifies its stream.

    A stream without an id must be alone: no other stream may have an open message at the same time. A start token in
    one of its bodies is treated as a second stream, because as text it would be shown.
    """

    def __init__(self, **options: Any) -> None:
        """Create a multiplexer. `options` are passed to every `ResponseStream`."""
        self.streams: dict[str | None, ResponseStream] = {}
        self._options = options

    @entry
    def feed(self, message_id: str | None, data: str | bytes) -> list[ResponseEvent]:
        """Read a piece of one stream and return its events.

        Raises:
            HeaderError: `E-PARSE-HEADER`, two streams are open and one of them has no id.
        """
        streams = self.streams
        # A stream without an id must be alone. Streams with ids are independent of each other.
        others = [streams[None]] if message_id is not None and None in streams else []
        if message_id is None:
            others = [stream for name, stream in streams.items() if name is not None]
        if any(other.in_message for other in others):
            raise _untagged()
        stream = streams.get(message_id)
        if stream is None:
            stream = streams[message_id] = ResponseStream(message_id=message_id, **self._options)
        events = stream.feed(data)
        if message_id is None and stream.reader.has_start_in_body:
            raise _untagged()
        return events

    @strict_entry
    def cancel(self, message_id: str | None, reason: str = "") -> list[ResponseEvent]:
        """Cancel one stream. An unknown id gives no events."""
        stream = self.streams.get(message_id)
        return [] if stream is None else stream.cancel(reason)

    def finish(self) -> list[ResponseEvent]:
        """End all streams."""
        return [event for stream in self.streams.values() for event in stream.finish()]


def _untagged() -> OpenChatMLError:
    return error_for(HEADER, "two streams are open and one has no message id", hint="give each stream its own id")
