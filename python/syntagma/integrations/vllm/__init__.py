"""vLLM: a tool parser and a reasoning parser named `syntagma`, and the grammar of the whole turn.

    vllm serve MODEL --enable-auto-tool-choice --tool-call-parser syntagma --reasoning-parser syntagma

`register` is the entry point of the group `vllm.general_plugins`, which vLLM calls in every process. Nothing here
imports vLLM before that. `docs/engines/vllm.md` says what is held by whom.
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
"""not empty: the engine's grammars are compiled and followed here, too (experimental)"""


def register() -> None:
    """Make the parsers known to vLLM under `NAME`; they are imported when they are chosen.

    A vLLM that has no such parsers is left as it is, with a line in the log: a plug-in that fails would end the start
    of every server, also of those that do not use it.
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
    """A tool parser and a reasoning parser of vLLM for one format, to be registered under names of your own.

    Raises:
        ImportError: vLLM is not installed.
    """
    from syntagma.integrations.vllm.parsers import SyntagmaReasoningParser, SyntagmaToolParser

    fields = {"fmt": fmt, "__module__": __name__}
    return type("ToolParser", (SyntagmaToolParser,), fields), type(
        "ReasoningParser", (SyntagmaReasoningParser,), fields
    )
