"""SGLang: parsers of calls and reasoning, and a grammar backend, all named `syntagma`.

    python -m sglang.launch_server --model-path MODEL --grammar-backend syntagma --tool-call-parser syntagma …

`register` is an entry point of the group `sglang.srt.plugins`, which SGLang calls in every process. SGLang is imported
only then. `docs/engines/sglang.md` says which side enforces what.
"""

from __future__ import annotations

import logging

__all__ = ["NAME", "register"]

NAME = "syntagma"
"""the name of the parsers and of the backend"""


def register() -> None:
    """Register the parsers and the backend with SGLang under `NAME`.

    If this SGLang has no such registries, the failure is only logged, because an exception in a plug-in would prevent
    every server from starting, even without these parsers.
    """
    try:
        from sglang.srt.arg_groups.choices import GRAMMAR_BACKEND_CHOICES, add_grammar_backend_choices
        from sglang.srt.constrained.base_grammar_backend import register_grammar_backend
        from sglang.srt.function_call.function_call_parser import FunctionCallParser
        from sglang.srt.parser.reasoning_parser import ReasoningParser

        from syntagma.integrations.sglang.backend import SyntagmaGrammarBackend
        from syntagma.integrations.sglang.detectors import SyntagmaReasoningDetector, SyntagmaToolDetector

        FunctionCallParser.ToolCallParserEnum[NAME] = SyntagmaToolDetector
        ReasoningParser.DetectorMap[NAME] = SyntagmaReasoningDetector
        register_grammar_backend(NAME, SyntagmaGrammarBackend)
        if NAME not in GRAMMAR_BACKEND_CHOICES:
            add_grammar_backend_choices([NAME])
    except Exception:
        logging.getLogger(__name__).exception("syntagma is not available in this SGLang")
