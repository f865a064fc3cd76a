"""Parses a recorded answer again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, TypeAlias, get_args

import msgspec

from syntagma.errors import ArgumentError, ParseError
from syntagma.events import ContentDelta, Event, ReasoningDelta, ToolCallDelta
from syntagma.formats import ChatFormat
from syntagma.json_pointer import pointer_of
from syntagma.messages import Message
from syntagma.parsing import StreamParser
from syntagma.recording.bundle import Bundle, Chunk, RecordedToken, prompt_of

__all__ = ["Chunks", "Difference", "Replay", "Step", "replay"]

Chunks: TypeAlias = Literal["as-came", "whole", "each-character"]
"""how the answer is cut into chunks"""
_NOTHING = "nothing"


class Difference(msgspec.Struct, frozen=True):
    """The first difference between a recording and its replay.

    Attributes:
        pointer: place in the bundle, below `/events`, `/message` or `/error`. Consecutive deltas of one kind count as
            one event.
        recorded: the recorded value; the string `nothing` if there is none.
        now: the value of the replay; the string `nothing` if there is none.
    """

    pointer: str
    recorded: Any
    now: Any


class Step(msgspec.Struct, frozen=True):
    """A chunk and its events. The chunk is None for the end of the text."""

    chunk: Chunk | None
    events: tuple[Event, ...]


class Replay(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a replay.

    Attributes:
        steps: the chunks with their events.
        message: the message.
        error: the code of the error that ended the parsing; None if there was none.
        difference: the first difference from the recording; None if the results are equal.
    """

    steps: tuple[Step, ...]
    message: Message
    error: str | None
    difference: Difference | None

    @property
    def events(self) -> tuple[Event, ...]:
        """All events."""
        return tuple(event for step in self.steps for event in step.events)

    @property
    def same(self) -> bool:
        """Whether events, message and error are equal to the recorded ones."""
        return self.difference is None


class _Tokens:
    """The tokens of a bundle, as a `Vocabulary`."""

    def __init__(self, tokens: dict[int, RecordedToken]) -> None:
        self._tokens = tokens
        self.special_token_ids = frozenset(token for token, one in tokens.items() if one.special)
        self.eos_token_ids = tuple(token for token, one in tokens.items() if one.end)

    def token_bytes(self, token_id: int) -> bytes:
        """The bytes of a token.

        Raises:
            ArgumentError: `E-RECORDING-BUNDLE`, the bundle does not contain the token.
        """
        if token_id not in self._tokens:
            message = f"the bundle does not contain token {token_id}"
            raise ArgumentError("E-RECORDING-BUNDLE", message, pointer="/tokens")
        return self._tokens[token_id].data


def replay(bundle: Bundle, *, fmt: ChatFormat | None = None, chunks: Chunks = "as-came") -> Replay:
    """Parse a recorded answer again.

    Args:
        bundle: the recording.
        fmt: the format to read with; None: the recorded format.
        chunks: how to cut the answer: `as-came`, as recorded; `whole`, into as few chunks as possible;
            `each-character`, into single characters, bytes or tokens. Only the cuts between deltas depend on it.

    Raises:
        ArgumentError: `E-RECORDING-BUNDLE`, the bundle is inconsistent; `E-ARGUMENT-VALUE`, `chunks` is unknown.
    """
    if chunks not in get_args(Chunks):
        hint = f"one of {', '.join(get_args(Chunks))}"
        raise ArgumentError("E-ARGUMENT-VALUE", f"unknown value {chunks!r} of chunks", hint=hint, pointer="/chunks")
    parser = StreamParser.from_request(
        bundle.chat_format() if fmt is None else fmt,
        bundle.request,
        prompt=None if bundle.prompt is None else prompt_of(bundle.prompt),
        reading=bundle.reading,
    )
    steps: list[Step] = []
    error: str | None = None
    try:
        steps.extend(_steps(bundle, parser, chunks))
    except ParseError as raised:
        error = raised.code
    message = parser.message
    events = [event for step in steps for event in step.events]
    difference = _compare(bundle, events, message, error)
    return Replay(steps=tuple(steps), message=message, error=error, difference=difference)


