"""The parser of model output: raw text, in any chunks → events → a message."""

from __future__ import annotations

import functools
import secrets
from collections.abc import Sequence
from typing import Any, Protocol, Unpack

from syntagma.entry import options_named
from syntagma.errors import ArgumentError, ArgumentTypeError
from syntagma.events import Event, FinishReason
from syntagma.format_schema import FormatSpec, StartState
from syntagma.messages import Message, ToolLike, with_reader
from syntagma.parsing.call_reader import ReaderParts
from syntagma.parsing.compiled_format import compiled_format
from syntagma.parsing.emitter import Emitter
from syntagma.parsing.end_of_turn import EndOfTurn
from syntagma.parsing.fast_path import FastPath
from syntagma.parsing.marker_watch import MarkerWatch
from syntagma.parsing.options import ReadingOptions
from syntagma.parsing.parsed_answer import parsed_answer
from syntagma.parsing.partial_value import PartialValue
from syntagma.parsing.place import ParserPlace, place_of
from syntagma.parsing.policies import Policies
from syntagma.parsing.prompt_tail import read_prompt_tail, turn_reader
from syntagma.parsing.states import ReadingNow
from syntagma.parsing.text.text_buffer import TextBuffer
from syntagma.parsing.text.text_decoder import TextDecoder
from syntagma.parsing.text.token_kind import SPECIAL, TEXT, UNKNOWN, TokenKind
from syntagma.parsing.text.vocabulary import KnownTokens, Vocabulary
from syntagma.request import ResolvedRequest, SharedOptions, resolve_request

__all__ = ["HasSpec", "StreamParser", "Vocabulary", "start_state"]


class HasSpec(Protocol):
    """The part of a `ChatFormat` that the parser needs."""

    @property
    def spec(self) -> FormatSpec:
        """The spec of the format."""
        ...


