"""Reading transcripts: one reader, for whole texts and for text that arrives in pieces."""

from __future__ import annotations

from syntagma.errors import SyntagmaError
from syntagma.limits import Limits
from syntagma.openchatml.constraint import is_checked
from syntagma.openchatml.errors import CHANNEL_MISSING, HEADER, TRUNCATED
from syntagma.openchatml.message_header import read_fields
from syntagma.openchatml.opening import OpeningReading
from syntagma.openchatml.read_events import BodyDelta, BodyStarted, ReadEvent
from syntagma.openchatml.tokens import TERMINATORS, spell
from syntagma.openchatml.transcript import Message, PartialMessage, Problem, Profile, SourceLocation, Transcript

__all__ = ["StreamReader", "parse"]

_START = spell("start")
_END = spell("end")
_ENDLITERAL = spell("endliteral")


class StreamReader(OpeningReading):
    """Reads a transcript, or a model's completion, from text or bytes that arrive in pieces cut anywhere.

    `feed` and `finish` return what happened and raise nothing about the text: what is wrong is a `ReadError` among the
    events, and in `errors`. A strict reader stops at the first one.

    Attributes:
        messages: the complete messages so far.
        header: the YAML header, once it is read.
        profile: the profile in force.
        errors: what is wrong so far.
        warnings: what is odd so far.
        incomplete: after `finish`: the message that the text ends in.
    """

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
        """Prepare to read.

        Args:
            strict: stop at the first error; otherwise go on behind it.
            profile: rules to read under; None leaves it to the header.
            role: the text continues a prompt that ended behind the start token and this role.
            response: the text is an answer: it must end with a stop token.
            deltas: report the pieces of bodies.
            limits: bounds on headers.
        """
        super().__init__(strict=strict, profile=profile, response=response, deltas=deltas, limits=limits or Limits())
        if role is not None:
            self._begin_frame(0)
            self._cursor.parts = [role]
            self._prompted = True

    @property
    def error(self) -> Problem | None:
        """The first error, or None."""
        return self.errors[0] if self.errors else None

    def feed(self, data: str | bytes) -> list[ReadEvent]:
        """Read a piece.

        Raises:
            LimitError: `E-LIMIT-OPENCHATML-…`, a header is too long; the reader is of no use any more.
        """
        if self._stopped:
            return []
        cursor = self._cursor
        text = cursor.decode(data)
        if not cursor.text and "<" not in text and self._state == self._body:
            # Most pieces of an answer are this: text of the body and nothing else.
            if not text:
                return []
            cursor.skip(text)
            if self._rejected:
                return []
            cursor.parts.append(text)
            if not self._deltas:
                return []
            self._told = len(cursor.parts)
            return [BodyDelta(self._index, text)]
        cursor.push(text)
        return self._read()

    def finish(self, *, stop: str | None = None) -> list[ReadEvent]:
        """Say that the text is over. `stop`: the token that an engine took off the end (`return`, `call` or `end`)."""
        if self._stopped:
            return []
        cursor = self._cursor
        cursor.push(cursor.decode(b"", last=True))
        events = self._read()
        if self._stopped:
            return events
        if stop is not None and self._state == self._body:
            # The body is complete: what was held back is text.
            cursor.parts.append(cursor.text)
            cursor.push("")
            cursor.at = len(cursor.text)
            self._close(stop)
            cursor.settle()
        self._finish()
        self._stopped = True
        return events + self._take_events()

    @property
    def transcript(self) -> Transcript:
        """What was read so far."""
        return Transcript(
            messages=tuple(self.messages),
            header=self.header,
            profile=self.profile,
            dialect=self.dialect,
            errors=tuple(self.errors),
            warnings=tuple(self.warnings),
            incomplete=self.incomplete,
        )

    # Messages.

    def _between(self) -> bool:
        cursor = self._cursor
        cursor.at = at = self._blanks()
        text = cursor.text
        if text.startswith(_START, at):
            cursor.at = at + len(_START)
            self._begin_frame(at)
            return True
        if self._absorb and text.startswith(_END, at):
            cursor.at = at + len(_END)
            self._absorb = False
            return True
        rest = text[at:]
        if not rest or _START.startswith(rest) or (self._absorb and _END.startswith(rest)):
            return False
        self._fail(HEADER, "text outside of any message", cursor.place(at))
        cursor.parts = []
        self._state = self._stray
        return True

    def _stray(self) -> bool:
        cursor = self._cursor
        while (name := cursor.next_token()) is not None:
            if name == "start":
                self._begin_frame(cursor.at - len(_START))
                return True
        cursor.parts.clear()
        return False

    def _head(self) -> bool:
        cursor = self._cursor
        name = cursor.next_token()
        self._bound("openchatml_message_header_chars", cursor.offset - self._frame.offset)
        if name is None:
            return False
        text = "".join(cursor.parts)
        if name == "start" and self._prompted and not self._sections:
            self._begin_frame(cursor.at - len(_START))
            return True
        self._sections.append((self._section, text))
        cursor.parts = []
        if name in ("channel", "constrain"):
            self._section = name
        elif name == "message":
            self._begin_body()
        else:
            if not self._rejected:
                self._fail(HEADER, f"{spell(name)} in a header", self._frame)
            self._rejected = True
            if name == "start":
                self._begin_frame(cursor.at - len(_START))
            elif name in TERMINATORS:
                self._leave(name)
        return True

    def _begin_body(self) -> None:
        self._state = self._body
        self._told = 0
        self._index = len(self.messages)
        if self._rejected:
            self._index = -1
            return
        recovered = False
        try:
            fields = read_fields(self._sections, self.profile)
        except SyntagmaError as error:
            self._fail(error.code, error.message, self._frame)
            if error.code != CHANNEL_MISSING:
                self._rejected = True
                self._index = -1
                return
            # Nobody knows whether this was meant to be seen: it is not.
            fields = read_fields(self._sections, "ocm")
            fields.channel, recovered = "analysis", True
        for odd in fields.odd:
            self._warn("W-HEADER", odd, self._frame)
        if fields.constrain is not None and not is_checked(fields.constrain):
            self._warn("W-CONSTRAINT", f"bodies of type {fields.constrain!r} cannot be checked", self._frame)
        given = fields.attributes
        self._message = Message(
            role=fields.role,
            channel=fields.channel,
            name=given.get("name"),
            recipient=given.get("to"),
            call_id=given.get("call_id"),
            intent=given.get("intent"),
            content_type=given.get("content_type"),
            constrain=fields.constrain,
            extra=fields.extra,
            role_raw=fields.role_raw,
            recovered=recovered,
            place=self._frame,
        )
        self._events.append(BodyStarted(self._index, self._message))

    def _body(self) -> bool:
        cursor = self._cursor
        name = cursor.next_token()
        if self._rejected:
            cursor.parts.clear()
        if name is None:
            return False
        if name in TERMINATORS:
            self._close(name)
        elif name == "literal":
            self._state = self._literal
        else:
            cursor.parts.append(spell(name))
            place = cursor.place(cursor.at - len(spell(name)))
            self._warn("W-BODY-TOKEN", f"{spell(name)} in a body is text", place)
        return True

    def _literal(self) -> bool:
        closed = self._cursor.until(_ENDLITERAL)
        if self._rejected:
            self._cursor.parts.clear()
        if closed:
            self._state = self._body
        return closed

    def _close(self, name: str) -> None:
        self._tell()
        if not self._rejected:
            self._finish_message("".join(self._cursor.parts), name)
        self._leave(name)

    # The end.

    def _finish(self) -> None:
        cursor = self._cursor
        end = cursor.place(len(cursor.text))
        state = self._state
        held = cursor.text
        if state == self._document and not self._delimited:
            last = cursor.text[cursor.at :]
            if len(last) > 1 and _START.startswith(last):
                self._truncated("the text ends inside a control token", end, PartialMessage())
                return
            self._yaml.append(last)
            self._end_document()
        elif state == self._document:
            self._truncated("the text ends inside the document header", end, None)
        elif state in (self._between, self._opening, self._legacy_between, self._stray, self._legacy_stray):
            if held.strip(" \t\r\n\ufeff") and state not in (self._stray, self._legacy_stray):
                self._truncated("the text ends inside a control token", end, PartialMessage())
        elif state in (self._head, self._legacy_head):
            self._truncated("the text ends inside a message header", end, PartialMessage())
        else:
            body = "".join(cursor.parts)
            draft = self._message
            known = not self._rejected
            partial = PartialMessage(draft.role, draft.effective_channel, draft.recipient, body) if known else None
            self._truncated("the text ends inside a message", end, partial)
        if self._response and not self.errors and (not self.messages or self.messages[-1].terminator == "end"):
            self._fail(TRUNCATED, "the answer ends without a stop token", end)

    def _truncated(self, message: str, place: SourceLocation, partial: PartialMessage | None) -> None:
        self.incomplete = partial
        self._fail(TRUNCATED, message, place)


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
        text: the transcript; bytes are UTF-8, of which every invalid sequence becomes one U+FFFD.
        strict: raise the first error; otherwise keep what can be kept and list the errors.
        profile: rules to read under; None leaves it to the header.
        role: the text continues a prompt that ended behind the start token and this role.
        limits: bounds on headers.

    Raises:
        OpenChatMLError: strict reading only; code, line and offset say what and where.
        LimitError: `E-LIMIT-OPENCHATML-HEADER`.
    """
    reader = StreamReader(strict=strict, profile=profile, role=role, deltas=False, limits=limits)
    reader.feed(text)
    reader.finish()
    if strict and reader.error is not None:
        raise reader.error.exception()
    return reader.transcript
