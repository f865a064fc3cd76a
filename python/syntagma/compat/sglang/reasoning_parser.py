"""`ReasoningParser`: separates the reasoning in a model's output from the rest, which keeps calls as written."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import msgspec

from syntagma.compat.sglang.named_formats import DetectorMap, format_with
from syntagma.errors import ArgumentError
from syntagma.events import ContentDelta, Event, ReasoningDelta
from syntagma.format_schema import FormatSpec, Pattern, ReasoningSpec, kept, used_markers
from syntagma.format_schema.facts import interrupts
from syntagma.formats import ChatFormat
from syntagma.parsing import StreamParser
from syntagma.templates import Prompt

__all__ = [
    "BaseReasoningFormatDetector",
    "FormatReasoningDetector",
    "ReasoningDetector",
    "ReasoningParser",
    "StreamingParseResult",
]


@dataclass
class StreamingParseResult:
    """The result of parsing a text or a chunk.

    Attributes:
        normal_text: the rest, for the next parser or the user.
        reasoning_text: the reasoning.
    """

    normal_text: str = ""
    reasoning_text: str = ""

    def __post_init__(self) -> None:
        self.normal_text, self.reasoning_text = self.normal_text or "", self.reasoning_text or ""


class BaseReasoningFormatDetector:
    """Separates reasoning from the rest.

    A subclass passes two tokens to `super().__init__` and inherits the reader. A subclass whose reasoning looks
    different overrides `chat_format` or does its own reading.

    Args:
        think_start_token: the text that opens reasoning.
        think_end_token: the text that closes it.
        force_reasoning: the text begins inside reasoning; if the model writes an opener anyway, it is removed.
        stream_reasoning: False: reasoning is returned at once when it is over.
        continue_final_message: the model continues `previous_content`, which decides whether reasoning is open.
        previous_content: the message so far.
        tool_start_token: text that ends reasoning without a closer and stays in the rest; None: nothing does.

    Attributes:
        previous_count: the number of characters in `previous_content`.
    """

    def __init__(  # noqa: PLR0917  # as in SGLang
        self,
        think_start_token: str,
        think_end_token: str,
        force_reasoning: bool = False,
        stream_reasoning: bool = True,
        continue_final_message: bool = False,
        previous_content: str = "",
        *,
        tool_start_token: str | None = None,
    ) -> None:
        self.think_start_token = think_start_token
        self.think_end_token = think_end_token
        self.force_reasoning = force_reasoning
        self.stream_reasoning = stream_reasoning
        self.tool_start_token = tool_start_token
        self.continue_final_message = continue_final_message
        self.previous_content = previous_content if continue_final_message else ""
        self.previous_count = len(self.previous_content)
        self._in_reasoning = force_reasoning
        if think_start_token and think_start_token in self.previous_content:
            self._in_reasoning = True
        if think_end_token and think_end_token in self.previous_content:
            self._in_reasoning = False
        self._began_in_reasoning = False
        self._buffer = ""
        self._parser: StreamParser | None = None

    @property
    def chat_format(self) -> ChatFormat:
        """The format of the reasoning; here it is made from the tokens.

        Raises:
            FormatError: no format can be made from them.
        """
        return _format_of(self.think_start_token, self.think_end_token, self.tool_start_token)

    def detect_and_parse(self, text: str) -> StreamingParseResult:
        """Parse a whole text."""
        parser = self._new_parser()
        return _result([*parser.feed(text), *parser.finish()])

    def parse_streaming_increment(self, new_text: str | bytes) -> StreamingParseResult:
        """Parse the next chunk of a stream, after any text that a subclass put in `_buffer`."""
        if self._parser is None:
            self._parser, self._began_in_reasoning = self._new_parser(), self._in_reasoning
        held, self._buffer = self._buffer, ""
        events = self._parser.feed(held) if held else []
        found = _result([*events, *self._parser.feed(new_text)])
        self._in_reasoning = self._parser.state == "reasoning"
        return found

    def finish(self) -> StreamingParseResult:
        """End the stream and return what was held back. Text left in `_buffer` by a subclass counts as text."""
        held, self._buffer = self._buffer, ""
        if self._parser is not None:
            return _result([*self._parser.feed(held), *self._parser.finish()])
        return StreamingParseResult(held)

    def _new_parser(self) -> StreamParser:
        inside = self._in_reasoning if self._parser is None else self._began_in_reasoning
        return self.chat_format.parser(
            [],
            reasoning="open" if inside else "closed",
            stream_reasoning=self.stream_reasoning,
            keep_raw=False,
        )


class FormatReasoningDetector(BaseReasoningFormatDetector):
    """A detector for the format of its class.

    Args:
        stream_reasoning: False: reasoning is returned at once when it is over.
        force_reasoning: True: the text begins inside reasoning (except in formats with several blocks of reasoning);
            False: it does not, if the format allows a request to turn reasoning off; None: as the format defines.
        continue_final_message: the model continues `previous_content`, which decides whether reasoning is open.
        previous_content: the message so far.
        **request: other flags of the request that a template reads, such as `reasoning_effort`.

    Attributes:
        format: the format of all detectors of a class, or its name; None in this class.

    Raises:
        ArgumentError: `E-FORMAT-UNKNOWN`, an unknown format; `E-ARGUMENT-FORMAT`, a format without reasoning, or none.
    """

    format: ClassVar[ChatFormat | str | None] = None

    def __init__(
        self,
        stream_reasoning: bool = True,
        force_reasoning: bool | None = None,
        continue_final_message: bool = False,
        previous_content: str = "",
        **request: Any,
    ) -> None:
        self._begin(self.format, stream_reasoning, force_reasoning, continue_final_message, previous_content, request)

    def _begin(  # noqa: PLR0917  # the arguments of both constructors
        self,
        given: ChatFormat | str | None,
        stream_reasoning: bool,
        force_reasoning: bool | None,
        continue_final_message: bool,
        previous_content: str,
        request: dict[str, Any],
    ) -> None:
        self._format = format_with("reasoning", given)
        block = self._spec.block[0]
        BaseReasoningFormatDetector.__init__(
            self,
            block.opener.strip(),
            block.closer.strip(),
            bool(force_reasoning),
            stream_reasoning,
            continue_final_message,
            previous_content,
        )
        self._force = force_reasoning
        self._request = request
        self._in_reasoning = self._new_parser().state == "reasoning"

    @property
    def chat_format(self) -> ChatFormat:
        """The format; the tokens come from its first block of reasoning, without the whitespace around them."""
        return self._format

    @property
    def _spec(self) -> ReasoningSpec:
        spec = self._format.spec.reasoning
        assert spec is not None
        return spec

    def _new_parser(self) -> StreamParser:
        spec, variables = self._spec, dict(self._request)
        previous = Prompt(self.previous_content, 0) if self.previous_content else None
        opened = self._force is True and not spec.repeat
        if self._force is False and spec.start == "open":
            variables.update(_off_switch(spec))
        return _without_calls(self._format.spec).parser(
            [],
            prompt=previous,
            reasoning="open" if opened and previous is None else "auto",
            stream_reasoning=self.stream_reasoning,
            template_kwargs=variables,
            keep_raw=False,
        )


class ReasoningDetector(FormatReasoningDetector):
    """A detector for any format; the arguments after the format are those of `FormatReasoningDetector`.

    Args:
        model_type: a format that has reasoning, or its name or an alias.
        stream_reasoning: see `FormatReasoningDetector`, also for the following.
        force_reasoning: the same.
        continue_final_message: the same.
        previous_content: the same.
        **request: the same.
    """

    def __init__(
        self,
        model_type: ChatFormat | str,
        stream_reasoning: bool = True,
        force_reasoning: bool | None = None,
        continue_final_message: bool = False,
        previous_content: str = "",
        **request: Any,
    ) -> None:
        self._begin(model_type, stream_reasoning, force_reasoning, continue_final_message, previous_content, request)


class ReasoningParser:
    """Separates the reasoning in a model's output from the rest.

    Args:
        model_type: a format that has reasoning, its name or an alias, or a name in `DetectorMap`.
        stream_reasoning: see `FormatReasoningDetector`, also for the following. A registered class receives
            `stream_reasoning`, and the others only if they are set.
        force_reasoning: the same.
        continue_final_message: the same.
        previous_content: the same.
        **request: the same.

    Attributes:
        DetectorMap: names → detector classes. It has every format with reasoning; others can be set.
        detector: the detector.

    Raises:
        ArgumentError: `E-FORMAT-UNKNOWN`, an unknown format; `E-ARGUMENT-FORMAT`, no name, or a format without
            reasoning.
    """

    DetectorMap: ClassVar[DetectorMap[BaseReasoningFormatDetector]] = DetectorMap(
        "reasoning", cast("type[BaseReasoningFormatDetector]", FormatReasoningDetector)
    )

    def __init__(
        self,
        model_type: ChatFormat | str | None = None,
        stream_reasoning: bool = True,
        force_reasoning: bool | None = None,
        continue_final_message: bool = False,
        previous_content: str = "",
        **request: Any,
    ) -> None:
        if model_type is None:
            raise ArgumentError("E-ARGUMENT-FORMAT", "a reasoning parser needs the name of a format")
        if isinstance(model_type, str) and model_type in self.DetectorMap:
            said: dict[str, Any] = dict(request)
            if force_reasoning is not None:
                said["force_reasoning"] = force_reasoning
            if continue_final_message:
                said.update(continue_final_message=True, previous_content=previous_content)
            make: Any = self.DetectorMap[model_type]
            self.detector: BaseReasoningFormatDetector = make(stream_reasoning=stream_reasoning, **said)
        else:
            self.detector = ReasoningDetector(
                model_type, stream_reasoning, force_reasoning, continue_final_message, previous_content, **request
            )

    def parse_non_stream(self, full_text: str) -> tuple[str, str]:
        """Parse a whole text into `(reasoning_text, normal_text)`."""
        found = self.detector.detect_and_parse(full_text)
        return found.reasoning_text, found.normal_text

    def parse_stream_chunk(self, chunk_text: str | bytes) -> tuple[str, str]:
        """Parse a chunk; `(reasoning_text, normal_text)` that it adds."""
        found = self.detector.parse_streaming_increment(chunk_text)
        return found.reasoning_text, found.normal_text

    def parse_stream_end(self) -> tuple[str, str]:
        """End the stream; `(reasoning_text, normal_text)` that was held back."""
        found = self.detector.finish()
        return found.reasoning_text, found.normal_text


__getattr__ = ReasoningParser.DetectorMap.class_named(__name__)


@functools.lru_cache(maxsize=256)
def _format_of(opener: str, closer: str, interrupt: str | None) -> ChatFormat:
    block = Pattern(opener + "{reasoning}" + closer)
    spec = ReasoningSpec(block=(block,), interrupt=(interrupt,) if interrupt else ())
    return ChatFormat(FormatSpec(reasoning=spec))


@kept
def _without_calls(spec: FormatSpec) -> ChatFormat:
    """A format whose calls are text; what opens them still ends its reasoning."""
    if spec.messages is not None or spec.reasoning is None:
        return ChatFormat(spec)
    ending = msgspec.structs.replace(spec.reasoning, interrupt=interrupts(spec))
    alone = msgspec.structs.replace(spec, tools=None, reasoning=ending, markers=())
    return ChatFormat(msgspec.structs.replace(alone, markers=used_markers(alone, spec.markers)))


def _off_switch(spec: ReasoningSpec) -> dict[str, Any]:
    """The template variable that turns reasoning off, if there is one."""
    for variable, states in spec.switch.items():
        if states.get("false") in ("off", "closed"):
            return {variable: False}
    return {}


def _result(events: Iterable[Event]) -> StreamingParseResult:
    normal: list[str] = []
    reasoning: list[str] = []
    for event in events:
        if isinstance(event, ContentDelta):
            normal.append(event.text)
        elif isinstance(event, ReasoningDelta):
            reasoning.append(event.text)
    return StreamingParseResult("".join(normal), "".join(reasoning))
