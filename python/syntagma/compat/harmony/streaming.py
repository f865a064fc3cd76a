"""`StreamableParser`: parses a completion token by token."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Protocol

from msgspec.structs import replace

from syntagma.compat.harmony.errors import HarmonyError
from syntagma.compat.harmony.messages import Author, Message, Role, TextContent
from syntagma.openchatml.harmony import TokenReader
from syntagma.openchatml.read_events import BodyDelta, ReadEvent
from syntagma.openchatml.transcript import Message as ReadMessage
from syntagma.openchatml.transcript import names_tool

__all__ = ["ReadableEncoding", "StreamState", "StreamableParser"]


class ReadableEncoding(Protocol):
    """The part of a `HarmonyEncoding` that a parser needs."""

    @property
    def texts(self) -> dict[int, str]:
        """The texts of tokens that are complete characters, cached as they occur."""

    def reader(self, role: str | None) -> TokenReader:
        """A reader of token ids. `role`: the role whose header the prompt began, or None."""


class StreamState(StrEnum):
    """The state of a `StreamableParser`."""

    EXPECT_START = "ExpectStart"
    HEADER = "Header"
    CONTENT = "Content"


class StreamableParser:
    """Parses a completion token by token.

    Attributes:
        tokens: all tokens read so far.
    """

    def __init__(self, encoding: ReadableEncoding, role: Role | str | None = None, *, strict: bool = False) -> None:
        """Create a parser. `role`: the role whose header the prompt began. `strict`: raise for malformed text."""
        self.tokens: list[int] = []
        self._role = None if role is None else Role(role)
        self._reader = encoding.reader(None if role is None else str(self._role))
        self._strict = strict
        self._delta: str | None = None
        self._since = 0
        self._state = self._reader_state()
        self._content = ""
        # Fast path: in a body, most tokens are complete characters. They are collected, and passed to the reader
        # before the next other token, or when the content is read.
        self._texts: dict[int, str] = encoding.texts
        self._waiting: list[str] = []
        self._known: dict[int, str] = {}

    def process(self, token: int) -> StreamableParser:
        """Read one token.

        Raises:
            HarmonyError: with `strict` only: the completion is malformed.
        """
        self.tokens.append(token)
        text = self._known.get(token)
        if text is None:
            return self._step(token)
        self._waiting.append(text)
        self._delta = text
        return self

    def process_eos(self) -> StreamableParser:
        """End the tokens. An unfinished message is kept.

        Raises:
            HarmonyError: with `strict` only: the completion is malformed.
        """
        self._settle()
        self._take(self._reader.finish())
        return self

    def _step(self, token: int) -> StreamableParser:
        """Read a token that is not known to be complete characters, or is outside of a body."""
        self._settle()
        self._take(self._reader.feed(token))
        return self

    def _settle(self) -> None:
        """Pass the collected text to the reader."""
        if self._waiting:
            text = "".join(self._waiting)
            self._waiting.clear()
            self._content += text
            self._reader.reader.feed_text(text)

    def _take(self, events: Iterable[ReadEvent]) -> None:
        self._delta = "".join(event.text for event in events if isinstance(event, BodyDelta)) or None
        state = self._reader_state()
        if state != self._state:
            self._state, self._since = state, len(self.tokens)
            self._content = ""
        if state == StreamState.CONTENT:
            self._content += self._delta or ""
        inside = state == StreamState.CONTENT and not self._reader.is_inside_character
        self._known = self._texts if inside else {}
        if self._strict:
            self._check()

    def _check(self) -> None:
        reader = self._reader.reader
        wrong = [problem for problem in reader.errors if problem.code != "E-STREAM-TRUNCATED"]
        if wrong:
            raise HarmonyError(f"{wrong[0].code}: {wrong[0].message}")
        at_hand = reader.draft or (reader.messages[-1] if reader.messages else None)
        if at_hand is not None and at_hand.recovered:
            raise HarmonyError("E-PARSE-HEADER: the header of a message is malformed")

    def _reader_state(self) -> StreamState:
        if self._draft is not None:
            return StreamState.CONTENT
        return StreamState.HEADER if self._reader.reader.in_header else StreamState.EXPECT_START

    @property
    def _draft(self) -> ReadMessage | None:
        draft = self._reader.reader.draft
        return None if draft is None else _certain(draft)

    @property
    def messages(self) -> list[Message]:
        """The finished messages."""
        return [_shown(_certain(message)) for message in self._reader.reader.messages]

    @property
    def current_content(self) -> str:
        """The text of the current message."""
        self._settle()
        return self._content

    @property
    def last_content_delta(self) -> str | None:
        """The text that the last token added; None if it added none."""
        return self._delta

    @property
    def current_role(self) -> Role | None:
        """The role of the current message, or None."""
        if self._draft is not None:
            return Role(self._draft.role)
        first = not self._reader.reader.messages and not self._since
        return self._role if first and self._state == StreamState.HEADER else None

    @property
    def current_channel(self) -> str | None:
        """The channel of the current message, or None."""
        return None if self._draft is None else self._draft.channel

    @property
    def current_recipient(self) -> str | None:
        """The recipient of the current message, or None."""
        return None if self._draft is None else self._draft.recipient

    @property
    def current_content_type(self) -> str | None:
        """The content type of the current message, or None."""
        return None if self._draft is None else _content_type(self._draft)

    @property
    def state(self) -> StreamState:
        """The parser's state."""
        return self._state

    @property
    def state_data(self) -> dict[str, Any]:
        """The parser's state, with the tokens since its beginning and, in a body, the header."""
        data: dict[str, Any] = {"state": str(self._state)}
        if self._state == StreamState.HEADER:
            data["header_tokens"] = self.tokens[self._since :]
        draft = self._draft
        if draft is not None:
            author = {"role": draft.role} | ({"name": draft.name} if draft.name is not None else {})
            fields = {"recipient": draft.recipient, "channel": draft.channel, "content_type": _content_type(draft)}
            data["header"] = {"author": author} | fields
            data["content_tokens"] = self.tokens[self._since :]
        return data


def _certain(message: ReadMessage) -> ReadMessage:
    """A message as it is passed on: callers run what is addressed to a tool, so a guess is not, and is hidden."""
    if message.recovered and message.lacks is None and names_tool(message.recipient):
        return replace(message, recipient=None, channel="analysis")
    return message


def _content_type(message: ReadMessage) -> str | None:
    """The content type in that library's form, in which a constraint keeps its token."""
    return message.content_type if message.constrain is None else f"<|constrain|>{message.constrain}"


def _shown(message: ReadMessage) -> Message:
    """A parsed message in that library's form."""
    return Message(
        author=Author(role=Role(message.role), name=message.name),
        content=[TextContent(text=message.body)],
        channel=message.channel,
        recipient=message.recipient,
        content_type=_content_type(message),
    )
