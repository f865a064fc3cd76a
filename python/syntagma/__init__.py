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
    BatchError,
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
    "BatchError",
    "Budgets",
    "ChatCodec",
    "ChatFormat",
    "ChatTemplate",
    "CompiledGrammar",
    "FormatError",
    "GenerationOptions",
    "Generator",
    "Grammar",
    "GrammarCompiler",
    "GrammarError",
    "GrammarMatcher",
    "LimitError",
    "Limits",
    "MatcherError",
    "Message",
    "Model",
    "ModelError",
    "ParseError",
    "Policies",
    "Prompt",
    "RequestError",
    "Sampling",
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
    "batch",
    "errors",
    "events",
    "fill_next_token_bitmask_batch",
    "formats",
    "load",
    "openchatml",
    "testing",
]

if _typing.TYPE_CHECKING:
    from syntagma import batch, openchatml
    from syntagma.decoding.sampling import Sampling
    from syntagma.generation import GenerationOptions, Generator, Model, load

__version__ = "0.1.0"

# Transcripts and models bring libraries along that most users of the rest do not need: imported when first used.
_LATER = {
    "GenerationOptions": "syntagma.generation",
    "Generator": "syntagma.generation",
    "Model": "syntagma.generation",
    "Sampling": "syntagma.decoding.sampling",
    "batch": "syntagma.batch",
    "load": "syntagma.generation",
    "openchatml": "syntagma.openchatml",
}


def __getattr__(name: str) -> _typing.Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = import_module(_LATER[name])
    return module if module.__name__ == f"{__name__}.{name}" else getattr(module, name)
