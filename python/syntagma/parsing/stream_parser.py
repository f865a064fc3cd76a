"""The one reader of model output: raw text, in any chunks → events → a message."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence, Set
from typing import Any, Literal, Protocol

from syntagma.errors import ArgumentError
from syntagma.events import Event
from syntagma.format_schema import FormatSpec
from syntagma.limits import Limits
from syntagma.messages import Message, ToolChoice, ToolLike, tools_from
from syntagma.parsing.call_states import ReaderParts
from syntagma.parsing.compiled_format import CompiledFormat
from syntagma.parsing.emitter import Emitter
from syntagma.parsing.end_of_turn import EndOfTurn
from syntagma.parsing.fast_path import Lane, Straight
from syntagma.parsing.message_machine import machine_for
from syntagma.parsing.policies import Policies
from syntagma.parsing.prompt_tail import ReasoningChoice, enter
from syntagma.parsing.text.text_buffer import TextBuffer
from syntagma.parsing.text.text_decoder import TextDecoder

__all__ = ["StreamParser", "Vocabulary"]


class Vocabulary(Protocol):
    """What the parser needs of a `TokenizerInfo`."""

    @property
    def special_token_ids(self) -> Sequence[int] | Set[int]:
        """Ids of the special tokens."""
        ...

    def token_bytes(self, token_id: int, /) -> bytes:
        """The bytes of a token."""
        ...


class StreamParser:
    """Reads one message as a format writes it.

    Sans-I/O: text goes in, events come out. Events do not depend on how the text is cut, and none is ever taken back.
    Bad text never raises, unless `strict`.

    Args:
        spec: the format.
        tools: the tools that were declared; None: undeclared, calls are read untyped; an empty list: none is allowed,
            nothing is read as a call.
        prompt: the rendered prompt, whose tail says what is open already: an `sg.Prompt`, or a plain string.
        id_seed: what the ids of calls without one are made of; random unless given.
        reasoning: the state at the start; "auto": by the prompt, the template's variables and the format.
        reasoning_format: "none" leaves thoughts in content, with their tags; "deepseek" is "auto".
        stream_reasoning: False: thoughts come in one piece, when they are over.
        tool_choice: as in the request; "none": nothing is read as a call.
        response_format: as in the request; where it asks for JSON, a code fence around the answer is taken off. An
            answer with a shape is not searched for calls unless tools were declared.
        template_kwargs: the template's variables.
        policies: choices of the lenient reading.
        history_calls: calls in the conversation so far, for formats that count them.
        keep_raw: keep the text, for `raw`.
        strict: raise at the first oddity instead of recovering.
        limits: bounds on headers and arguments.

    Raises:
        FormatError: `E-FORMAT-UNSUPPORTED`, the format uses something that the reader does not know.
        ArgumentError: `E-ARGUMENT-REASONING`, `E-ARGUMENT-REASONING-FORMAT`, or one of `tools_from`.
    """

    def __init__(
        self,
        spec: FormatSpec,
        tools: Sequence[ToolLike] | None = None,
        *,
        prompt: str | None = None,
        id_seed: str | None = None,
        reasoning: ReasoningChoice = "auto",
        reasoning_format: Literal["auto", "none", "deepseek"] = "auto",
        stream_reasoning: bool = True,
        tool_choice: ToolChoice = "auto",
        response_format: Mapping[str, Any] | None = None,
        template_kwargs: Mapping[str, Any] | None = None,
        policies: Policies = Policies(),  # noqa: B008  # frozen
        history_calls: int = 0,  # noqa: ARG002  # running numbers are read and ignored
        keep_raw: bool = True,
        strict: bool = False,
        limits: Limits | None = None,
    ) -> None:
        if reasoning_format not in ("auto", "none", "deepseek"):
            raise ArgumentError(
                "E-ARGUMENT-REASONING-FORMAT",
                f"reasoning_format={reasoning_format!r}",
                hint='one of "auto", "none", "deepseek"',
            )
        declared = tools_from(tools)
        by_name = None if declared is None else {tool.name: tool for tool in declared}
        inline = reasoning_format == "none" or (spec.reasoning is not None and spec.reasoning.to == "content")
        shaped = _is_shaped(response_format)
        no_calls = by_name == {} or tool_choice == "none" or (shaped and by_name is None)
        compiled = CompiledFormat(spec, calls=not no_calls)
        self._out = Emitter(
            policies,
            inline=inline,
            stream_reasoning=stream_reasoning,
            unfence=_asks_for_json(response_format),
            id_seed=secrets.token_hex(16) if id_seed is None else id_seed,
            strict=strict,
        )
        self._machine = machine_for(ReaderParts(compiled, self._out, limits or Limits(), policies, by_name))
        enter(
            self._machine,
            compiled,
            self._out,
            prompt=prompt,
            reasoning=reasoning,
            inline=reasoning_format == "none",
            template_kwargs=template_kwargs,
        )
        self._decoder = TextDecoder()
        self._end_of_turn = EndOfTurn(spec.end_of_turn)
        self._raw = TextBuffer() if keep_raw else None
        self._length = 0
        self._finished = False
        self._lane: Lane | None = None
        self._way: Straight | None = None
        self._vocabulary: tuple[Vocabulary, frozenset[int], frozenset[str]] | None = None

    @property
    def raw(self) -> str:
        """Everything that was fed so far, decoded; empty if it is not kept."""
        return "" if self._raw is None else self._raw.value()

    @property
    def message(self) -> Message:
        """The message as far as it was read."""
        self._leave_lane()
        return self._out.assembler.message()

    def feed(self, chunk: str | bytes, *, special: bool | None = None) -> list[Event]:
        """Read more.

        Args:
            chunk: text, or bytes that may be cut anywhere.
            special: True: the chunk is one special token; False: it holds none, and text that looks like a marker is
                text; None: unknown.

        Raises:
            ArgumentError: `E-ARGUMENT-FINISHED`, after `finish`; `E-ARGUMENT-CHUNK`, neither text nor bytes.
            ParseError: bad text, only if the parser is strict.
        """
        lane = self._lane
        if lane is not None:
            if special is lane.identity and chunk and isinstance(chunk, str):
                event = lane.take(chunk)
                if event is not None:
                    if self._raw is not None:
                        self._raw.write(chunk)
                    return [event]
            self._leave_lane()
        self._check_open()
        if special:
            self._text(self._decoder.flush(), None)
        self._text(self._decoder.decode(chunk), special)
        self._enter_lane()
        return self._out.take()

    def feed_tokens(self, ids: Sequence[int], info: Vocabulary) -> list[Event]:
        """Read more, as tokens: special tokens are markers, text tokens that look like one are text.

        Raises:
            ArgumentError: `E-ARGUMENT-FINISHED`, after `finish`.
            ParseError: bad text, only if the parser is strict.
        """
        self._leave_lane()
        self._check_open()
        if self._vocabulary is None or self._vocabulary[0] is not info:
            special = frozenset(info.special_token_ids)
            texts = frozenset(info.token_bytes(token).decode("utf-8", "replace") for token in special)
            self._vocabulary = (info, special, texts)
        _, special, texts = self._vocabulary
        plain: list[bytes] = []
        for token in ids:
            if token not in special:
                plain.append(info.token_bytes(token))
                continue
            self._text(self._decoder.decode(b"".join(plain)) + self._decoder.flush(), texts)
            plain = []
            self._text(info.token_bytes(token).decode("utf-8", "replace"), True)
        self._text(self._decoder.decode(b"".join(plain)), texts)
        return self._out.take()

    def finish(self, reason: str | None = None) -> list[Event]:
        """The stream is over: everything held is released. A second call returns nothing.

        Args:
            reason: the engine's stop reason, `length` where a limit cut the text.

        Raises:
            ParseError: bad text, only if the parser is strict.
        """
        if self._finished:
            return []
        self._leave_lane()
        self._finished = True
        machine = self._machine
        self._text(self._decoder.flush(), None)
        self._pass_on(self._end_of_turn.finish())
        inside = machine.phase == "reasoning"
        machine.read(final=True)
        cut = machine.cut or (inside and machine.phase == "reasoning")
        self._out.message_end(reason, self._length, inside_reasoning=cut)
        return self._out.take()

    def _enter_lane(self) -> None:
        """Let text go straight on, if the reader is in the middle of some."""
        way = self._machine.straight() if self._decoder.is_empty and self._end_of_turn.is_empty else None
        course = None if way is None else self._out.course(way.kind)
        if way is not None and course is not None:
            identity = self._machine.window.identity
            self._way = way
            self._lane = Lane(way, course, self._length, identity=identity, end=self._end_of_turn.first)

    def _leave_lane(self) -> None:
        lane, self._lane = self._lane, None
        if lane is not None and self._way is not None and lane.passed:
            self._length += lane.passed
            self._machine.passed(self._way, lane.passed)
            self._out.assembler.passed(self._way.kind, self._length)

    def _check_open(self) -> None:
        if self._finished:
            raise ArgumentError("E-ARGUMENT-FINISHED", "the parser was finished", hint="each message needs a new one")

    def _text(self, text: str, identity: bool | Set[str] | None) -> None:
        if not text:
            return
        self._length += len(text)
        if self._raw is not None:
            self._raw.write(text)
        self._pass_on(self._end_of_turn.feed(text, identity))

    def _pass_on(self, pieces: list[tuple[str, bool | Set[str] | None]]) -> None:
        for text, identity in pieces:
            self._machine.window.push(text, identity)
            self._machine.read()


def _is_shaped(response_format: Mapping[str, Any] | None) -> bool:
    """Whether the answer has a shape of its own, so that a marker in it is a part of it."""
    return response_format is not None and response_format.get("type", "text") != "text"


def _asks_for_json(response_format: Mapping[str, Any] | None) -> bool:
    return response_format is not None and response_format.get("type") in ("json_object", "json_schema")
