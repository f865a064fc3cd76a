"""vLLM: a tool parser and a reasoning parser named `syntagma`, and grammars of the whole turn.

    vllm serve MODEL --enable-auto-tool-choice --tool-call-parser syntagma --reasoning-parser syntagma

`register` is an entry point of the group `vllm.general_plugins`, which vLLM calls in every process. vLLM is imported
only then. `docs/engines/vllm.md` says which side enforces what.
"""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from syntagma.formats import ChatFormat

__all__ = ["BACKEND_VARIABLE", "NAME", "parsers_for", "register"]

NAME = "syntagma"
"""the name of both parsers"""

BACKEND_VARIABLE = "SYNTAGMA_VLLM_BACKEND"
"""environment variable; not empty: Syntagma also compiles and follows the engine's grammars (experimental)"""


def register() -> None:
    """Register the parsers with vLLM under `NAME`. They are imported when they are chosen.

    If this vLLM has no such registries, the failure is only logged, because an exception in a plug-in would prevent
    every server from starting, even without these parsers.
    """
    try:
        from vllm.reasoning import ReasoningParserManager
        from vllm.tool_parsers import ToolParserManager

        module = f"{__name__}.parsers"
        ToolParserManager.register_lazy_module(NAME, module, "SyntagmaToolParser")
        ReasoningParserManager.register_lazy_module(NAME, module, "SyntagmaReasoningParser")
        if os.environ.get(BACKEND_VARIABLE):
            from syntagma.integrations.vllm.backend import install

            install()
    except Exception:
        logging.getLogger(__name__).exception("syntagma is not available in this vLLM")


def parsers_for(fmt: ChatFormat) -> tuple[Any, Any]:
    """A vLLM tool parser and a reasoning parser for one format, to register under your own names.

    Raises:
        ImportError: vLLM is not installed.
    """
    from syntagma.integrations.vllm.parsers import SyntagmaReasoningParser, SyntagmaToolParser

    fields = {"fmt": fmt, "__module__": __name__}
    return type("ToolParser", (SyntagmaToolParser,), fields), type(
        "ReasoningParser", (SyntagmaReasoningParser,), fields
    )
