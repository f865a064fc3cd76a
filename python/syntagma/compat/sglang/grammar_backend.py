"""Makes grammar objects from the constraints of a request, which are text; also for the text after reasoning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from syntagma.compat.sglang.reasoner_grammar_backend import (
    BaseGrammarObject,
    MatcherGrammarObject,
    ReasonerGrammarObject,
)
from syntagma.decoding import GrammarCompiler, GrammarMatcher
from syntagma.formats.styles import styled
from syntagma.grammars import Grammar
from syntagma.grammars.dialects import XGRAMMAR, read_first

__all__ = ["BaseGrammarBackend", "GrammarBackend", "ReasonerGrammarBackend"]

_ANY_JSON = "$$ANY$$"
"""the text with which a scheduler requests any JSON object"""


class BaseGrammarBackend(Protocol):
    """Makes grammar objects; each method takes the text of the request's field."""

    def dispatch_json(self, key_string: str) -> BaseGrammarObject:
        """By a JSON Schema."""
        ...

    def dispatch_regex(self, key_string: str) -> BaseGrammarObject:
        """By a regular expression."""
        ...

    def dispatch_ebnf(self, key_string: str) -> BaseGrammarObject:
        """By a grammar in xgrammar's language or llama.cpp's (GBNF), which servers call EBNF."""
        ...

    def dispatch_structural_tag(self, key_string: str) -> BaseGrammarObject:
        """By a structural tag, in either form."""
        ...


class GrammarBackend(BaseGrammarBackend):
    """Makes grammar objects with a compiler, which caches the grammars it compiled.

    Args:
        compiler: the compiler, for the vocabulary of the model.

    Every method raises what `sg.Grammar` and the compiler raise: `GrammarError`, `UnsupportedSchema`, `LimitError`.
    """

    def __init__(self, compiler: GrammarCompiler) -> None:
        self.compiler = compiler

    def dispatch_json(self, key_string: str) -> BaseGrammarObject:
        """By a JSON Schema; `$$ANY$$` is any JSON object."""
        return self._object(Grammar.json() if key_string == _ANY_JSON else Grammar.from_json_schema(key_string))

    def dispatch_regex(self, key_string: str) -> BaseGrammarObject:
        """By a regular expression."""
        return self._object(Grammar.from_regex(key_string))

    def dispatch_ebnf(self, key_string: str) -> BaseGrammarObject:
        """By a grammar in xgrammar's language or llama.cpp's (GBNF), which servers call EBNF."""
        return self._object(read_first(XGRAMMAR, lambda notation: Grammar.from_text(key_string, notation)))

    def dispatch_structural_tag(self, key_string: str) -> BaseGrammarObject:
        """By a structural tag, in either form."""
        return self._object(Grammar.from_structural_tag(key_string, styles=styled))

    def _object(self, grammar: Grammar) -> BaseGrammarObject:
        return MatcherGrammarObject(GrammarMatcher(self.compiler.compile(grammar)))


class ReasonerGrammarBackend(BaseGrammarBackend):
    """Makes grammar objects that take effect when reasoning is over.

    Args:
        grammar_backend: the backend that makes the grammar objects themselves.
        think_end_id: the token that ends reasoning, or several tokens in order; see `think_end_ids`.
    """

    def __init__(self, grammar_backend: BaseGrammarBackend, think_end_id: int | Sequence[int]) -> None:
        self.grammar_backend = grammar_backend
        self.think_end_id = think_end_id

    def dispatch_json(self, key_string: str) -> ReasonerGrammarObject:
        """By a JSON Schema."""
        return self._after(self.grammar_backend.dispatch_json, key_string)

    def dispatch_regex(self, key_string: str) -> ReasonerGrammarObject:
        """By a regular expression."""
        return self._after(self.grammar_backend.dispatch_regex, key_string)

    def dispatch_ebnf(self, key_string: str) -> ReasonerGrammarObject:
        """By a grammar, in the notation of llama.cpp (GBNF), which servers call EBNF."""
        return self._after(self.grammar_backend.dispatch_ebnf, key_string)

    def dispatch_structural_tag(self, key_string: str) -> ReasonerGrammarObject:
        """By a structural tag, in either form."""
        return self._after(self.grammar_backend.dispatch_structural_tag, key_string)

    def _after(self, make: Callable[[str], BaseGrammarObject], text: str) -> ReasonerGrammarObject:
        return ReasonerGrammarObject(make(text), self.think_end_id)