class StreamParser:
    """Parses one message of a model in a format.

    Sans-I/O: text goes in, events come out. Events do not depend on the chunks, and none is ever taken back. Malformed
    text never raises, unless `strict`.

    Args:
        fmt: the format: a `ChatFormat`, or its spec.
        tools: the declared tools. None: undeclared, calls are read without types; an empty list: there are none, and no
            calls are read.
        prompt: see `ParserOptions`.
        id_seed: see `ParserOptions`.
        stream_reasoning: see `ParserOptions`.
        policies: see `ParserOptions`.
        keep_raw: see `ParserOptions`.
        strict: see `ParserOptions`.
        **asked: `tool_choice`, `response_format`, `reasoning`, `reasoning_format`, `template_kwargs`, `history_calls`,
            `limits`: options of the request; see `syntagma.request.SharedOptions`. With `tool_choice="none"` no calls
            are read. If `response_format` asks for JSON, a code fence around the answer is removed; with a response
            format, calls are read only if tools were declared.

    Attributes:
        start_state: what the prompt has opened before the first character of output.

    Raises:
        FormatError: `E-FORMAT-UNSUPPORTED`, the format uses something that the parser does not support.
        ArgumentError: `E-ARGUMENT-REASONING`, `E-ARGUMENT-REASONING-FORMAT`, or one of `tools_from`.
    """

    @options_named
    def __init__(
        self,
        fmt: FormatSpec | HasSpec,
        tools: Sequence[ToolLike] | None = None,
        *,
        prompt: str | None = None,
        id_seed: str | None = None,
        stream_reasoning: bool = True,
        policies: Policies = Policies(),  # noqa: B008  # frozen
        keep_raw: bool = True,
        strict: bool = False,
        **asked: Unpack[SharedOptions],
    ) -> None:
        reading = ReadingOptions(
            id_seed=id_seed, stream_reasoning=stream_reasoning, policies=policies, keep_raw=keep_raw, strict=strict
        )
        self._begin(fmt, resolve_request(tools, for_reading=True, **asked), prompt, reading)

    @classmethod
    def from_request(
        cls,
        fmt: FormatSpec | HasSpec,
        request: ResolvedRequest,
        *,
        prompt: str | None = None,
        reading: ReadingOptions = ReadingOptions(),  # noqa: B008  # frozen
    ) -> StreamParser:
        """A parser for a resolved request.

        Args:
            fmt: the format: a `ChatFormat`, or its spec.
            request: the resolved request, from which the grammar of the turn is built, too.
            prompt: the rendered prompt, whose tail shows what is open already; None: there is none.
            reading: the options of reading.

        Raises:
            FormatError: `E-FORMAT-UNSUPPORTED`, the format uses something that the parser does not support.
        """
        parser = cls.__new__(cls)
        parser._begin(fmt, request, prompt, reading)
        return parser

    def _begin(
        self, fmt: FormatSpec | HasSpec, request: ResolvedRequest, prompt: str | None, reading: ReadingOptions
    ) -> None:
        spec = fmt if isinstance(fmt, FormatSpec) else fmt.spec
        self._request = request
        compiled = compiled_format(spec, calls=request.allows_calls)
        self._texts = compiled.texts
        self._out = Emitter(
            reading.policies,
            inline=request.reasoning_in_content or (spec.reasoning is not None and spec.reasoning.to == "content"),
            join=spec.reasoning.join if spec.reasoning is not None else "",
            stream_reasoning=reading.stream_reasoning,
            unfence=request.response_format.is_json,
            id_seed=secrets.token_hex(16) if reading.id_seed is None else reading.id_seed,
            strict=reading.strict,
        )
        by_name = None if request.tools is None else {tool.name: tool for tool in request.tools}
        self._turn = turn_reader(ReaderParts(compiled, self._out, request.limits, reading.policies, by_name))
        self._out.tell_markers(MarkerWatch(compiled.told, compiled.told_pieces, self._turn.window))
        self.start_state = read_prompt_tail(self._turn, spec, self._out, request, prompt)
        self._decoder = TextDecoder()
        self._end_of_turn = EndOfTurn(compiled.turn_ends)
        self._raw = TextBuffer() if reading.keep_raw else None
        self._length = 0
        self._finished = False
        self._fast_path: FastPath | None = None
        self._tokens: KnownTokens | None = None
        self._partials: dict[int | None, PartialValue] = {}

    @property
    def raw(self) -> str:
        """All text fed so far, decoded; empty if it is not kept."""
        return "" if self._raw is None else self._raw.value()

    @property
    def position(self) -> int:
        """The number of code points read so far: the index in `raw` of the next one, even if `raw` is not kept."""
        fast = self._fast_path
        return self._length if fast is None else fast.position + len(fast.held)

    @property
    def reads_json(self) -> bool:
        """Whether the response format is JSON."""
        return self._request.response_format.is_json

    @property
    def message(self) -> Message:
        """The message so far."""
        fast = self._fast_path
        passes_arguments = fast is not None and fast.passed and fast.run.kind == "arguments"
        found = self._out.assembler.message(open_end=fast.position if fast is not None and passes_arguments else None)
        if not self.reads_json:
            return found
        return with_reader(found, functools.partial(parsed_answer, self._request.response_format, self.finish_reason))

    @property
    def state(self) -> ReadingNow:
        """What is being read.

        * `"reasoning"`: reasoning is open.
        * `"content"`: the answer, or nothing yet. Text that may be a call is content until its commit point.
        * `"call"`: a call has begun and is not closed yet.
        * `"end"`: the turn is over, or `finish` was called.
        """
        return "end" if self._finished else self._turn.state.now

    def explain(self) -> ParserPlace:
        """The position in the message: the field that the next character belongs to, and its schema.

        It reads the arguments of an open call again, so the time is linear in their length. `GrammarMatcher.explain`
        says what may come next.
        """
        tools = self._request.tools
        by_name = None if tools is None else {tool.name: tool for tool in tools}
        return place_of(self.message, self.state, by_name, self._turn.pending)

    def partial(self, index: int | None = None) -> PartialValue | None:
        """The arguments of a call so far as a value, with open strings marked, and the field that broke its schema.

        It is the same object at each call, grows with the text, and reads only what is new.

        Args:
            index: 0-based number of the call, as in `message.tool_calls` and the events; None: the answer, if the
                response format is JSON.

        Returns:
            None if there is no such call yet, or no answer.
        """
        known = self._partials.get(index)
        if known is not None or (index is None and not self.reads_json) or (index is not None and index < 0):
            return known
        # From now on, new text goes to the reader as well.
        self._leave_fast_path()
        reader = self._out.assembler.watch(index)
        if reader is None:
            return None
        schema = self._request.response_format.schema if index is None else self._schema_of_call(index)
        found = self._partials[index] = PartialValue(reader, schema)
        return found

    def _schema_of_call(self, index: int) -> Any:
        name = self._out.assembler.name_of(index)
        return next((tool.parameters for tool in self._request.tools or () if tool.name == name), None)

    @property
    def finish_reason(self) -> FinishReason | None:
        """Why the message is over, as in `MessageEnd`; None before `finish`."""
        return self._out.finish_reason

    def feed(self, chunk: str | bytes, *, special: bool | None = None) -> list[Event]:
        """Read a chunk.

        Args:
            chunk: text, or bytes that may be cut anywhere.
            special: True: the chunk is one special token; False: it holds none, so that text that looks like a marker
                is text; None: unknown.

        Raises:
            ArgumentError: `E-ARGUMENT-FINISHED`, after `finish`; `E-ARGUMENT-CHUNK`, neither text nor bytes.
            ParseError: the text is malformed, and the parser is strict.
        """
        fast, kind = self._fast_path, _kind(special)
        if fast is not None:
            if fast.kind is kind and chunk and isinstance(chunk, str):
                events = fast.take(chunk)
                if events is not None:
                    if self._raw is not None:
                        self._raw.write(chunk)
                    return events
            self._leave_fast_path()
        self._check_open()
        if kind is None:
            given = type(special).__name__
            raise ArgumentTypeError("E-ARGUMENT-TYPE", f"special is True, False or None, not a {given}")
        if special:
            self._read(self._decoder.flush(), UNKNOWN)
        self._read(self._decoder.decode(chunk), kind)
        self._enter_fast_path()
        return self._out.take()

    def feed_tokens(self, ids: Sequence[int], info: Vocabulary) -> list[Event]:
        """Read tokens: special tokens are markers, text tokens that look like one are text.

        The vocabulary's end-of-turn tokens are not part of the message if nothing follows them.

        Raises:
            ArgumentError: `E-ARGUMENT-FINISHED`, after `finish`.
            ParseError: the text is malformed, and the parser is strict.
        """
        tokens = self._tokens
        if tokens is None or tokens.info is not info:
            tokens = self._tokens = KnownTokens(info, self._texts)
        fast = self._fast_path
        if fast is not None:
            if fast.kind is tokens.kind:
                text = tokens.text_of(ids)
                events = fast.take(text) if text else None
                if text and events is not None:
                    if self._raw is not None:
                        self._raw.write(text)
                    return events
            self._leave_fast_path()
        self._check_open()
        self._turn.window.vocabulary = tokens.kind
        plain: list[bytes] = []
        for token in ids:
            if token not in tokens.special:
                plain.append(info.token_bytes(token))
                continue
            self._read(self._decoder.decode(b"".join(plain)) + self._decoder.flush(), tokens.kind)
            plain = []
            text = tokens.special[token]
            if token in tokens.ends:
                self._note(text)
                self._end_of_turn.feed_token(text)
            else:
                self._read(text, SPECIAL)
        self._read(self._decoder.decode(b"".join(plain)), tokens.kind)
        self._enter_fast_path()
        return self._out.take()

    def finish(self, reason: str | None = None) -> list[Event]:
        """End the stream and pass on text that was held back. A second call returns nothing.

        Args:
            reason: the engine's stop reason; `length` if a limit cut the text off.

        Raises:
            ParseError: the text is malformed, and the parser is strict.
        """
        if self._finished:
            return []
        self._leave_fast_path()
        self._finished = True
        turn = self._turn
        self._out.stopped(reason)
        self._read(self._decoder.flush(), UNKNOWN)
        self._pass_on(self._end_of_turn.finish())
        was_reasoning = turn.state.is_reasoning
        turn.read(final=True)
        cut = turn.ends_in_reasoning or (was_reasoning and turn.state.is_reasoning)
        self._out.message_end(self._length, inside_reasoning=cut)
        return self._out.take()

    def _enter_fast_path(self) -> None:
        """Let the fast path take the next chunks, if the turn reader is in a plain run."""
        run = self._turn.plain_run() if not self._decoder.begun and self._end_of_turn.is_empty else None
        sink = None if run is None else self._out.sink(run.kind)
        if run is not None and sink is not None:
            kind = self._turn.window.last_kind
            self._fast_path = FastPath(run, sink, self._length, kind=kind, ends=self._end_of_turn)

    def _leave_fast_path(self) -> None:
        """Account for the text that the fast path has passed on."""
        fast, self._fast_path = self._fast_path, None
        if fast is None:
            return
        if fast.passed:
            self._length = fast.position
            self._turn.skip(fast.run, fast.passed)
            self._out.assembler.passed(fast.run.kind, fast.position)
        if fast.held:
            self._length += len(fast.held)
            self._pass_on(self._end_of_turn.feed(fast.held, fast.kind))

    def _check_open(self) -> None:
        if self._finished:
            raise ArgumentError("E-ARGUMENT-FINISHED", "the parser was finished", hint="each message needs a new one")

    def _read(self, text: str, kind: TokenKind) -> None:
        if text:
            self._note(text)
            self._pass_on(self._end_of_turn.feed(text, kind))

    def _note(self, text: str) -> None:
        self._length += len(text)
        if self._raw is not None:
            self._raw.write(text)

    def _pass_on(self, pieces: list[tuple[str, TokenKind]]) -> None:
        for text, kind in pieces:
            self._turn.window.push(text, kind)
            self._turn.read()


def _kind(special: object) -> TokenKind | None:
    """The kind of a chunk that `feed` gets with this value of `special`; None if the value is invalid."""
    return UNKNOWN if special is None else SPECIAL if special is True else TEXT if special is False else None


@options_named
def start_state(fmt: FormatSpec | HasSpec, *, prompt: str | None = None, **asked: Unpack[SharedOptions]) -> StartState:
    """What the prompt has opened before the first character of output.

    Args:
        fmt: the format, or its spec.
        prompt: the rendered prompt; None: there is none.
        **asked: see `syntagma.request.SharedOptions`.

    Raises:
        ArgumentError: `E-ARGUMENT-REASONING`, or one of `tools_from`.
        FormatError: `E-FORMAT-UNSUPPORTED`, the format uses something that the parser does not support.
    """
    return StreamParser(fmt, prompt=prompt, id_seed="", **asked).start_state
