"""Detectors of calls and reasoning for SGLang, for any format.

They delegate to the detectors of `syntagma.compat.sglang`, and convert results to SGLang's own types.
"""

from __future__ import annotations

from typing import Any

from sglang.srt.function_call.base_format_detector import BaseFormatDetector
from sglang.srt.function_call.core_types import StreamingParseResult, StructureInfo, ToolCallItem
from sglang.srt.parser.reasoning_parser import BaseReasoningFormatDetector
from sglang.srt.parser.reasoning_parser import StreamingParseResult as ReasoningResult

from syntagma.compat.sglang import FunctionCallDetector, ReasoningDetector
from syntagma.formats import ChatFormat
from syntagma.integrations.engine_format import engine_format

__all__ = ["SyntagmaReasoningDetector", "SyntagmaToolDetector"]


class SyntagmaToolDetector(BaseFormatDetector):
    """Finds calls in the format of the model's template.

    Args:
        tokenizer: the model's tokenizer, which SGLang passes to detectors with such a parameter.
    """

    def __init__(self, tokenizer: Any = None) -> None:
        self._inner = FunctionCallDetector(engine_format(tokenizer))
        super().__init__()
        self.bot_token, self.eot_token = self._inner.bot_token, self._inner.eot_token
        self.tool_call_separator = self._inner.tool_call_separator

    @property
    def prev_tool_call_arr(self) -> list[dict[str, Any]]:
        """The calls of the stream so far, which the server reads."""
        return self._inner.prev_tool_call_arr

    @prev_tool_call_arr.setter
    def prev_tool_call_arr(self, calls: list[dict[str, Any]]) -> None:
        self._inner.prev_tool_call_arr = calls

    @property
    def streamed_args_for_tool(self) -> list[str]:
        """The arguments of each call, as far as they were returned."""
        return self._inner.streamed_args_for_tool

    @streamed_args_for_tool.setter
    def streamed_args_for_tool(self, arguments: list[str]) -> None:
        self._inner.streamed_args_for_tool = arguments

    @property
    def current_tool_id(self) -> int:
        """The index of the current or next call; -1 before the first."""
        return self._inner.current_tool_id

    @current_tool_id.setter
    def current_tool_id(self, ordinal: int) -> None:
        self._inner.current_tool_id = ordinal

    @property
    def current_tool_name_sent(self) -> bool:
        """Whether a call is streaming."""
        return self._inner.current_tool_name_sent

    @current_tool_name_sent.setter
    def current_tool_name_sent(self, sent: bool) -> None:
        self._inner.current_tool_name_sent = sent

    def has_tool_call(self, text: str) -> bool:
        """Whether a call begins anywhere in a text."""
        return self._inner.has_tool_call(text)

    def detect_and_parse(self, text: str, tools: Any) -> StreamingParseResult:
        """The calls of a whole text, and the rest of it."""
        return _calls(self._inner.detect_and_parse(text, tools))

    def parse_streaming_increment(self, new_text: str, tools: Any) -> StreamingParseResult:
        """Read more text of a stream."""
        return _calls(self._inner.parse_streaming_increment(new_text, tools))

    def finish(self, tools: Any) -> StreamingParseResult:
        """The text withheld until the end of the stream."""
        return _calls(self._inner.finish(tools))

    def supports_structural_tag(self) -> bool:
        """True, because required calls are also written in the model's format."""
        return True

    def structure_info(self) -> Any:
        """A function from a tool's name to the text around its arguments, for formats that have such a text."""
        around = self._inner.structure_info()

        def info(name: str) -> StructureInfo:
            found = around(name)
            return StructureInfo(begin=found.begin, end=found.end, trigger=found.trigger)

        return info

    def get_structural_tag(
        self,
        tools: Any = None,
        tool_choice: Any = "auto",
        thinking_mode: bool = False,
        parallel_tool_calls: bool = True,
    ) -> Any:
        """The structural tag of the turn: text, and calls in the model's format."""
        from xgrammar import StructuralTag

        tag = self._inner.get_structural_tag(
            tools, tool_choice=tool_choice, thinking_mode=thinking_mode, parallel_tool_calls=parallel_tool_calls
        )
        return StructuralTag.model_validate(tag)

    def get_auto_tool_call_structural_tag(
        self, tools: Any = None, thinking_mode: bool = False, parallel_tool_calls: bool = True
    ) -> Any:
        """The structural tag of a turn with optional calls, whose arguments follow the schemas; None without tools."""
        return self.get_structural_tag(tools, "auto", thinking_mode, parallel_tool_calls) if tools else None


class SyntagmaReasoningDetector(BaseReasoningFormatDetector):
    """Separates reasoning from the rest in the format of the model's template.

    Args:
        stream_reasoning: False: return reasoning in one piece, when it has ended.
        force_reasoning: whether the prompt has opened reasoning; None: unknown.
        continue_final_message: the model continues `previous_content`.
        previous_content: the text of the message so far.
        tokenizer: the model's tokenizer, which SGLang passes to detectors with such a parameter.
        force_nonempty_content: return reasoning as content if there is no content.
    """

    def __init__(
        self,
        stream_reasoning: bool = True,
        *,
        force_reasoning: bool | None = None,
        continue_final_message: bool = False,
        previous_content: str = "",
        tokenizer: Any = None,
        force_nonempty_content: bool = False,
    ) -> None:
        fmt = engine_format(tokenizer)
        inner = ReasoningDetector(fmt, stream_reasoning, force_reasoning, continue_final_message, previous_content)
        self._inner = inner
        super().__init__(
            inner.think_start_token,
            inner.think_end_token,
            force_reasoning=bool(force_reasoning),
            stream_reasoning=stream_reasoning,
            continue_final_message=continue_final_message,
            previous_content=previous_content,
            reasoning_default="always" if _opens(fmt) else None,
            force_nonempty_content=force_nonempty_content,
        )

    def detect_and_parse(self, text: str) -> ReasoningResult:
        """The reasoning of a whole text, and the rest of it."""
        found = self._inner.detect_and_parse(text)
        return self._result(found.normal_text, found.reasoning_text, whole=True)

    def parse_streaming_increment(self, new_text: str) -> ReasoningResult:
        """Read more text of a stream."""
        found = self._inner.parse_streaming_increment(new_text)
        return self._result(found.normal_text, found.reasoning_text)

    def finish(self) -> ReasoningResult:
        """The text withheld until the end of the stream."""
        found = self._inner.finish()
        return self._result(found.normal_text, found.reasoning_text)

    def _result(self, normal: str, reasoning: str, *, whole: bool = False) -> ReasoningResult:
        if whole and self._force_nonempty_content and not normal:
            normal, reasoning = reasoning, ""
        return ReasoningResult(normal_text=normal, reasoning_text=reasoning)


def _opens(fmt: ChatFormat) -> bool:
    """Whether prompts open reasoning by default."""
    return fmt.spec.reasoning is not None and fmt.spec.reasoning.start == "open"


def _calls(found: Any) -> StreamingParseResult:
    calls = [ToolCallItem(tool_index=one.tool_index, name=one.name, parameters=one.parameters) for one in found.calls]
    return StreamingParseResult(normal_text=found.normal_text, calls=calls)
