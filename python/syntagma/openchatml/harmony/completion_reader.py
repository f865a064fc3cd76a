"""Reading what a Harmony model wrote, however malformed: from text, from bytes, or from token ids.

Harmony knows no escapes and no literal blocks. The reader never raises about the text: it keeps every character up to
the hard stop, marks what it had to guess as `recovered`, and what is recovered is never run.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Mapping

import msgspec

from syntagma.openchatml.constraint import violation
from syntagma.openchatml.errors import CALL_SCHEMA, CONSTRAINT, HEADER, TRUNCATED
from syntagma.openchatml.harmony.harmony_header import HarmonyHeader, known_role, read_heading
from syntagma.openchatml.read_events import BodyDelta, BodyStarted, MessageFinished, ReadError, ReadEvent
from syntagma.openchatml.tokens import TERMINATORS, incomplete_token_from, spell
from syntagma.openchatml.tool_calls import called_tool, to_tool
from syntagma.openchatml.transcript import Message, Problem, SourceLocation
from syntagma.parsing import JsonMachine

__all__ = ["HARMONY_TOKENS", "HarmonyReader", "HarmonyResult", "TokenReader", "parse_completion"]

HARMONY_TOKENS = ("start", "end", "message", "channel", "constrain", "return", "call")
"""names of Harmony's control tokens"""

_TOKEN = re.compile(r"<\|(start|end|message|channel|constrain|return|call)\|>")
_BLANKS = " \t\r\n"


class HarmonyResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a completion holds.

    Attributes:
        messages: the messages; a cut one is the last and has no terminator.
        dispatch: indexes of the messages that a router may run.
        errors: what was wrong.
    """

    messages: tuple[Message, ...] = ()
    dispatch: tuple[int, ...] = ()
    errors: tuple[Problem, ...] = ()


class HarmonyReader:
    """Reads completions and transcripts that arrive in pieces.

    Attributes:
        messages: the messages so far.
        errors: what is wrong so far.
    """

    def __init__(self, *, role: str | None = "assistant", deltas: bool = True) -> None:
        """Prepare. `role`: the text continues a prompt that ended behind the start token and this role."""
        self.messages: list[Message] = []
        self.errors: list[Problem] = []
        self.draft: Message | None = None
        """the message at hand, with what of its body is complete; None between messages and in headers"""
        self.tokens_seen = 0
        self._deltas = deltas
        self._events: list[ReadEvent] = []
        self._held = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._offset = 0
        self._line = 1
        self._begin = SourceLocation(0, 1)
        self._body: list[str] = []
        self._told = 0
        self._arguments: JsonMachine | None = None
        self._checked = 0
        self._sections: list[tuple[str, str]] | None = None if role is None else [("start", f"{role} ")]
        self._text: list[str] = []
        self._prompted = role is not None
        self._recovered = False
        self._stop_seen = False
        self._after_stop = False
        self._over = False

    @property
    def error(self) -> Problem | None:
        """The first error, or None."""
        return self.errors[0] if self.errors else None

    @property
    def in_header(self) -> bool:
        """Whether a header is begun and not complete."""
        return self.draft is None and self._sections is not None

    @property
    def body(self) -> str:
        """The text of the message at hand, as far as it is complete."""
        return "".join(self._body)

    def feed(self, data: str | bytes) -> list[ReadEvent]:
        """Read a piece of text or bytes, cut anywhere."""
        decode = self._decoder.decode
        text = decode(data) if isinstance(data, bytes) else decode(b"", True) + data
        if self._held:
            text, self._held = self._held + text, ""
        at = 0
        if "<" in text:
            for match in _TOKEN.finditer(text):
                if match.start() > at:
                    self._on_text(text[at : match.start()])
                name = match.group(1)
                if name in TERMINATORS and self._in_string():
                    self._on_text(match.group())
                else:
                    self._on_token(name)
                at = match.end()
            cut = incomplete_token_from(text, at)
            self._held = text[cut:]
            text = text[at:cut]
        if text:
            self._on_text(text)
        return self._take()

    def feed_text(self, text: str) -> list[ReadEvent]:
        """Read text in which no control token can be, whatever it spells."""
        if text:
            self._on_text(text)
        return self._take()

    def feed_token(self, name: str) -> list[ReadEvent]:
        """Read a control token, by its name."""
        self._on_token(name)
        return self._take()

    def finish(self, *, stop: str | None = None) -> list[ReadEvent]:
        """Say that the text is over; `stop` is the name of the stop token that an engine took off."""
        self.feed(self._decoder.decode(b"", True))
        held, self._held = self._held, ""
        if held:
            self._on_text(held)
        if stop is not None and self.draft is not None:
            self._close(stop)
            self._over = True
        if self._over:
            return self._take()
        cut = True
        if self.draft is not None:
            self._close(None)
        elif self._sections is not None:
            self._end_header(None)
        else:
            self._stray()
            cut = False
        if cut and not self._stop_seen:
            self._fail(TRUNCATED, "the text ends without a stop token", SourceLocation(self._offset, self._line))
        self._over = True
        return self._take()

    def result(self) -> HarmonyResult:
        """What was read so far."""
        wrong = {problem.index for problem in self.errors}
        run = [
            index
            for index, message in enumerate(self.messages)
            if message.is_call and message.recipient is not None and to_tool(message) and not message.recovered
            if index not in wrong
        ]
        return HarmonyResult(messages=tuple(self.messages), dispatch=tuple(run), errors=tuple(self.errors))

    def _in_string(self) -> bool:
        """Whether a string of a call's arguments is open: what is spelled there is text, as far as text can tell."""
        machine = self._arguments
        if machine is None or self.draft is None:
            return False
        for part in self._body[self._checked :]:
            if not self._checked and not part.strip(_BLANKS).startswith("{"):
                self._arguments = None
                return False
            machine.feed(part, 0, len(part))
            self._checked += 1
        return machine.in_string

    def _take(self) -> list[ReadEvent]:
        if self._deltas and self._told < len(self._body) and self.draft is not None:
            self._tell()
        events, self._events = self._events, []
        return events

    def _tell(self) -> None:
        text = "".join(self._body[self._told :])
        self._told = len(self._body)
        if text:
            self._events.append(BodyDelta(len(self.messages), text))

    def _fail(self, code: str, message: str, place: SourceLocation | None = None) -> None:
        problem = Problem(code, message, place or self._begin, index=len(self.messages))
        self.errors.append(problem)
        self._events.append(ReadError(problem, False))

    def _on_text(self, text: str) -> None:
        if self._over:
            return
        if self.draft is not None:
            self._body.append(text)
        elif self._after_stop and text.strip(_BLANKS):
            self._over = True
        else:
            self._text.append(text)
        self._offset += len(text)
        self._line += text.count("\n")

    def _on_token(self, name: str) -> None:
        if self._over:
            return
        self.tokens_seen += 1
        written = spell(name)
        if self.draft is not None:
            self._offset += len(written)
            if name in TERMINATORS:
                self._close(name)
            else:
                # A structural token in a body is text: it must not forge a message.
                self._body.append(written)
            return
        if self._after_stop and name != "start":
            self._over = True
            return
        if self._sections is None:
            self._outside(name)
        else:
            self._inside(name)
        self._offset += len(written)

    def _outside(self, name: str) -> None:
        """A token behind a message: the next one begins, with or without its start token."""
        if name == "start":
            self._stray()
            self._open([])
        elif name in ("channel", "message", "constrain"):
            text = "".join(self._text)
            guessed = known_role(text)
            if not guessed:
                self._stray()
            self._open([("start", text if guessed else "assistant")])
            self._recovered = True
            self._inside(name)
        else:
            self._stray()

    def _open(self, sections: list[tuple[str, str]]) -> None:
        self._begin = SourceLocation(self._offset, self._line)
        self._sections = sections
        self._text = []
        self._recovered = self._prompted = self._after_stop = False

    def _inside(self, name: str) -> None:
        """A token in a header."""
        sections = self._sections or []
        text = "".join(self._text)
        if name == "start":
            if text.strip(_BLANKS) or len(sections) > 1 or (sections and not self._prompted):
                self._end_header(None)
                self._open([])
            else:
                again = not self._prompted
                self._open([])
                self._recovered = again
            return
        self._flush_section()
        if name == "message":
            self._begin_body(read_heading(self._sections or [], closed=True))
        elif name in TERMINATORS:
            self._end_header(name)
        else:
            (self._sections or []).append((name, ""))

    def _flush_section(self) -> None:
        """Add the text so far to the section it belongs to."""
        sections = self._sections
        if sections is None:
            return
        text = "".join(self._text)
        self._text = []
        if not sections:
            sections.append(("start", text))
        else:
            token, before = sections[-1]
            sections[-1] = (token, before + text)

    def _end_header(self, terminator: str | None) -> None:
        """A header without its message token: the body is in it."""
        whole = "".join(self._text)
        if self._prompted and not self.tokens_seen and self._sections:
            # No token at all: the model answered without any format.
            role = self._sections[0][1].strip(_BLANKS)
            heading = HarmonyHeader(role=role, channel="final", recovered=True, rest=whole)
        else:
            self._flush_section()
            heading = read_heading(self._sections or [], closed=False)
        if terminator is None and not heading.rest:
            self._sections = None
            return
        rest = heading.rest
        self._begin_body(heading)
        self._body.append(rest)
        self._close(terminator)

    def _begin_body(self, heading: HarmonyHeader) -> None:
        for code, message in heading.errors:
            self._fail(code, message)
        self.draft = Message(
            role=heading.role,
            name=heading.name,
            channel=heading.channel,
            recipient=heading.recipient,
            call_id=heading.call_id,
            content_type=heading.content_type,
            constrain=heading.constrain,
            terminator=None,
            recovered=heading.recovered or self._recovered,
            place=self._begin,
        )
        self._arguments = None if called_tool(self.draft) is None else JsonMachine()
        self._checked = 0
        self._sections = None
        self._text = []
        self._body = []
        self._told = 0
        self._events.append(BodyStarted(len(self.messages), self.draft))

    def _close(self, terminator: str | None) -> None:
        draft = self.draft
        if draft is None:
            return
        if self._deltas:
            self._tell()
        body = "".join(self._body)
        plan = (
            draft.role == "assistant"
            and draft.channel == "commentary"
            and draft.recipient is draft.constrain is None
            and terminator != "call"
            and not draft.recovered
        )
        message = msgspec.structs.replace(
            draft, body=body, terminator=terminator, intent="preamble" if plan else None, end=self._offset
        )
        if message.is_call and message.recipient is None:
            self._fail(CALL_SCHEMA, "a call that names no tool")
        if terminator is not None and message.constrain is not None:
            wrong = violation(message.constrain, body)
            if wrong is not None:
                self._fail(CONSTRAINT, wrong)
        self.draft = None
        self._body = []
        self._told = 0
        self._events.append(MessageFinished(len(self.messages), message))
        self.messages.append(message)
        if terminator in ("call", "return"):
            self._stop_seen = self._after_stop = True

    def _stray(self) -> None:
        """Text between messages, kept as a private message."""
        text = "".join(self._text).strip(_BLANKS)
        self._text = []
        if not text or self._after_stop:
            return
        self._begin = SourceLocation(self._offset, self._line)
        self._fail(HEADER, "text outside of any message")
        self._recovered = False
        self._begin_body(HarmonyHeader(channel="analysis", recovered=True))
        self._body.append(text)
        self._close(None)


