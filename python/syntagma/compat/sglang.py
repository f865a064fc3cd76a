"""The names of SGLang's parsers, over the formats of this package.

A server that was written for `ReasoningParser` and `FunctionCallParser` changes one import. Every registered format,
alias and plug-in is a name here; nothing is written for one model.

What differs: results never depend on how the text is cut; text around a call, and around one that is malformed, is
kept; a call that the end cuts is passed on as far as it came; `parse_stream_end` returns what is still held back, and
must be called.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

import msgspec

from syntagma import formats
from syntagma.errors import ArgumentError, FormatError
from syntagma.events import ContentDelta, Event, ReasoningDelta, ToolCallDelta, ToolCallStart
from syntagma.format_schema import FormatSpec, ReasoningSpec
from syntagma.formats import ChatFormat
from syntagma.messages import Tool, ToolLike
from syntagma.parsing import StreamParser
from syntagma.templates import Prompt

__all__ = [
    "FunctionCallDetector",
    "FunctionCallParser",
    "JsonArrayParser",
    "ReasoningDetector",
    "ReasoningParser",
    "StreamingParseResult",
    "ToolCallItem",
]

_Detector = TypeVar("_Detector")


class ToolCallItem(msgspec.Struct):
    """A call, or a piece of one while it streams.

    Attributes:
        tool_index: ordinal of the call in its message, from 0.
        name: the tool's name; None in every piece but the first.
        parameters: the arguments as JSON text, or a further fragment of it.
    """

    tool_index: int
    name: str | None = None
    parameters: str = ""


class StreamingParseResult(msgspec.Struct):
    """What a piece of text came to.

    Attributes:
        normal_text: text for the next parser, or for the user.
        reasoning_text: reasoning.
        calls: calls, or pieces of them.
    """

    normal_text: str = ""
    reasoning_text: str = ""
    calls: list[ToolCallItem] = msgspec.field(default_factory=list)


class ReasoningDetector:
    """Separates reasoning from the rest; calls stay in the rest as they were written.

    Args:
        model_type: name or alias of a format that has reasoning.
        stream_reasoning: False: reasoning comes in one piece, when it is over.
        force_reasoning: True: the text begins inside reasoning (except in formats with several blocks of reasoning);
            False: it does not, where the format lets a request say so; None: as the format has it.
        continue_final_message: the model goes on from `previous_content`, which says whether reasoning is open.
        previous_content: what the message held before.
        **request: further flags of the request that a template reads, such as `reasoning_effort`.

    Raises:
        ArgumentError: `E-FORMAT-UNKNOWN`, no such format; `E-ARGUMENT-FORMAT`, a format without reasoning.
    """

    def __init__(
        self,
        model_type: str,
        stream_reasoning: bool = True,
        force_reasoning: bool | None = None,
        continue_final_message: bool = False,
        previous_content: str = "",
        **request: Any,
    ) -> None:
        self._format = _format(model_type)
        self._spec = _reasoning_of(self._format.spec, model_type)
        self._stream_reasoning = stream_reasoning
        self._force = force_reasoning
        self._previous = Prompt(previous_content, 0) if continue_final_message and previous_content else None
        self._request = dict(request)
        self._parser: StreamParser | None = None

    @property
    def think_start_token(self) -> str:
        """The marker that opens reasoning, without the whitespace around it."""
        return self._spec.block[0].opener.strip()

    @property
    def think_end_token(self) -> str:
        """The marker that closes reasoning, without the whitespace around it."""
        return self._spec.block[0].closer.strip()

    def detect_and_parse(self, text: str) -> StreamingParseResult:
        """A whole text."""
        parser = self._new_parser()
        return _result([*parser.feed(text), *parser.finish()])

    def parse_streaming_increment(self, new_text: str | bytes) -> StreamingParseResult:
        """More of the text that streams in."""
        if self._parser is None:
            self._parser = self._new_parser()
        return _result(self._parser.feed(new_text))

    def finish(self) -> StreamingParseResult:
        """The stream is over: what was held back."""
        return _result((self._parser or self._new_parser()).finish())

    def _new_parser(self) -> StreamParser:
        spec, variables = self._spec, dict(self._request)
        opened = self._force is True and not spec.repeat
        if self._force is False and spec.start == "open":
            variables.update(_off_switch(spec))
        return self._format.parser(
            [],
            prompt=self._previous,
            reasoning="open" if opened and self._previous is None else "auto",
            stream_reasoning=self._stream_reasoning,
            template_kwargs=variables,
            keep_raw=False,
        )


class FunctionCallDetector:
    """Finds the calls in text; reasoning stays in the rest, with its tags.

    Args:
        tool_call_parser: name or alias of a format that has calls.

    Raises:
        ArgumentError: `E-FORMAT-UNKNOWN`, no such format; `E-ARGUMENT-FORMAT`, a format without calls.
    """

    def __init__(self, tool_call_parser: str) -> None:
        self._format = _format(tool_call_parser)
        if self._format.spec.tools is None:
            raise ArgumentError(
                "E-ARGUMENT-FORMAT",
                f"the format {tool_call_parser!r} has no calls",
                hint="FunctionCallParser.ToolCallParserEnum lists those that have",
            )
        self._parser: StreamParser | None = None

    @property
    def bot_token(self) -> str:
        """What begins a call as the format writes it; empty where nothing does."""
        return next(iter(self._format.triggers), "")

    def has_tool_call(self, text: str) -> bool:
        """Whether a call begins anywhere in `text`."""
        parser = self._new_parser(None)
        return any(isinstance(event, ToolCallStart) for event in (*parser.feed(text), *parser.finish()))

    def detect_and_parse(self, text: str, tools: Sequence[Any] | None) -> StreamingParseResult:
        """A whole text."""
        parser = self._new_parser(tools)
        streamed = _result([*parser.feed(text), *parser.finish()])
        whole: list[ToolCallItem] = []
        for piece in streamed.calls:
            if piece.name is not None:
                whole.append(ToolCallItem(piece.tool_index, piece.name))
            whole[-1].parameters += piece.parameters
        return StreamingParseResult(streamed.normal_text, calls=whole)

    def parse_streaming_increment(self, new_text: str | bytes, tools: Sequence[Any] | None) -> StreamingParseResult:
        """More of the text that streams in; the tools of the first piece count."""
        if self._parser is None:
            self._parser = self._new_parser(tools)
        return _result(self._parser.feed(new_text))

    def finish(self, tools: Sequence[Any] | None = None) -> StreamingParseResult:
        """The stream is over: what was held back."""
        return _result((self._parser or self._new_parser(tools)).finish())

    def _new_parser(self, tools: Sequence[Any] | None) -> StreamParser:
        return self._format.parser(_tools(tools), reasoning_format="none", keep_raw=False)


class _Detectors(Mapping[str, Callable[..., _Detector]], Generic[_Detector]):
    """Every name and alias whose format has a part → what makes its detector. Read-only; looked up when asked."""

    def __init__(self, part: str, make: Callable[..., _Detector]) -> None:
        self._part = part
        self._make = make

    def __getitem__(self, name: str) -> Callable[..., _Detector]:
        try:
            spec = formats.get(name).spec
        except FormatError as error:
            raise KeyError(name) from error
        if getattr(spec, self._part) is None:
            raise KeyError(name)
        return functools.partial(self._make, name)

    def __iter__(self) -> Iterator[str]:
        for name in formats.names():
            spec = formats.get(name).spec
            if getattr(spec, self._part) is not None:
                yield from (name, *spec.aliases)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class ReasoningParser:
    """Reasoning and the rest of what a model writes; arguments as `ReasoningDetector`'s.

    Raises:
        ArgumentError: `E-FORMAT-UNKNOWN`, no such format; `E-ARGUMENT-FORMAT`, no name, or a format without reasoning.
    """

    DetectorMap: ClassVar[Mapping[str, Callable[..., ReasoningDetector]]] = _Detectors("reasoning", ReasoningDetector)

    def __init__(
        self,
        model_type: str | None = None,
        stream_reasoning: bool = True,
        force_reasoning: bool | None = None,
        continue_final_message: bool = False,
        previous_content: str = "",
        **request: Any,
    ) -> None:
        if model_type is None:
            raise ArgumentError("E-ARGUMENT-FORMAT", "a reasoning parser needs the name of a format")
        self.detector = ReasoningDetector(
            model_type, stream_reasoning, force_reasoning, continue_final_message, previous_content, **request
        )

    def parse_non_stream(self, full_text: str) -> tuple[str, str]:
        """`(reasoning_text, normal_text)` of a whole text."""
        found = self.detector.detect_and_parse(full_text)
        return found.reasoning_text, found.normal_text

    def parse_stream_chunk(self, chunk_text: str | bytes) -> tuple[str, str]:
        """`(reasoning_text, normal_text)` that this chunk adds."""
        found = self.detector.parse_streaming_increment(chunk_text)
        return found.reasoning_text, found.normal_text

    def parse_stream_end(self) -> tuple[str, str]:
        """`(reasoning_text, normal_text)` that was held back until the end."""
        found = self.detector.finish()
        return found.reasoning_text, found.normal_text


class FunctionCallParser:
    """The calls in what a model writes.

    Args:
        tools: the request's tools: dictionaries as OpenAI has them, or objects with `model_dump()`; None: calls are
            read untyped.
        tool_call_parser: name or alias of a format.

    Raises:
        ArgumentError: `E-FORMAT-UNKNOWN`, no such format; `E-ARGUMENT-FORMAT`, a format without calls; or what is
            wrong with the tools.
    """

    ToolCallParserEnum: ClassVar[Mapping[str, Callable[..., FunctionCallDetector]]] = _Detectors(
        "tools", FunctionCallDetector
    )

    def __init__(self, tools: Sequence[Any] | None, tool_call_parser: str) -> None:
        self.tools = tools
        self.detector = FunctionCallDetector(tool_call_parser)

    def has_tool_call(self, text: str) -> bool:
        """Whether a call begins anywhere in `text`."""
        return self.detector.has_tool_call(text)

    def parse_non_stream(self, full_text: str) -> tuple[str, list[ToolCallItem]]:
        """`(normal_text, calls)` of a whole text, each call in one item."""
        found = self.detector.detect_and_parse(full_text, self.tools)
        return found.normal_text, found.calls

    def parse_stream_chunk(self, chunk_text: str | bytes) -> tuple[str, list[ToolCallItem]]:
        """`(normal_text, pieces)` that this chunk adds; the first piece of a call has its name, the others do not."""
        found = self.detector.parse_streaming_increment(chunk_text, self.tools)
        return found.normal_text, found.calls

    def parse_stream_end(self) -> tuple[str, list[ToolCallItem]]:
        """`(normal_text, pieces)` that were held back until the end."""
        found = self.detector.finish(self.tools)
        return found.normal_text, found.calls


class JsonArrayParser(FunctionCallParser):
    """The calls of an answer that is a JSON array of `{"name", "parameters"}`, as `tool_choice="required"` makes it.

    Args:
        tools: the request's tools; None: calls are read untyped.
    """

    def __init__(self, tools: Sequence[Any] | None = None) -> None:
        super().__init__(tools, "json_array")

    def parse_streaming_increment(
        self, new_text: str | bytes, tools: Sequence[Any] | None = None
    ) -> StreamingParseResult:
        """More of the text that streams in."""
        return self.detector.parse_streaming_increment(new_text, self.tools if tools is None else tools)


def _format(name: str) -> ChatFormat:
    """A format by name; an unknown one is a `ValueError`, as callers expect it."""
    try:
        return formats.get(name)
    except FormatError as error:
        if error.code != "E-FORMAT-UNKNOWN":
            raise
        raise ArgumentError(error.code, error.message, hint=error.hint) from error


def _reasoning_of(spec: FormatSpec, name: str) -> ReasoningSpec:
    if spec.reasoning is None:
        raise ArgumentError(
            "E-ARGUMENT-FORMAT",
            f"the format {name!r} has no reasoning",
            hint="ReasoningParser.DetectorMap lists those that have",
        )
    return spec.reasoning


def _off_switch(spec: ReasoningSpec) -> dict[str, Any]:
    """The template variable, if there is one, that keeps reasoning closed."""
    for variable, states in spec.switch.items():
        if states.get("false") in ("off", "closed"):
            return {variable: False}
    return {}


def _tools(tools: Sequence[Any] | None) -> list[ToolLike] | None:
    if tools is None:
        return None
    return [tool if isinstance(tool, Tool | Mapping) else tool.model_dump() for tool in tools]


def _result(events: list[Event]) -> StreamingParseResult:
    result = StreamingParseResult()
    for event in events:
        if isinstance(event, ContentDelta):
            result.normal_text += event.text
        elif isinstance(event, ReasoningDelta):
            result.reasoning_text += event.text
        elif isinstance(event, ToolCallStart):
            result.calls.append(ToolCallItem(event.index, event.name))
        elif isinstance(event, ToolCallDelta):
            result.calls.append(ToolCallItem(event.index, None, event.arguments))
    return result
