"""A parser that records its input and output."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Unpack

import msgspec

from syntagma.codec import Turn
from syntagma.entry import options_named
from syntagma.errors import SyntagmaError
from syntagma.events import Event, FinishReason
from syntagma.formats import ChatFormat
from syntagma.messages import Message, ToolLike
from syntagma.parsing import ParserOptions, ReadingOptions, StreamParser
from syntagma.parsing.states import ReadingNow
from syntagma.parsing.text.vocabulary import Vocabulary
from syntagma.recording.bundle import Bundle, Chunk, RecordedToken, text_of, versions_here, written_format
from syntagma.request import ResolvedRequest, resolve_request

__all__ = ["Recorder", "record", "record_turn"]


class Recorder:
    """Reads one message like a `StreamParser`, and records its input and output. Safe for several threads.

    Args:
        fmt: the format.
        request: the request.
        prompt: the rendered prompt, or None.
        reading: the reading options. A missing `id_seed` is generated, so that a replay gives the same ids.
    """

    def __init__(
        self,
        fmt: ChatFormat,
        request: ResolvedRequest,
        *,
        prompt: str | None = None,
        reading: ReadingOptions = ReadingOptions(),  # noqa: B008 - frozen
    ) -> None:
        if reading.id_seed is None:
            reading = msgspec.structs.replace(reading, id_seed=secrets.token_hex(16))
        self._parser = StreamParser.from_request(fmt, request, prompt=prompt, reading=reading)
        self._format = fmt
        self._prompt = prompt
        # A recording is data: the schema of a type is kept, the type is not.
        plain = msgspec.structs.replace(request.response_format, answer_type=None)
        self._request = msgspec.structs.replace(request, response_format=plain)
        self._reading = reading
        self._created, self._began = time.time(), time.perf_counter()
        self._one_at_a_time = threading.Lock()
        self._tokens: dict[int, RecordedToken] = {}
        self._chunks: list[Chunk] = []
        self._events: list[Event] = []
        self._finished = False
        self._finish_reason: str | None = None
        self._error: str | None = None

    @property
    def parser(self) -> StreamParser:
        """The parser. Text that is fed directly to it is not recorded."""
        return self._parser

    @property
    def message(self) -> Message:
        """See `StreamParser`."""
        return self._parser.message

    @property
    def raw(self) -> str:
        """See `StreamParser`."""
        return self._parser.raw

    @property
    def position(self) -> int:
        """See `StreamParser`."""
        return self._parser.position

    @property
    def reads_json(self) -> bool:
        """See `StreamParser`."""
        return self._parser.reads_json

    @property
    def state(self) -> ReadingNow:
        """See `StreamParser`."""
        return self._parser.state

    @property
    def finish_reason(self) -> FinishReason | None:
        """See `StreamParser`."""
        return self._parser.finish_reason

    def feed(self, chunk: str | bytes, *, special: bool | None = None) -> list[Event]:
        """See `StreamParser`."""
        text, data = (chunk, None) if isinstance(chunk, str) else (None, bytes(chunk))
        with self._one_at_a_time:
            self._chunks.append(Chunk(seconds=self._now(), text=text, data=data, special=special))
            return self._noted(lambda: self._parser.feed(chunk, special=special))

    def feed_tokens(self, ids: Sequence[int], info: Vocabulary) -> list[Event]:
        """See `StreamParser`."""
        with self._one_at_a_time:
            self._chunks.append(Chunk(seconds=self._now(), ids=tuple(ids)))
            if not self._tokens:
                ends = frozenset(getattr(info, "eos_token_ids", ()))
                for token in info.special_token_ids:
                    data = bytes(info.token_bytes(token))
                    self._tokens[token] = RecordedToken(data=data, special=True, end=token in ends)
            for token in ids:
                if token not in self._tokens:
                    self._tokens[token] = RecordedToken(data=bytes(info.token_bytes(token)))
            return self._noted(lambda: self._parser.feed_tokens(ids, info))

    def finish(self, reason: str | None = None) -> list[Event]:
        """See `StreamParser`."""
        with self._one_at_a_time:
            if not self._finished:
                self._finished, self._finish_reason = True, reason
            return self._noted(lambda: self._parser.finish(reason))

    def bundle(self) -> Bundle:
        """The recording so far. May be called while another thread feeds."""
        with self._one_at_a_time:
            return self._bundle()

    def _bundle(self) -> Bundle:
        return Bundle(
            created=self._created,
            versions=versions_here(),
            format=written_format(self._format),
            prompt=None if self._prompt is None else text_of(self._prompt),
            request=self._request,
            reading=self._reading,
            tokens=dict(self._tokens),
            chunks=tuple(self._chunks),
            finished=self._finished,
            finish_reason=self._finish_reason,
            events=tuple(self._events),
            message=self._parser.message,
            error=self._error,
        )

    def _now(self) -> float:
        return round(time.perf_counter() - self._began, 6)

    def _noted(self, read: Callable[[], list[Event]]) -> list[Event]:
        try:
            events = read()
        except SyntagmaError as error:
            self._error = error.code
            raise
        self._events += events
        return events


@options_named
def record(fmt: ChatFormat, tools: Sequence[ToolLike] | None = None, **options: Unpack[ParserOptions]) -> Recorder:
    """A recorder for one answer.

    Args:
        fmt: the format.
        tools: as for `ChatFormat.parser`.
        **options: see `syntagma.parsing.ParserOptions`.

    Raises:
        FormatError, ArgumentError: see `StreamParser`.
    """
    asked: dict[str, Any] = dict(options)
    prompt = asked.pop("prompt", None)
    own = {name: asked.pop(name) for name in ReadingOptions.__struct_fields__ if name in asked}
    request = resolve_request(tools, for_reading=True, **asked)
    return Recorder(fmt, request, prompt=prompt, reading=ReadingOptions(**own))


def record_turn(turn: Turn) -> Recorder:
    """A recorder for one answer of a prepared turn.

    Raises:
        FormatError: see `StreamParser`.
    """
    return Recorder(turn.format, turn.request, prompt=turn.prompt, reading=turn.reading)
