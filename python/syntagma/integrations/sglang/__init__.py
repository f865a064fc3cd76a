"""SGLang: parsers of calls and of reasoning and a grammar backend, all named `syntagma`.

    python -m sglang.launch_server --model-path MODEL --grammar-backend syntagma --tool-call-parser syntagma …

`register` is the entry point of the group `sglang.srt.plugins`, which SGLang calls in every process. Nothing here
imports SGLang before that. `docs/engines/sglang.md` says what is held by whom.
"""

from __future__ import annotations

import logging

__all__ = ["NAME", "register"]

NAME = "syntagma"
"""the name of the parsers and of the backend"""


def register() -> None:
    """Make the parsers and the backend known to SGLang under `NAME`.

    An SGLang that has no such registries is left as it is, with a line in the log: a plug-in that fails would end the
    start of every server, also of those that do not use it.
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
