"""The strict reading's verdict: whether the grammar of a format accepts what the template renders."""

from __future__ import annotations

from typing import Any

from syntagma.analysis.read_back import Start
from syntagma.errors import SyntagmaError
from syntagma.formats import ChatFormat

__all__ = ["GrammarVerdicts"]


class GrammarVerdicts:
    """Asks the grammar of one format; one compiled grammar for each prompt and each set of tools."""

    def __init__(self, fmt: ChatFormat, tools: list[dict[str, Any]]) -> None:
        self._fmt = fmt
        self._tools = tools
        self._compiler: Any = None
        self._matcher: Any = None
        self._compiled: dict[tuple[str, str, bool], Any] = {}
        self.unsupported: str | None = None
        """why the format has no strict reading, once that is known"""
        try:
            from syntagma.decoding import GrammarCompiler, GrammarMatcher
            from syntagma.decoding.byte_vocabulary import byte_vocabulary
        except ImportError:
            return
        self._compiler = GrammarCompiler(byte_vocabulary())
        self._matcher = GrammarMatcher

    @property
    def available(self) -> bool:
        """Whether grammars can be compiled here."""
        return self._compiler is not None

    def refuses(self, start: Start, output: str, *, has_calls: bool) -> str | None:
        """Why the grammar behind the start's prompt does not accept `output`, without end of turn; None if it does."""
        if not self.available or self.unsupported is not None:
            return None
        key = (start.prompt, start.reasoning, has_calls)
        try:
            if key not in self._compiled:
                tools = self._tools if has_calls else None
                grammar = self._fmt.grammar(tools, prompt=start.prompt, reasoning=start.reasoning)
                self._compiled[key] = self._compiler.compile(grammar)
            matcher = self._matcher(self._compiled[key])
            if not matcher.accept_bytes(output.encode()):
                return "the grammar refuses it"
            return None if matcher.is_accepting() else "the grammar wants more"
        except SyntagmaError as error:
            if error.code == "E-FORMAT-UNSUPPORTED":
                self.unsupported = error.message
                return None
            return f"no grammar: {error.message}"
