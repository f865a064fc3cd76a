"""Everything between an LLM's raw token stream and a typed chat message.

Where most people begin: `analyze` (chat template → format), `ChatCodec` (prompt, grammar and parser of one model),
`formats` (the named formats), `Grammar`, `GrammarCompiler` and `GrammarMatcher` (constrained decoding), `load` (a model
that answers).
"""

from __future__ import annotations

import typing as _typing

from syntagma import errors, events, formats, testing
from syntagma.analysis import Analysis, analyze
from syntagma.codec import ChatCodec, Turn
from syntagma.decoding import (
    Backend,
    CompiledGrammar,
    GrammarCompiler,
    GrammarMatcher,
    TokenizerInfo,
    accept_token_batch,
    allocate_token_bitmask,
    apply_token_bitmask_inplace,
    fill_next_token_bitmask_batch,
)
from syntagma.errors import (
    ArgumentError,
    ArgumentTypeError,
    FormatError,
    GrammarError,
    LimitError,
    MatcherError,
    ModelError,
    ParseError,
    RequestError,
    SyntagmaError,
    TemplateError,
    UnsupportedSchema,
    VocabularyError,
)
from syntagma.formats import ChatFormat
from syntagma.grammars import Grammar
from syntagma.limits import Limits
from syntagma.messages import Message, Tool, ToolCall
from syntagma.parsing import Policies, StreamParser
from syntagma.request import Budgets
from syntagma.templates import ChatTemplate, Prompt

__all__ = [
    "Analysis",
    "ArgumentError",
    "ArgumentTypeError",
    "Backend",
    "Budgets",
    "ChatCodec",
    "ChatFormat",
    "ChatTemplate",
    "CompiledGrammar",
    "FormatError",
    "Grammar",
    "GrammarCompiler",
    "GrammarError",
    "GrammarMatcher",
    "LimitError",
    "Limits",
    "MatcherError",
    "Message",
    "ModelError",
    "ParseError",
    "Policies",
    "Prompt",
    "RequestError",
    "StreamParser",
    "SyntagmaError",
    "TemplateError",
    "TokenizerInfo",
    "Tool",
    "ToolCall",
    "Turn",
    "UnsupportedSchema",
    "VocabularyError",
    "__version__",
    "accept_token_batch",
    "allocate_token_bitmask",
    "analyze",
    "apply_token_bitmask_inplace",
    "errors",
    "events",
    "fill_next_token_bitmask_batch",
    "formats",
    "load",
    "openchatml",
    "testing",
]

if _typing.TYPE_CHECKING:
    from syntagma import openchatml
    from syntagma.generation import load

__version__ = "0.1.0"


def __getattr__(name: str) -> _typing.Any:
    # Transcripts bring asyncio and YAML along, which most users of the rest do not need.
    if name == "openchatml":
        from importlib import import_module

        return import_module("syntagma.openchatml")
    # So do models.
    if name == "load":
        from syntagma.generation import load

        return load
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
