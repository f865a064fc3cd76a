"""`ReasoningParser`: reasoning and the rest of what a model writes; calls stay in the rest as they were written."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from syntagma.compat.sglang.named_formats import DetectorMap, format_with
from syntagma.errors import ArgumentError
from syntagma.events import ContentDelta, Event, ReasoningDelta
from syntagma.format_schema import FormatSpec, Pattern, ReasoningSpec
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
    """What a piece of text came to.

    Attributes:
        normal_text: the rest, for the next parser or for the user.
        reasoning_text: reasoning.
    """

    normal_text: str = ""
    reasoning_text: str = ""

    def __post_init__(self) -> None:
        self.normal_text, self.reasoning_text = self.normal_text or "", self.reasoning_text or ""


class BaseReasoningFormatDetector:
    """Separates reasoning from the rest.

    A subclass gives two tokens to `super().__init__`, and inherits how text is read. One whose reasoning looks
    different overrides `chat_format`, or reads by itself.

    Args:
        think_start_token: what opens reasoning.
        think_end_token: what closes it.
        force_reasoning: the text begins inside reasoning; an opener that is written all the same is taken off.
        stream_reasoning: False: reasoning comes in one piece, when it is over.
        continue_final_message: the model goes on from `previous_content`, which says whether reasoning is open.
        previous_content: what the message held before.
        tool_start_token: what ends reasoning without its closer, and stays in the rest; None: nothing.

    Attributes:
        previous_count: characters of `previous_content`.
    """

    def __init__(  # noqa: PLR0917  # as there
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
        self.stripped_think_start = False
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
        """How reasoning is written; here it is made of the tokens.

        Raises:
            FormatError: no format can be made of them.
        """
        return _format_of(self.think_start_token, self.think_end_token, self.tool_start_token)

    def detect_and_parse(self, text: str) -> StreamingParseResult:
        """A whole text."""
        parser = self._new_parser()
        return _result([*parser.feed(text), *parser.finish()])

    def parse_streaming_increment(self, new_text: str | bytes) -> StreamingParseResult:
        """More of the text that streams in, after what a subclass has put into `_buffer`."""
        if self._parser is None:
            self._parser, self._began_in_reasoning = self._new_parser(), self._in_reasoning
        held, self._buffer = self._buffer, ""
        events = self._parser.feed(held) if held else []
        found = _result([*events, *self._parser.feed(new_text)])
        self._in_reasoning = self._parser.state == "reasoning"
        return found

    def finish(self) -> StreamingParseResult:
        """The stream is over: what was held back. What a subclass still has in `_buffer` is text."""
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
    """A detector over the format that its class names.

    Args:
        stream_reasoning: False: reasoning comes in one piece, when it is over.
        force_reasoning: True: the text begins inside reasoning (except in formats with several blocks of reasoning);
            False: it does not, where the format lets a request say so; None: as the format has it.
        continue_final_message: the model goes on from `previous_content`, which says whether reasoning is open.
        previous_content: what the message held before.
        **request: further flags of the request that a template reads, such as `reasoning_effort`.

    Attributes:
        format: the format of all detectors of a class, or its name; None in this one.

    Raises:
        ArgumentError: `E-FORMAT-UNKNOWN`, no such format; `E-ARGUMENT-FORMAT`, a format without reasoning, or none.
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

    def _begin(  # noqa: PLR0917  # what both constructors pass on
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

    @property
    def chat_format(self) -> ChatFormat:
        """The format; the tokens are taken from its first block of reasoning, without the whitespace around them."""
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
        return self._format.parser(
            [],
            prompt=previous,
            reasoning="open" if opened and previous is None else "auto",
            stream_reasoning=self.stream_reasoning,
            template_kwargs=variables,
            keep_raw=False,
        )


class ReasoningDetector(FormatReasoningDetector):
    """A detector over any format; what follows the format is as `FormatReasoningDetector` has it.

    Args:
        model_type: a format that has reasoning, or its name or an alias.
        stream_reasoning: see `FormatReasoningDetector`, as all that follow.
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
    """Reasoning and the rest of what a model writes.

    Args:
        model_type: a format that has reasoning, its name or an alias, or a name in `DetectorMap`.
        stream_reasoning: see `FormatReasoningDetector`, as all that follow. A registered class is given
            `stream_reasoning`, and of the others those that say something.
        force_reasoning: the same.
        continue_final_message: the same.
        previous_content: the same.
        **request: the same.

    Attributes:
        DetectorMap: names → detector classes. Every format with reasoning is there; further ones can be set.
        detector: the detector.

    Raises:
        ArgumentError: `E-FORMAT-UNKNOWN`, no such format; `E-ARGUMENT-FORMAT`, no name, or a format without reasoning.
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


__getattr__ = ReasoningParser.DetectorMap.class_named(__name__)


@functools.lru_cache(maxsize=256)
def _format_of(opener: str, closer: str, interrupt: str | None) -> ChatFormat:
    block = Pattern(opener + "{reasoning}" + closer)
    spec = ReasoningSpec(block=(block,), interrupt=(interrupt,) if interrupt else ())
    return ChatFormat(FormatSpec(reasoning=spec))


def _off_switch(spec: ReasoningSpec) -> dict[str, Any]:
    """The template variable, if there is one, that keeps reasoning closed."""
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
