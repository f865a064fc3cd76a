"""`FunctionCallParser`: finds the calls in a model's output, and makes the constraints for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeAlias, cast, get_args

from syntagma.compat.sglang.base_format_detector import BaseFormatDetector, FunctionCallDetector
from syntagma.compat.sglang.core_types import ToolCallItem
from syntagma.compat.sglang.environ import ToolStrictLevel, UnknownTool, tool_strict_level
from syntagma.compat.sglang.named_formats import DetectorMap, format_with
from syntagma.compat.sglang.protocol import (
    LegacyStructuralTagResponseFormat,
    StructuresResponseFormat,
    ToolChoice,
    as_tools,
)
from syntagma.compat.sglang.utils import read_tool_choice, schema_of_choice
from syntagma.errors import ArgumentError
from syntagma.formats import ChatFormat
from syntagma.messages import Tool

__all__ = ["FunctionCallParser", "ToolCallConstraint"]

ToolCallConstraint: TypeAlias = (
    tuple[Literal["structural_tag"], LegacyStructuralTagResponseFormat] | tuple[Literal["json_schema"], dict[str, Any]]
)
"""the kind of a constraint, and the constraint"""


class FunctionCallParser:
    """Finds the calls in a model's output.

    Args:
        tools: the request's tools: dictionaries as in OpenAI's API, `sg.Tool`, or objects with `model_dump()`; None:
            calls are read untyped; empty: nothing is read as a call.
        tool_call_parser: a format, its name or an alias, or a name in `ToolCallParserEnum`.
        tool_strict_level: when calls are constrained; None: the value of `SGLANG_TOOL_STRICT_LEVEL`.
        unknown_tool: what happens to calls of other tools: `pass` them on, leave their text in `content`, or `drop`
            them with a warning in the log; None: by `SGLANG_FORWARD_UNKNOWN_TOOLS`.

    Attributes:
        ToolCallParserEnum: names → detector classes. It has every format with calls; others can be set.
        detector: the detector.
        tools: the tools as given.
        tool_strict_level: when calls are constrained.

    Raises:
        ArgumentError: `E-FORMAT-UNKNOWN`, an unknown format; `E-ARGUMENT-FORMAT`, a format without calls;
            `E-ARGUMENT-VALUE`, an unknown level or policy; or `E-TOOL-…`, tools that are not valid.
    """

    ToolCallParserEnum: ClassVar[DetectorMap[BaseFormatDetector]] = DetectorMap(
        "tools", cast("type[BaseFormatDetector]", FunctionCallDetector)
    )

    def __init__(
        self,
        tools: Sequence[Any] | None,
        tool_call_parser: ChatFormat | str,
        *,
        tool_strict_level: int | None = None,
        unknown_tool: UnknownTool | None = None,
    ) -> None:
        self.tools = tools
        self.detector = self._new_detector(tool_call_parser)
        self.tool_strict_level = _level(tool_strict_level)
        if unknown_tool is not None:
            if unknown_tool not in get_args(UnknownTool):
                hint = "one of " + ", ".join(get_args(UnknownTool))
                raise ArgumentError("E-ARGUMENT-VALUE", f"unknown_tool={unknown_tool!r}", hint=hint)
            self.detector.unknown_tool = unknown_tool

    def _new_detector(self, given: ChatFormat | str) -> BaseFormatDetector:
        if isinstance(given, str) and given in self.ToolCallParserEnum:
            return self.ToolCallParserEnum[given]()
        return FunctionCallDetector(format_with("tools", given))

    def has_tool_call(self, text: str) -> bool:
        """Whether a call begins anywhere in `text`."""
        return self.detector.has_tool_call(text)

    def parse_non_stream(self, full_text: str) -> tuple[str, list[ToolCallItem]]:
        """Parse a whole text into `(normal_text, calls)`, each call in one item."""
        found = self.detector.detect_and_parse(full_text, self.tools)
        return found.normal_text, found.calls

    def parse_stream_chunk(self, chunk_text: str | bytes) -> tuple[str, list[ToolCallItem]]:
        """Parse a chunk; `(normal_text, items)` that it adds. Only the first item of a call has its name."""
        found = self.detector.parse_streaming_increment(chunk_text, self.tools)
        return found.normal_text, found.calls

    def parse_stream_end(self) -> tuple[str, list[ToolCallItem]]:
        """End the stream; `(normal_text, items)` that were held back."""
        found = self.detector.finish(self.tools)
        return found.normal_text, found.calls

    def get_structure_tag(self) -> LegacyStructuralTagResponseFormat:
        """A structural tag with a structure for each tool: free text, and calls that fit the tool's parameters.

        Raises:
            ArgumentError: `E-ARGUMENT-FORMAT`, the detector has no `structure_info`.
        """
        return self._tag(as_tools(self.tools) or ())

    def get_structure_constraint(
        self, tool_choice: ToolChoice | str | Mapping[str, Any], parallel_tool_calls: bool = True
    ) -> ToolCallConstraint | None:
        """The constraint for a tool choice.

        Args:
            tool_choice: `auto`, `none`, `required`, a tool's name, a `ToolChoice`, or OpenAI's dictionaries.
            parallel_tool_calls: whether several calls are allowed if one is required.

        Returns:
            * `("structural_tag", tag)` if calls are allowed, the detector supports it, and a tool is strict or the
              level is at least `FUNCTION`;
            * `("json_schema", schema)` if a call is required: the answer is an array for `JsonArrayParser`;
            * None: nothing.

        Raises:
            RequestError: `E-REQUEST-TOOL-CHOICE`, a choice that is not valid, or of an undeclared tool.
        """
        choice = read_tool_choice(tool_choice, as_tools(self.tools) or ())
        schema = schema_of_choice(choice, parallel_tool_calls)
        if schema is not None:
            return "json_schema", schema
        tools = [tool for _, tool in choice.tools or ()]
        held = self.tool_strict_level >= ToolStrictLevel.FUNCTION or any(tool.strict for tool in tools)
        if choice.mode == "auto" and tools and held and self.detector.supports_structural_tag():
            return "structural_tag", self._tag(tools)
        return None

    def _tag(self, tools: Sequence[Tool]) -> LegacyStructuralTagResponseFormat:
        get_info = self.detector.structure_info()
        infos = [(tool, get_info(tool.name)) for tool in tools]
        structures = [
            StructuresResponseFormat(begin=info.begin, schema=tool.parameters or {"type": "object"}, end=info.end)
            for tool, info in infos
        ]
        triggers = list(dict.fromkeys(info.trigger for _, info in infos))
        return LegacyStructuralTagResponseFormat(structures=structures, triggers=triggers)


__getattr__ = FunctionCallParser.ToolCallParserEnum.class_named(__name__)


def _level(given: int | None) -> ToolStrictLevel:
    if given is None:
        return tool_strict_level()
    try:
        return ToolStrictLevel(given)
    except ValueError as error:
        raise ArgumentError("E-ARGUMENT-VALUE", f"tool_strict_level={given!r}", hint="0, 1 or 2") from error
