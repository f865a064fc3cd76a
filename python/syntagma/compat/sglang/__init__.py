"""The names of SGLang's parsers and of what constrains a model to their formats, over the formats of this package.

A server that was written for `ReasoningParser` and `FunctionCallParser` changes one import. Every registered format,
alias and plug-in is a name here; nothing is written for one model. The modules are called as the files there, so that
`sglang.srt.function_call.core_types` becomes `syntagma.compat.sglang.core_types`. Two names stand for two things each:
`StreamingParseResult` and `GptOssDetector` are those of calls here, and those of reasoning in `reasoning_parser`.

What differs: results never depend on how the text is cut; text around a call, and around one that is malformed, is
kept; a call that the end cuts is passed on as far as it came; `parse_stream_end` returns what is still held back, and
must be called.
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
    """The detectors of single formats; of two with one name that of calls."""
    try:
        return function_call_parser.__getattr__(name)
    except AttributeError:
        return reasoning_parser.__getattr__(name)
