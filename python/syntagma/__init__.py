"""Everything between an LLM's raw token stream and a typed chat message.

Good places to begin: `analyze` (chat template → format), `ChatCodec` (prompt, grammar and parser of one model),
`formats` (the named formats), `Grammar`, `GrammarCompiler` and `GrammarMatcher` (constrained decoding), `load` (a
model).
"""

from __future__ import annotations

import typing as _typing

from syntagma.version import __version__

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
    "Resolution",
    "Sampling",
    "Segment",
    "StreamParser",
    "SyntagmaError",
    "TemplateError",
    "TokenizerInfo",
    "Tool",
    "ToolCall",
    "Turn",
    "UnsupportedSchema",
    "Upstream",
    "UpstreamError",
    "VocabularyError",
    "__version__",
    "accept_token_batch",
    "allocate_token_bitmask",
    "analyze",
    "apply_token_bitmask_inplace",
    "batch",
    "conversion",
    "errors",
    "events",
    "fill_next_token_bitmask_batch",
    "formats",
    "load",
    "openchatml",
    "recording",
    "resolve_format",
    "testing",
]

if _typing.TYPE_CHECKING:
    from syntagma import batch, conversion, errors, events, formats, openchatml, recording, testing
    from syntagma.analysis import Analysis, Resolution, analyze, resolve_format
    from syntagma.codec import ChatCodec, Turn
    from syntagma.decoding import (
        Backend,
        CompiledGrammar,
        GrammarCompiler,
        GrammarMatcher,
        TokenizerInfo,
        Upstream,
        accept_token_batch,
        allocate_token_bitmask,
        apply_token_bitmask_inplace,
        fill_next_token_bitmask_batch,
    )
    from syntagma.decoding.sampling import Sampling
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
        UpstreamError,
        VocabularyError,
    )
    from syntagma.formats import ChatFormat
    from syntagma.generation import GenerationOptions, Generator, Model, load
    from syntagma.grammars import Grammar
    from syntagma.limits import Limits
    from syntagma.messages import Message, Tool, ToolCall
    from syntagma.parsing import Policies, StreamParser
    from syntagma.request import Budgets
    from syntagma.templates import ChatTemplate, Prompt, Segment


# Names by module. Modules are imported at first use, so that `import syntagma` is fast.
_NAMES = {
    "analysis": ("Analysis", "Resolution", "analyze", "resolve_format"),
    "batch": (),
    "codec": ("ChatCodec", "Turn"),
    "conversion": (),
    "decoding": (
        *("Backend", "CompiledGrammar", "GrammarCompiler", "GrammarMatcher", "TokenizerInfo", "Upstream"),
        *("accept_token_batch", "allocate_token_bitmask", "apply_token_bitmask_inplace"),
        "fill_next_token_bitmask_batch",
    ),
    "decoding.sampling": ("Sampling",),
    "errors": (
        *("ArgumentError", "ArgumentTypeError", "BatchError", "FormatError", "GrammarError", "LimitError"),
        *("MatcherError", "ModelError", "ParseError", "RequestError", "SyntagmaError", "TemplateError"),
        *("UnsupportedSchema", "UpstreamError", "VocabularyError"),
    ),
    "events": (),
    "formats": ("ChatFormat",),
    "generation": ("GenerationOptions", "Generator", "Model", "load"),
    "grammars": ("Grammar",),
    "limits": ("Limits",),
    "messages": ("Message", "Tool", "ToolCall"),
    "openchatml": (),
    "parsing": ("Policies", "StreamParser"),
    "recording": (),
    "request": ("Budgets",),
    "templates": ("ChatTemplate", "Prompt", "Segment"),
    "testing": (),
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> _typing.Any:
    from importlib import import_module

    if name in _HOME:
        value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    elif name in _NAMES:
        value = import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
