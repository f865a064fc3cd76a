"""Detectors of calls: the base classes of those for single formats, and of those that users write."""

from __future__ import annotations

import functools
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

from syntagma.compat.sglang.call_stream import CallLog, CallStream, joined, partial_end
from syntagma.compat.sglang.core_types import GetInfoFunc, StreamingParseResult, StructureInfo, ToolCallItem
from syntagma.compat.sglang.environ import UnknownTool, unknown_tool
from syntagma.compat.sglang.named_formats import format_with
from syntagma.compat.sglang.protocol import ToolChoice, as_mapping, as_tools
from syntagma.format_schema import Envelope, FormatSpec, Pattern, ToolsSpec
from syntagma.formats import ChatFormat
from syntagma.formats.call_frame import call_frame, has_fixed_frame
from syntagma.grammars import StructuralTag

__all__ = ["BaseFormatDetector", "FunctionCallDetector"]

_CALLS = "{calls}"
_ENVELOPES = ('{"name": "{name}", "arguments": {arguments}}', '{"name": "{name}", "parameters": {arguments}}')


class BaseFormatDetector(ABC):
    """Finds calls in text and defines how they are written.

    A subclass sets `bot_token`, `eot_token` and `tool_call_separator`. It inherits a reader for calls that are JSON
    objects with `name` and `arguments` (or `parameters`), one or more between the two tokens. A subclass whose calls
    look different overrides `chat_format` or does its own reading. Every method, also an abstract one, can be called
    through `super()`.

    Attributes:
        bot_token: the text that begins a call or a group of calls.
        eot_token: the text that ends it.
        tool_call_separator: the text between the calls of a group.
        unknown_tool: what happens to calls of undeclared tools; the default comes from the environment.
    """

    def __init__(self) -> None:
        self._taken: str | None = None
        """text that a subclass wrote to `_buffer` and the stream has not read; None: nothing"""
        self._stream: CallStream | None = None
        self._log = CallLog()
        self.unknown_tool: UnknownTool = unknown_tool()
        self.bot_token = ""
        self.eot_token = ""
        self.tool_call_separator = ", "

    @property
    def chat_format(self) -> ChatFormat:
        """The format of the calls; here it is made from the three tokens.

        Raises:
            FormatError: no format can be made from them.
        """
        return _format_of(self.bot_token, self.eot_token, self.tool_call_separator)

    @property
    def prev_tool_call_arr(self) -> list[dict[str, Any]]:
        """`{"name", "arguments"}` of each call of the stream; the arguments are empty until they are complete."""
        return self._log.calls

    @prev_tool_call_arr.setter
    def prev_tool_call_arr(self, calls: list[dict[str, Any]]) -> None:
        self._log.calls = calls

    @property
    def streamed_args_for_tool(self) -> list[str]:
        """The arguments passed on so far for each call of the stream, as JSON text."""
        return self._log.arguments

    @streamed_args_for_tool.setter
    def streamed_args_for_tool(self, arguments: list[str]) -> None:
        self._log.arguments = arguments

    @property
    def current_tool_id(self) -> int:
        """The index of the call being streamed, or of the next one; -1 before the first."""
        return self._log.current

    @current_tool_id.setter
    def current_tool_id(self, ordinal: int) -> None:
        self._log.current = ordinal

    @property
    def current_tool_name_sent(self) -> bool:
        """Whether a call is being streamed."""
        return self._log.name_sent

    @current_tool_name_sent.setter
    def current_tool_name_sent(self, sent: bool) -> None:
        self._log.name_sent = sent

    @abstractmethod
    def has_tool_call(self, text: str) -> bool:
        """Whether a call begins anywhere in `text`."""
        stream = CallStream(self.chat_format, None, "pass", CallLog())
        return any(found.calls for found in (stream.feed(text), stream.finish()))

    @abstractmethod
    def detect_and_parse(self, text: str, tools: Sequence[Any] | None) -> StreamingParseResult:
        """Parse a whole text into the text outside calls, and the calls, each in one item.

        Args:
            text: the text.
            tools: the request's tools; None: calls are read untyped; empty: nothing is read as a call.
        """
        stream = CallStream(self.chat_format, tools, self.unknown_tool, CallLog())
        texts: list[str] = []
        fragments: list[list[str]] = []
        names: list[str] = []
        for found in (stream.feed(text), stream.finish()):
            texts.append(found.normal_text)
            for piece in found.calls:
                if piece.name is not None:
                    names.append(piece.name)
                    fragments.append([])
                fragments[-1].append(piece.parameters)
        pairs = zip(names, fragments, strict=True)
        whole = [ToolCallItem(at, name, "".join(pieces)) for at, (name, pieces) in enumerate(pairs)]
        return StreamingParseResult("".join(texts), whole)

    def parse_streaming_increment(self, new_text: str | bytes, tools: Sequence[Any] | None) -> StreamingParseResult:
        """Parse the next chunk of a stream. The tools of the first chunk apply to all.

        The first item of a call has its name, the others have fragments of its arguments.
        """
        if self._stream is None:
            reads_itself = type(self).parse_streaming_increment is not BaseFormatDetector.parse_streaming_increment
            closer = self.eot_token.strip() if reads_itself else None
            self._stream = CallStream(self.chat_format, tools, self.unknown_tool, self._log, closer)
        if isinstance(new_text, str):
            new_text = self._unseen(self._stream) + new_text
        return self._stream.feed(new_text)

    def finish(self, tools: Sequence[Any] | None = None) -> StreamingParseResult:  # noqa: ARG002  # as in SGLang
        """End the stream and return what was held back. Text that only a subclass put in `_buffer` counts as text."""
        if self._stream is None:
            held, self._taken = self._taken or "", None
            return StreamingParseResult(held)
        found = StreamingParseResult()
        for more in (self._stream.feed(self._unseen(self._stream)), self._stream.finish()):
            joined(found, more)
        return found

    @property
    def _buffer(self) -> str:
        """The text of a call being streamed, or that may become one. A subclass that does its own reading may set it.

        The next `super().parse_streaming_increment` reads what was added; what was removed is not read.
        """
        if self._taken is not None:
            return self._taken
        return "" if self._stream is None else self._stream.pending

    @_buffer.setter
    def _buffer(self, text: str) -> None:
        self._taken = text

    def _unseen(self, stream: CallStream) -> str:
        """The part of `_buffer` that the stream has not read; all of it, if it does not continue what was read."""
        text, self._taken = self._taken, None
        if text is None:
            return ""
        if text.startswith(stream.pending):
            return text[len(stream.pending) :]
        stream.restart()
        return text

    def supports_structural_tag(self) -> bool:
        """Whether `structure_info` describes calls completely: as text around one JSON object."""
        return True

    @abstractmethod
    def structure_info(self) -> GetInfoFunc:
        """What gives the text around the arguments for the name of a tool.

        Raises:
            ArgumentError: `E-ARGUMENT-FORMAT`, when it is called, for a format without such a text.
        """
        return functools.partial(_structure_of, self.chat_format)

    def get_structural_tag(
        self,
        tools: Sequence[Any] | None,
        *,
        tool_choice: ToolChoice | str | Mapping[str, Any] = "auto",
        parallel_tool_calls: bool = True,
        thinking_mode: bool = False,
    ) -> StructuralTag:
        """A structural tag for the whole answer, in any format: text, and calls as the format writes them.

        Args:
            tools: the request's tools; None: calls of any name; empty: none.
            tool_choice: `auto`, `none`, `required`, a tool's name, a `ToolChoice`, or OpenAI's dictionaries.
            parallel_tool_calls: whether several calls are allowed.
            thinking_mode: the answer begins with reasoning, as the format defines; False: reasoning is over.

        Raises:
            RequestError, ArgumentError, LimitError, FormatError, GrammarError: as `ChatFormat.structural_tag`.
        """
        return self.chat_format.structural_tag(
            as_tools(tools),
            tool_choice=cast("Any", as_mapping(tool_choice)),
            parallel_tool_calls=parallel_tool_calls,
            reasoning="auto" if thinking_mode else "off",
        )

    def parse_base_json(self, action: Any, tools: Sequence[Any] | None) -> list[ToolCallItem]:
        """The calls in decoded JSON: an object with `name` and `arguments` (or `parameters`), or a list of them.

        `tool_index` is the index of the tool in `tools`, or -1; in other methods it is the index of the call.
        """
        declared = self._get_tool_indices(tools)
        found = []
        for one in action if isinstance(action, list) else [action]:
            name = one.get("name") if isinstance(one, Mapping) else None
            if isinstance(name, str) and (name in declared or self.unknown_tool == "pass"):
                arguments = one.get("parameters") or one.get("arguments") or {}
                found.append(ToolCallItem(declared.get(name, -1), name, json.dumps(arguments, ensure_ascii=False)))
        return found

    def _get_tool_indices(self, tools: Sequence[Any] | None) -> dict[str, int]:
        """The name of each tool → its index in the list."""
        return {tool.name: at for at, tool in enumerate(as_tools(tools) or ())}

    def _ends_with_partial_token(self, buffer: str, bot_token: str) -> int:
        """How many characters at the end of `buffer` may begin `bot_token`; a complete token does not count."""
        return partial_end(buffer, bot_token)


