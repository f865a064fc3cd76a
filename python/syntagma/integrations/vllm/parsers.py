"""A tool parser and a reasoning parser for vLLM, for any format."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import Any

from vllm.entrypoints.generate.base.protocol import DeltaMessage, ExtractedToolCallInformation, FunctionCall, ToolCall
from vllm.exceptions import VLLMValidationError
from vllm.reasoning import ReasoningParser
from vllm.sampling_params import StructuredOutputsParams
from vllm.tool_parsers import ToolParser

from syntagma.errors import SyntagmaError
from syntagma.events import ContentDelta, Event, ReasoningDelta, ToolCallStart, to_openai
from syntagma.formats import ChatFormat
from syntagma.integrations.engine_format import engine_format
from syntagma.integrations.vllm.request import asked_of, declared_tools, turn_grammar
from syntagma.integrations.vllm.turn import SharedTurn
from syntagma.parsing import StreamParser

__all__ = ["SyntagmaReasoningParser", "SyntagmaToolParser"]


class _Waiting(threading.local):
    """The last created reasoning parser. vLLM creates the tool parser of the same turn directly after it."""

    tokenizer: Any = None
    turn: SharedTurn | None = None


_WAITING = _Waiting()


class SyntagmaReasoningParser(ReasoningParser):
    """Reads the reasoning of a turn.

    Attributes:
        fmt: the format; None: that of `engine_format`.
    """

    fmt: ChatFormat | None = None
    engine_based_streaming = True  # vLLM calls `finish_streaming` only of such parsers

    def __init__(self, tokenizer: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(tokenizer, *args, **kwargs)
        self._turn = SharedTurn(self.fmt or engine_format(tokenizer), kwargs.get("chat_template_kwargs"))
        self._parser: StreamParser | None = None
        self._over = False
        _WAITING.tokenizer, _WAITING.turn = tokenizer, self._turn

    @property
    def reasoning_start_str(self) -> str | None:
        """The opener of reasoning."""
        reasoning = self._turn.fmt.spec.reasoning
        return reasoning.block[0].opener or None if reasoning is not None else None

    @property
    def reasoning_end_str(self) -> str | None:
        """The closer of reasoning."""
        reasoning = self._turn.fmt.spec.reasoning
        return reasoning.block[0].closer or None if reasoning is not None else None

    def set_prompt_token_ids(self, prompt_token_ids: Sequence[int]) -> None:
        """Set the rendered prompt."""
        self._turn.prompt = _decoded(self.model_tokenizer, prompt_token_ids)

    def adjust_initial_state_from_prompt(self, prompt_token_ids: Sequence[int]) -> None:
        """Set the rendered prompt, before the first token of a stream."""
        self.set_prompt_token_ids(prompt_token_ids)

    def is_reasoning_end(self, input_ids: Sequence[int]) -> bool:
        """Whether reasoning has ended, or is off, after the tokens of a prompt, or of a prompt and output."""
        text = _decoded(self.model_tokenizer, input_ids)
        if self._turn.prompt is None and self._parser is None:
            self._turn.prompt = text
        return self._turn.reasoning_is_over(text)

    def is_reasoning_end_streaming(self, input_ids: Sequence[int], delta_ids: Iterable[int]) -> bool:  # noqa: ARG002
        """Like `is_reasoning_end`, while an output streams."""
        return self._turn.reasoning_is_over(_decoded(self.model_tokenizer, input_ids))

    def extract_content_ids(self, input_ids: list[int]) -> list[int]:
        """The tokens from the first one that is not reasoning."""
        parser = self._turn.parser([])
        for index, token in enumerate(input_ids):
            if _is_over(parser.feed(_decoded(self.model_tokenizer, [token]))):
                return input_ids[index:]
        return []

    def count_reasoning_tokens(self, token_ids: Sequence[int]) -> int:
        """The number of tokens of an output that are reasoning."""
        parser, count = self._turn.parser([]), 0
        for token in token_ids:
            events = parser.feed(_decoded(self.model_tokenizer, [token]))
            count += parser.state == "reasoning" or any(isinstance(one, ReasoningDelta) for one in events)
        return count

    def adjust_request(self, request: Any) -> Any:
        """Constrain the answer, unless this package's tool parser does it for the whole turn."""
        return request if self._turn.paired or request.tools else _constrained(request, self._turn)

    def extract_reasoning(self, model_output: str, request: Any) -> tuple[str | None, str | None]:
        """The reasoning and the content of a whole output."""
        turn = self._turn
        if not turn.paired:
            message = _read(turn.parser([]), model_output)
        else:
            message = turn.message = _read(_parser_for(request, turn), model_output)
        return message.reasoning_content, message.content

    def extract_reasoning_streaming(  # noqa: PLR0917  # as vLLM calls it
        self,
        previous_text: str,  # noqa: ARG002
        current_text: str,  # noqa: ARG002
        delta_text: str,
        previous_token_ids: Sequence[int],  # noqa: ARG002
        current_token_ids: Sequence[int],  # noqa: ARG002
        delta_token_ids: Sequence[int],  # noqa: ARG002
    ) -> DeltaMessage | None:
        """Read more text. Text after reasoning is left to the tool parser, if there is one."""
        turn = self._turn
        if self._parser is None:
            self._parser = turn.parser(None if turn.paired else [])
        events = self._parser.feed(delta_text)
        turn.read += delta_text
        self._over = _is_over(events)
        if turn.paired and self._over:
            return None
        turn.handed_out += sum(len(one.text) for one in events if isinstance(one, ReasoningDelta))
        return _delta(events)

    def has_engine_confirmed_reasoning_end(self) -> bool:
        """Whether the last text contained content or a call."""
        return self._over

    def finish_streaming(self) -> DeltaMessage | None:
        """The text withheld until the end of the output. After the end of reasoning, the tool parser returns it."""
        if self._parser is None or (self._over and self._turn.paired):
            return None
        return _delta(self._parser.finish())


