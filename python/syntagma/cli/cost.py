"""The cost of a grammar: its size, its compile time, and the time to its first mask."""

from __future__ import annotations

import time

import msgspec

from syntagma.decoding import GrammarCompiler, GrammarMatcher, TokenizerInfo, allocate_token_bitmask
from syntagma.grammars import Grammar

__all__ = ["Cost", "cost_of"]


class Cost(msgspec.Struct, frozen=True):
    """One measurement, without caches.

    Attributes:
        rules: rules of the grammar's source.
        vocab_size: tokens of the vocabulary.
        compile_ms: milliseconds to compile.
        first_mask_ms: milliseconds to the first mask.
        matcher_bytes: approximate memory of one matcher at the start.
        compiled: the engine's counts for the compiled grammar, see `CompiledGrammar.stats`.
    """

    rules: int
    vocab_size: int
    compile_ms: float
    first_mask_ms: float
    matcher_bytes: int
    compiled: dict[str, int]


def cost_of(grammar: Grammar, info: TokenizerInfo) -> Cost:
    """Measure a grammar with a vocabulary.

    Raises:
        GrammarError: the grammar does not compile.
    """
    compiler = GrammarCompiler(info, cache=False)
    begin = time.perf_counter()
    compiled = compiler.compile(grammar)
    ready = time.perf_counter()
    matcher = GrammarMatcher(compiled)
    bitmask = allocate_token_bitmask(1, info.vocab_size)
    start = time.perf_counter()
    matcher.fill_next_token_bitmask(bitmask)
    done = time.perf_counter()
    return Cost(
        rules=grammar.rule_count,
        vocab_size=info.vocab_size,
        compile_ms=round((ready - begin) * 1e3, 3),
        first_mask_ms=round((done - start) * 1e3, 3),
        matcher_bytes=matcher.memory_bytes,
        compiled=compiled.stats(),
    )