class TokenReader:
    """Reads token ids: control tokens by their ids, all others as text, whatever they spell."""

    def __init__(
        self, decode: Callable[[int], bytes], control: Mapping[int, str], *, role: str | None = "assistant"
    ) -> None:
        """Prepare.

        Args:
            decode: the bytes of a token that is no control token.
            control: names of control tokens, such as `start`, by id. Where the vocabulary has none, leave it empty:
                control tokens are then recognised by their text, over any number of tokens.
            role: the ids continue a prompt that ended behind the start token and this role.
        """
        self.reader = HarmonyReader(role=role)
        self._decode = decode
        self._control = {number: name.removeprefix("<|").removesuffix("|>") for number, name in control.items()}
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    @property
    def is_inside_character(self) -> bool:
        """Whether the last token ended inside a character."""
        return bool(self._decoder.getstate()[0])

    def feed(self, token: int) -> list[ReadEvent]:
        """Read one token."""
        if not self._control:
            return self.reader.feed(self._decode(token))
        name = self._control.get(token)
        if name is None:
            return self.reader.feed_text(self._decoder.decode(self._decode(token)))
        events = self.reader.feed_text(self._decoder.decode(b"", True))
        if name not in HARMONY_TOKENS:
            return events + self.reader.feed_text(spell(name))
        return events + self.reader.feed_token(name)

    def finish(self) -> list[ReadEvent]:
        """Say that there are no more tokens."""
        return self.reader.feed_text(self._decoder.decode(b"", True)) + self.reader.finish()


def parse_completion(
    text: str | bytes | Iterable[str], *, role: str | None = "assistant", stop: str | None = None
) -> HarmonyResult:
    """Read a whole completion.

    Args:
        text: what the model wrote, stop token included if there was one; or its pieces.
        role: the text continues a prompt that ended behind the start token and this role; None for transcripts.
        stop: the stop token that an engine took off, `call` or `return`.
    """
    reader = HarmonyReader(role=role, deltas=False)
    for piece in [text] if isinstance(text, str | bytes) else text:
        reader.feed(piece)
    reader.finish(stop=stop)
    return reader.result()
