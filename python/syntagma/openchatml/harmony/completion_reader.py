"""Reads completions of Harmony models from text or bytes, however malformed.

Harmony has no escapes and no literal blocks. The reader never raises because of the text. It keeps every character up
to the stop token and marks every message with a malformed header as `recovered`; what had to be guessed is never run.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Mapping

import msgspec

from syntagma.entry import entry
from syntagma.errors import ArgumentError
from syntagma.json_types import WHITESPACE
from syntagma.limits import Limits
from syntagma.openchatml.constraint import violation
from syntagma.openchatml.errors import CALL_SCHEMA, CONSTRAINT, HEADER, TRUNCATED, log_error
from syntagma.openchatml.harmony.completion_body import CompletionBody
from syntagma.openchatml.harmony.harmony_header import HarmonyHeader, read_harmony_header, unopened_role
from syntagma.openchatml.read_events import BodyDelta, BodyStarted, MessageFinished, ReadError, ReadEvent
from syntagma.openchatml.tokens import ROLES, TERMINATORS, incomplete_token_from, spell
from syntagma.openchatml.tool_calls import CallIds, called_tool, channels_of_calls, to_tool
from syntagma.openchatml.transcript import Message, Problem, SourceLocation, checked_stop, names_tool
from syntagma.parsing import HeaderText, MarkerEffect, MarkerKind, marker_effect

__all__ = ["HARMONY_TOKENS", "HarmonyReader", "HarmonyResult", "parse_completion"]

_KINDS: Mapping[str, MarkerKind] = {
    "start": "begin",
    "end": "end",
    "message": "body",
    "channel": "section",
    "constrain": "section",
    "return": "end",
    "call": "end",
}

HARMONY_TOKENS = tuple(_KINDS)
"""names of Harmony's control tokens"""

_STOPS = ("call", "return")
_TOKEN = re.compile(r"<\|(start|end|message|channel|constrain|return|call)\|>")


class HarmonyResult(msgspec.Struct, frozen=True, kw_only=True):
    """The messages of a completion, and its errors.

    Attributes:
        messages: the messages in order. A message that was cut off has no terminator.
        dispatch: indexes of the calls that a router may run.
        errors: the faults found, in order.
    """

    messages: tuple[Message, ...] = ()
    dispatch: tuple[int, ...] = ()
    errors: tuple[Problem, ...] = ()


