"""`JsonArrayParser`: reads the calls of a model that was constrained to an array of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from syntagma.compat.sglang.core_types import StreamingParseResult
from syntagma.compat.sglang.function_call_parser import FunctionCallParser

__all__ = ["JsonArrayParser"]


class JsonArrayParser(FunctionCallParser):
    """Reads the calls of an answer that is a JSON array of `{"name", "parameters"}`, as for `tool_choice="required"`.

    Args:
        tools: the request's tools; None: calls are read untyped.
    """

    def __init__(self, tools: Sequence[Any] | None = None) -> None:
        super().__init__(tools, "json_array")

    def parse_streaming_increment(
        self, new_text: str | bytes, tools: Sequence[Any] | None = None
    ) -> StreamingParseResult:
        """Parse the next chunk of a stream."""
        return self.detector.parse_streaming_increment(new_text, self.tools if tools is None else tools)