def _steps(bundle: Bundle, parser: StreamParser, chunks: Chunks) -> Iterator[Step]:
    vocabulary = _Tokens(bundle.tokens)
    for chunk in _cut(bundle.chunks, chunks):
        yield Step(chunk, tuple(_feed(parser, chunk, vocabulary)))
    if bundle.finished:
        yield Step(None, tuple(parser.finish(bundle.finish_reason)))


def _feed(parser: StreamParser, chunk: Chunk, vocabulary: _Tokens) -> list[Event]:
    if chunk.ids is not None:
        return parser.feed_tokens(chunk.ids, vocabulary)
    return parser.feed(chunk.data or b"" if chunk.text is None else chunk.text, special=chunk.special)


def _cut(given: Sequence[Chunk], how: Chunks) -> Iterator[Chunk]:
    if how == "as-came":
        yield from given
    elif how == "each-character":
        for chunk in given:
            yield from _smallest(chunk)
    else:
        yield from _joined(given)


def _smallest(chunk: Chunk) -> Iterator[Chunk]:
    if chunk.ids is not None:
        for token in chunk.ids:
            yield msgspec.structs.replace(chunk, ids=(token,))
    elif chunk.special:
        # A special token stays whole: cut, it would become text.
        yield chunk
    elif chunk.data is not None:
        for byte in chunk.data:
            yield msgspec.structs.replace(chunk, data=bytes([byte]))
    else:
        for character in chunk.text or "":
            yield msgspec.structs.replace(chunk, text=character)


def _joined(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    last: Chunk | None = None
    for chunk in chunks:
        if last is not None and _kind(last) == _kind(chunk) and not chunk.special:
            last = msgspec.structs.replace(
                last,
                text=None if last.text is None else last.text + (chunk.text or ""),
                data=None if last.data is None else last.data + (chunk.data or b""),
                ids=None if last.ids is None else last.ids + (chunk.ids or ()),
            )
            continue
        if last is not None:
            yield last
        last = chunk
    if last is not None:
        yield last


def _kind(chunk: Chunk) -> tuple[bool, bool, bool | None]:
    return chunk.ids is not None, chunk.data is not None, chunk.special


def _compare(bundle: Bundle, events: Sequence[Event], message: Message, error: str | None) -> Difference | None:
    if error != bundle.error:
        return Difference("/error", bundle.error or _NOTHING, error or _NOTHING)
    if error is not None:
        # The number of events before an error depends on the cut, so they are not compared.
        return None
    before, after = ([msgspec.to_builtins(event) for event in _merged(read)] for read in (bundle.events, events))
    found = _difference(before, after, "/events")
    if found is not None:
        return found
    return _difference(msgspec.to_builtins(bundle.message), msgspec.to_builtins(message), "/message")


def _merged(events: Iterable[Event]) -> list[Event]:
    """The events, with consecutive deltas of one kind joined."""
    merged: list[Event] = []
    for event in events:
        joined = _joined_events(merged[-1], event) if merged else None
        if joined is None:
            merged.append(event)
        else:
            merged[-1] = joined
    return merged


def _joined_events(first: Event, second: Event) -> Event | None:
    """Two deltas joined into one; None if they are of different kinds or calls."""
    span = (first.span[0], second.span[1])
    match first, second:
        case (ContentDelta(text=text), ContentDelta(text=more)):
            return ContentDelta(text + more, span)
        case (ReasoningDelta(text=text), ReasoningDelta(text=more)):
            return ReasoningDelta(text + more, span)
        case (ToolCallDelta(index=index, arguments=text), ToolCallDelta(index=at, arguments=more)) if index == at:
            return ToolCallDelta(index, text + more, span)
    return None


def _difference(recorded: Any, now: Any, pointer: str) -> Difference | None:
    pairs: list[tuple[str, Any, Any]]
    if isinstance(recorded, dict) and isinstance(now, dict):
        pairs = [(name, recorded.get(name, _NOTHING), now.get(name, _NOTHING)) for name in {**recorded, **now}]
    elif isinstance(recorded, list | tuple) and isinstance(now, list | tuple):
        size = max(len(recorded), len(now))
        first, second = ([*one, *[_NOTHING] * (size - len(one))] for one in (recorded, now))
        pairs = [(str(index), *pair) for index, pair in enumerate(zip(first, second, strict=True))]
    else:
        return None if recorded == now else Difference(pointer, recorded, now)
    for name, before, after in pairs:
        found = _difference(before, after, pointer + pointer_of(name))
        if found is not None:
            return found
    return None
