"""The names of SGLang's parsers and constraints, implemented with the formats of this package.

A server written for `ReasoningParser` and `FunctionCallParser` changes one import. Every registered format, alias and
plug-in is a name here; no code is specific to one model. The modules have the names of SGLang's files, so that
`sglang.srt.function_call.core_types` becomes `syntagma.compat.sglang.core_types`. SGLang uses two names twice:
`StreamingParseResult` and `GptOssDetector` are the classes for calls here, and those for reasoning in
`reasoning_parser`.

What differs: results never depend on how the text is split into chunks. Text around a call is kept, also around a
malformed one. A call that is cut off at the end is passed on as far as it came. `parse_stream_end` returns what is
still held back, and must be called.
"""

from __future__ import annotations

from typing import Any

from syntagma.compat.sglang import function_call_parser, reasoning_parser
from syntagma.compat.sglang.base_format_detector import BaseFormatDetector, FunctionCallDetector
from syntagma.compat.sglang.core_types import StreamingParseResult, StructureInfo, ToolCallItem
from syntagma.compat.sglang.environ import ToolStrictLevel
from syntagma.compat.sglang.function_call_parser import FunctionCallParser
from syntagma.compat.sglang.grammar_backend import GrammarBackend, ReasonerGrammarBackend
from syntagma.compat.sglang.json_array_parser import JsonArrayParser
from syntagma.compat.sglang.protocol import (
    Function,
    LegacyStructuralTagResponseFormat,
    StructuresResponseFormat,
    Tool,
    ToolChoice,
    ToolChoiceFuncName,
)
from syntagma.compat.sglang.reasoner_grammar_backend import BaseGrammarObject, ReasonerGrammarObject, think_end_ids
from syntagma.compat.sglang.reasoning_parser import BaseReasoningFormatDetector, ReasoningDetector, ReasoningParser
from syntagma.compat.sglang.utils import get_json_schema_constraint

__all__ = [
    "BaseFormatDetector",
    "BaseGrammarObject",
    "BaseReasoningFormatDetector",
    "Function",
    "FunctionCallDetector",
    "FunctionCallParser",
    "GrammarBackend",
    "JsonArrayParser",
    "LegacyStructuralTagResponseFormat",
    "ReasonerGrammarBackend",
    "ReasonerGrammarObject",
    "ReasoningDetector",
    "ReasoningParser",
    "StreamingParseResult",
    "StructureInfo",
    "StructuresResponseFormat",
    "Tool",
    "ToolCallItem",
    "ToolChoice",
    "ToolChoiceFuncName",
    "ToolStrictLevel",
    "get_json_schema_constraint",
    "think_end_ids",
]


def __getattr__(name: str) -> Any:
    """The detector classes of single formats; where two have the same name, the one for calls."""
    try:
        return function_call_parser.__getattr__(name)
    except AttributeError:
        return reasoning_parser.__getattr__(name)