class HarmonyReader:
    """Reads completions and transcripts that arrive in pieces.

    The reader is between messages, in a header, or in a body. Outside of bodies, `syntagma.parsing.marker_effect`
    decides what a control token does, as for every format whose turns are messages with headers.

    Attributes:
        messages: the finished messages.
        errors: the faults found so far.
        draft: the current message without its body; None between messages and in headers.
    """

    @entry
    def __init__(
        self,
        *,
        role: str | None = "assistant",
        deltas: bool = True,
        limits: Limits | None = None,
        document: bool = False,
    ) -> None:
        """Create a reader.

        Args:
            role: the text continues a prompt that ended after the start token and this role; None for transcripts.
            deltas: report the pieces of bodies as `BodyDelta` events.
            limits: bounds on headers and on text between messages. Longer text becomes a body.
            document: the messages are those of an OpenChatML document, whose headers have an intent.
        """
        self._room = (limits or Limits()).openchatml_message_header_chars
        self.messages: list[Message] = []
        self.errors: list[Problem] = []
        self.draft: Message | None = None
        self._role = (role or "").strip(WHITESPACE)
        self._is_completion = role is not None
        self._document = document
        self._deltas = deltas
        self._events: list[ReadEvent] = []
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._waiting = ""  # the end of the text, which may be a cut control token
        self._offset = 0
        self._line = 1
        self._line_begin = 0  # offset of the first character of that line
        self._begin = SourceLocation(0, 1)  # where the current message begins
        self._between: list[str] = []  # text since the last message
        self._between_size = 0
        self._loose = False  # a start token ends the current message, too
        self._header: HeaderText | None = (
            None if role is None else HeaderText(f"{role} ", role=self._role, prompted=True)
        )
        self._body = CompletionBody()
        self._ids = CallIds(needed=False)
        self._stop_seen = False
        self._stopped = False  # the last message ended with a stop token
        self._over = False

    @property
    def error(self) -> Problem | None:
        """The first error, or None."""
        return self.errors[0] if self.errors else None

    @property
    def in_header(self) -> bool:
        """Whether a header has begun and is not complete."""
        return self._header is not None

    @property
    def body(self) -> str:
        """The current message's text so far; empty between messages and in headers."""
        return "" if self.draft is None else self._body.text

    @entry
    def feed(self, data: str | bytes) -> list[ReadEvent]:
        """Read a piece of text or UTF-8, cut anywhere, and return its events."""
        decode = self._decoder.decode
        text = decode(data) if isinstance(data, bytes) else decode(b"", True) + data
        if self._waiting:
            text, self._waiting = self._waiting + text, ""
        if "<" in text:
            at = 0
            for match in _TOKEN.finditer(text):
                if match.start() > at:
                    self._on_text(text[at : match.start()])
                self._on_marker(match.group(1))
                at = match.end()
            cut = incomplete_token_from(text, at)
            self._waiting = text[cut:]
            text = text[at:cut]
        if text:
            self._on_text(text)
        return self._take_events()

    @entry
    def feed_text(self, text: str) -> list[ReadEvent]:
        """Read text that contains no control token, even if it spells one."""
        if text:
            self._on_text(text)
        return self._take_events()

    @entry
    def move_to(self, place: SourceLocation) -> None:
        """Say where the next text stands, if text was left out before it."""
        self._offset, self._line, self._line_begin = place.offset, place.line, place.offset - place.column + 1

    @property
    def is_over(self) -> bool:
        """Whether all further text is ignored."""
        return self._over

    def resume(self) -> None:
        """Read on after the end of a turn."""
        self._over = False

    @entry
    def feed_token(self, name: str, *, spelled: bool = False) -> list[ReadEvent]:
        """Read a control token, by its name.

        Args:
            name: the name.
            spelled: only the text is known, which inside a string of arguments is text.

        Raises:
            ArgumentError: `E-ARGUMENT-VALUE`, the name is not that of a control token.
        """
        if name not in HARMONY_TOKENS:
            raise ArgumentError("E-ARGUMENT-VALUE", f"there is no control token {name!r}")
        if spelled:
            self._on_marker(name)
        else:
            self._on_token(name)
        return self._take_events()

    def finish(self, *, stop: str | None = None) -> list[ReadEvent]:
        """End the text and return the last events.

        Args:
            stop: name of the stop token that the engine removed from the end: `call`, `return` or `end`.

        Raises:
            ArgumentError: `E-ARGUMENT-VALUE`, `stop` is none of these.
        """
        stop = checked_stop(stop)
        self.feed(self._decoder.decode(b"", True))
        waiting, self._waiting = self._waiting, ""
        if waiting:
            self._on_text(waiting)
        if stop is not None and self.draft is not None:
            self._close(stop)
            self._over = True
        if not self._over:
            is_cut = self.draft is not None or self._header is not None
            if self.draft is not None:
                self._close(None)
            elif self._header is not None:
                self._end_header(self._header, None, is_over=True)
            else:
                self._end_stray_text()
            if is_cut and not (self._stop_seen and self._is_completion):
                self._fail(TRUNCATED, "the text ends without a stop token", self._here())
            self._over = True
        return self._take_events()

    def result(self) -> HarmonyResult:
        """The messages and errors so far."""
        wrong = {problem.index for problem in self.errors}
        run = [
            index
            for index, message in enumerate(self.messages)
            if message.is_call and message.recipient is not None and to_tool(message) and message.may_run
            if index not in wrong
        ]
        return HarmonyResult(messages=tuple(self.messages), dispatch=tuple(run), errors=tuple(self.errors))

    def _take_events(self) -> list[ReadEvent]:
        if self.draft is not None and self._deltas:
            self._report_body()
        events, self._events = self._events, []
        return events

    def _report_body(self) -> None:
        if text := self._body.take_unreported():
            self._events.append(BodyDelta(len(self.messages), text))

    def _fail(self, code: str, message: str, place: SourceLocation | None = None) -> None:
        problem = Problem(code, message, place or self._begin, index=len(self.messages))
        self.errors.append(problem)
        self._events.append(ReadError(problem, False))
        log_error(code, message)

    def _here(self) -> SourceLocation:
        return SourceLocation(self._offset, self._line, self._offset - self._line_begin + 1)

    # Text and control tokens.

    def _on_text(self, text: str) -> None:
        if self._over:
            return
        if self.draft is not None:
            self._body.parts.append(text)
        elif self._header is not None:
            room = max(0, self._room - self._header.size)
            self._header.add(text[:room])
            if len(text) > room:
                self._count(text[:room])
                self._overflow(self._header)
                self._on_text(text[room:])
                return
        elif self._stopped and text.strip(WHITESPACE):
            self._over = True
        else:
            self._on_text_between(text)
            return
        self._count(text)

    def _on_text_between(self, text: str) -> None:
        if not self._between:
            bare = text.lstrip(WHITESPACE)
            self._count(text[: len(text) - len(bare)])
            text = bare
            self._begin = self._here()
        room = self._room - self._between_size
        if len(text) > room:
            self._begin_stray_text("".join(self._between))
            self._loose = True
            self._on_text(text)
        elif text:
            self._between.append(text)
            self._between_size += len(text)
            self._count(text)

    def _count(self, text: str) -> None:
        found = text.rfind("\n")
        if found >= 0:
            self._line += text.count("\n")
            self._line_begin = self._offset + found + 1
        self._offset += len(text)

    def _on_marker(self, name: str) -> None:
        if name in TERMINATORS and self.draft is not None and self._body.is_in_string():
            self._on_text(spell(name))
        else:
            self._on_token(name)

    def _on_token(self, name: str) -> None:
        if self._over:
            return
        written = spell(name)
        if self.draft is None:
            self._outside_body(name)
            self._offset += len(written)
            return
        self._offset += len(written)
        if name in TERMINATORS:
            self._close(name)
        elif name == "start" and self._loose:
            self._close(None)
            self._begin_header(HeaderText())
        else:
            # A structural token in a body is text, so that a body cannot forge a message.
            self._body.parts.append(written)

    def _outside_body(self, name: str) -> None:
        header = self._header
        effect = marker_effect(_KINDS[name], header, stopped=self._stopped)
        if header is not None:
            self._in_header(header, name, effect)
        elif effect == "begins":
            self._end_stray_text()
            self._begin_header(HeaderText())
        elif effect == "begins unopened":
            header = self._begin_unopened_header()
            self._in_header(header, name, marker_effect(_KINDS[name], header, stopped=False))
        elif effect == "turn is over":
            self._over = True
        else:
            self._end_stray_text()

    def _in_header(self, header: HeaderText, name: str, effect: MarkerEffect) -> None:
        header.has_marker = True
        if effect == "section":
            header.begin_section(name, self._offset)
            header.size += len(spell(name))
        elif effect == "body":
            self._begin_body(read_harmony_header(header, closed=True), f"{_written(header)}{spell('message')}")
        elif effect == "begins again":
            self._begin_header(HeaderText(repaired=not header.prompted))
        else:
            self._end_header(header, None if effect == "begins next" else name)
            if effect == "begins next":
                self._begin_header(HeaderText())

    # Headers.

    def _begin_header(self, header: HeaderText) -> None:
        self._begin = self._here()
        self._header = header
        self._forget_stray_text()
        self._stopped = False

    def _forget_stray_text(self) -> None:
        self._between = []
        self._between_size = 0

    def _begin_unopened_header(self) -> HeaderText:
        """Begin a header whose start token is missing. The text before it is its beginning, or stray text."""
        text, begin = "".join(self._between), self._begin
        role = unopened_role(text)
        if role is not None:
            header = HeaderText(role, repaired=True)
            header.add(text)
        else:
            self._end_stray_text()
            header, begin = HeaderText("assistant", repaired=True), self._here()
        self._begin_header(header)
        self._begin = begin
        return header

    def _end_header(self, header: HeaderText, terminator: str | None, *, is_over: bool = False) -> None:
        """End a header that has no message token. Its text outside of fields is the body.

        Args:
            header: the header.
            terminator: the token that ends the message, or None.
            is_over: whether the text has ended.
        """
        if terminator is None and header.is_role_alone(ROLES):
            self._header = None
            return
        read = self._without_body(header)
        if terminator is None and not is_over:
            read.lacks = None
        self._begin_body(read, _written(header))
        self._body.parts.append(read.rest)
        self._close(terminator)

    def _without_body(self, header: HeaderText) -> HarmonyHeader:
        """The fields of a header that has no message token, with the body in `rest`."""
        if not header.is_unformatted:
            return read_harmony_header(header, closed=False)
        body = "".join(text for _, text in header.text_outside_fields(header.without_format()))
        return HarmonyHeader(role=self._role, channel="final", recovered=True, rest=body)

    def _overflow(self, header: HeaderText) -> None:
        """Handle a header that is too long: its text, and the text up to the next message, become a body."""
        read = HarmonyHeader(channel="analysis", recovered=True, rest=_written(header))
        if header.is_unformatted:
            read = self._without_body(header)
        read.errors.append((HEADER, f"the header is longer than {self._room} characters"))
        self._begin_body(read)
        self._body.parts.append(read.rest)
        self._loose = True

    def _end_stray_text(self) -> None:
        """Keep text between messages as a private message."""
        if self._between:
            self._begin_stray_text("".join(self._between).rstrip(WHITESPACE))
            self._close(None)

    def _begin_stray_text(self, text: str) -> None:
        self._fail(HEADER, "text outside of any message")
        self._begin_body(HarmonyHeader(channel="analysis", recovered=True))
        self._body.parts.append(text)

    # Bodies.

    def _begin_body(self, header: HarmonyHeader, written: str | None = None) -> None:
        for code, message in header.errors:
            self._fail(code, message)
        if self._document:
            is_kept, role_raw = not header.is_sound, header.role_raw
        else:
            is_kept = header.recovered or header.intent is not None or bool(header.extra)
            role_raw = header.role_raw if header.role_raw and ":" in header.role_raw else None
        self.draft = Message(
            role=header.role,
            name=header.name,
            channel=header.channel,
            recipient=header.recipient,
            call_id=header.call_id,
            intent=header.intent if self._document else None,
            content_type=header.content_type,
            constrain=header.constrain,
            terminator=None,
            extra=header.extra,
            role_raw=role_raw,
            recovered=header.recovered,
            lacks=header.lacks if names_tool(header.recipient) else None,
            header_raw=written if is_kept else None,
            place=self._begin,
        )
        self._header = None
        self._loose = False
        self._forget_stray_text()
        self._body.begin(is_call=called_tool(self.draft) is not None)
        self._events.append(BodyStarted(len(self.messages), self.draft))

    def _close(self, terminator: str | None) -> None:
        """Finish the current message. Without a terminator it was cut off."""
        draft = self.draft
        assert draft is not None
        if self._deltas:
            self._report_body()
        body = self._body.text
        plan = (
            draft.role == "assistant"
            and draft.channel == "commentary"
            and draft.recipient is draft.constrain is None
            and terminator != "call"
            and not draft.recovered
        )
        message = msgspec.structs.replace(
            draft,
            body=body,
            terminator=terminator,
            intent=draft.intent if self._document else "preamble" if plan else None,
            end=self._offset,
        )
        if message.terminator == "call":
            self._check_call(message)
        if terminator is not None and message.constrain is not None:
            wrong = violation(message.constrain, body)
            if wrong is not None:
                self._fail(CONSTRAINT, wrong)
        self.draft = None
        self._events.append(MessageFinished(len(self.messages), message))
        self.messages.append(message)
        if terminator in _STOPS:
            self._stop_seen = self._stopped = True

    def _check_call(self, call: Message) -> None:
        wrong = None
        if not call.is_call:
            wrong = f"a message of {call.role} ends as a call"
        elif call.recipient is None:
            wrong = "the call does not name a tool"
        elif call.effective_channel not in channels_of_calls(call.recipient):
            wrong = f"a call of {call.recipient} must not be on channel {call.effective_channel}"
        wrong = wrong or self._ids.call(call)
        if wrong is not None:
            self._fail(CALL_SCHEMA, wrong)


def _written(header: HeaderText) -> str:
    """A header as the model wrote it: without the part that the prompt already contains."""
    return "".join((spell(marker) if marker else "") + text for marker, text in header.sections)[header.given :]


@entry
def parse_completion(
    text: str | bytes | Iterable[str],
    *,
    role: str | None = "assistant",
    stop: str | None = None,
    limits: Limits | None = None,
) -> HarmonyResult:
    """Read a whole completion. Faults of the text are reported in the result, never raised.

    Args:
        text: the model's output or its pieces, including the stop token if there is one.
        role: the text continues a prompt that ended after the start token and this role; None for transcripts.
        stop: name of the stop token that the engine removed from the end: `call`, `return` or `end`.
        limits: bounds on headers and on text between messages. Longer text becomes a body.

    Raises:
        ArgumentError: `E-ARGUMENT-VALUE`, `stop` is none of these.
    """
    reader = HarmonyReader(role=role, deltas=False, limits=limits)
    for piece in [text] if isinstance(text, str | bytes) else text:
        reader.feed(piece)
    reader.finish(stop=stop)
    return reader.result()