class SyntagmaToolParser(ToolParser):
    """Reads calls and the answer, and constrains the whole turn to its grammar.

    Attributes:
        fmt: the format; None: that of `engine_format`.
    """

    fmt: ChatFormat | None = None
    supports_required_and_named = False  # required calls are also written in the model's format
    engine_based_streaming = True  # vLLM calls `finish_streaming` only of such parsers
    skip_reasoning_parsing = False
    """set by vLLM if no reasoning parser is chosen; then reasoning stays in the content"""

    def __init__(self, tokenizer: Any, tools: Any = None, **_: Any) -> None:
        super().__init__(tokenizer, tools)
        turn, _WAITING.turn = _WAITING.turn, None
        if turn is None or _WAITING.tokenizer is not tokenizer:
            turn = SharedTurn(self.fmt or engine_format(tokenizer), None)
        else:
            turn.paired = True
        self._turn = turn
        self._parser: StreamParser | None = None

    def adjust_request(self, request: Any) -> Any:
        """Constrain the turn to the request: calls, their schemas, and the client's structured output."""
        return _constrained(request, self._turn)

    def extract_tool_calls(self, model_output: str, request: Any) -> ExtractedToolCallInformation:
        """The calls and the content of a whole output."""
        message = self._turn.message
        if message is None:
            message = _read(self._new_parser(request), model_output)
        calls = [
            ToolCall(id=call.id, function=FunctionCall(name=call.name, arguments=call.arguments))
            for call in message.tool_calls
        ]
        return ExtractedToolCallInformation(tools_called=bool(calls), tool_calls=calls, content=message.content)

    def extract_tool_calls_streaming(  # noqa: PLR0917  # as vLLM calls it
        self,
        previous_text: str,  # noqa: ARG002
        current_text: str,  # noqa: ARG002
        delta_text: str,
        previous_token_ids: Sequence[int],  # noqa: ARG002
        current_token_ids: Sequence[int],  # noqa: ARG002
        delta_token_ids: Sequence[int],  # noqa: ARG002
        request: Any,
    ) -> DeltaMessage | None:
        """Read more text."""
        if self._parser is None:
            self._parser = self._new_parser(request)
            delta_text = self._turn.read or delta_text
        return _delta(self._turn.without_handed_out(self._parser.feed(delta_text)))

    def finish_streaming(self) -> DeltaMessage | None:
        """The text withheld until the end of the output."""
        return None if self._parser is None else _delta(self._parser.finish())

    def _new_parser(self, request: Any) -> StreamParser:
        return _parser_for(request, self._turn, inline=self.skip_reasoning_parsing)


def _parser_for(request: Any, turn: SharedTurn, *, inline: bool = False) -> StreamParser:
    asked = asked_of(request, turn.template_kwargs)
    if inline:
        asked["reasoning_format"] = "none"
    return turn.parser(declared_tools(request), **asked)


def _constrained(request: Any, turn: SharedTurn) -> Any:
    """The request with the grammar of its turn in place of its own constraints.

    Raises:
        VLLMValidationError: the request is invalid or cannot be enforced; vLLM answers with status 400.
    """
    request.skip_special_tokens = False
    if hasattr(request, "spaces_between_special_tokens"):
        request.spaces_between_special_tokens = False
    try:
        held = turn_grammar(turn.fmt, request, prompt=turn.prompt, template_kwargs=turn.template_kwargs)
    except SyntagmaError as error:
        raise VLLMValidationError(str(error), parameter=error.pointer) from error
    if held is not None:
        request.structured_outputs = StructuredOutputsParams(**held)
        setattr(request, "response_format" if hasattr(request, "response_format") else "text", None)
        # With this flag, the engine enforces the grammar from the first token on, not only after reasoning.
        request._grammar_from_parser = True
    return request


def _read(parser: StreamParser, text: str) -> Any:
    parser.feed(text)
    parser.finish()
    return parser.message


def _is_over(events: Sequence[Event]) -> bool:
    return any(isinstance(one, ContentDelta | ToolCallStart) for one in events)


def _delta(events: Sequence[Event]) -> DeltaMessage | None:
    """Events as a `DeltaMessage`. Fields are passed to the constructor, because vLLM serialises no others."""
    delta = to_openai(events, reasoning_field="reasoning")
    return DeltaMessage(**delta) if delta else None


def _decoded(tokenizer: Any, token_ids: Sequence[int]) -> str:
    return str(tokenizer.decode(list(token_ids), skip_special_tokens=False))