class FunctionCallDetector(BaseFormatDetector):
    """A detector for a format.

    Args:
        tool_call_parser: the format, or its name or an alias; None: that of the class.

    Attributes:
        format: the format of all detectors of a class, or its name; None in this class.

    Raises:
        ArgumentError: `E-FORMAT-UNKNOWN`, an unknown format; `E-ARGUMENT-FORMAT`, a format without calls, or none.
    """

    format: ClassVar[ChatFormat | str | None] = None

    def __init__(self, tool_call_parser: ChatFormat | str | None = None) -> None:
        super().__init__()
        self._format = format_with("tools", tool_call_parser if tool_call_parser is not None else self.format)
        tools = self._format.spec.tools
        assert tools is not None
        grouped = tools.section[0].text != _CALLS
        self.bot_token = next(iter(self._format.triggers), "")
        self.eot_token = (tools.section[0].closer if grouped else tools.call[0].closer).strip()
        self.tool_call_separator = tools.separator

    @property
    def chat_format(self) -> ChatFormat:
        """The format, from which the three tokens are taken."""
        return self._format

    def has_tool_call(self, text: str) -> bool:
        """Whether a call begins anywhere in `text`."""
        return super().has_tool_call(text)

    def detect_and_parse(self, text: str, tools: Sequence[Any] | None) -> StreamingParseResult:
        """Parse a whole text into the text outside calls, and the calls, each in one item."""
        return super().detect_and_parse(text, tools)

    def supports_structural_tag(self) -> bool:
        """Whether a call is one JSON object, in text that is the same for every call of a tool."""
        return has_fixed_frame(self._format)

    def structure_info(self) -> GetInfoFunc:
        """What gives the text around the arguments for the name of a tool.

        Raises:
            ArgumentError: `E-ARGUMENT-FORMAT`, when it is called, for a format without such a text.
        """
        return super().structure_info()


def _structure_of(fmt: ChatFormat, name: str) -> StructureInfo:
    return StructureInfo(*call_frame(fmt, name))


@functools.lru_cache(maxsize=256)
def _format_of(bot_token: str, eot_token: str, separator: str) -> ChatFormat:
    tools = ToolsSpec(
        section=(Pattern(f"{bot_token}{_CALLS}{eot_token}"),),
        call=(Pattern("{envelope}"),),
        envelope=tuple(map(Envelope, _ENVELOPES)),
        separator=separator,
    )
    return ChatFormat(FormatSpec(tools=tools))
