"""Decides which tokens may come next: vocabularies, compilers, matchers, bitmasks; and the interfaces of engines."""

from __future__ import annotations

from syntagma._engine import CompiledGrammar, GrammarMatcher
from syntagma.decoding.backend import Backend, Batch, BatchBackend, Logits, ScoringBackend, Session
from syntagma.decoding.bitmask import (
    accept_token_batch,
    allocate_token_bitmask,
    apply_token_bitmask_inplace,
    fill_next_token_bitmask_batch,
)
from syntagma.decoding.compiler import CompilerStats, GrammarCompiler
from syntagma.decoding.explanation import explain_matcher
from syntagma.decoding.explanation_values import Expected, MatcherExplanation, TokenVerdict
from syntagma.decoding.grammar_cost import CostWarning, GrammarCost, grammar_cost
from syntagma.decoding.keyword_costs import KeywordCost, KeywordCosts, keyword_costs
from syntagma.decoding.tokenizer_info import TokenizerInfo
from syntagma.decoding.upstream import Upstream

__all__ = [
    "Backend",
    "Batch",
    "BatchBackend",
    "CompiledGrammar",
    "CompilerStats",
    "CostWarning",
    "Expected",
    "GrammarCompiler",
    "GrammarCost",
    "GrammarMatcher",
    "KeywordCost",
    "KeywordCosts",
    "Logits",
    "MatcherExplanation",
    "ScoringBackend",
    "Session",
    "TokenVerdict",
    "TokenizerInfo",
    "Upstream",
    "accept_token_batch",
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "explain_matcher",
    "fill_next_token_bitmask_batch",
    "grammar_cost",
    "keyword_costs",
]
