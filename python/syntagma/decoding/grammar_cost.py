"""Measures a grammar: time to compile, time to the first mask, memory, and the length of its texts."""

from __future__ import annotations

import random
import statistics
import time
from typing import Literal

import msgspec

from syntagma._engine import GrammarMatcher
from syntagma.decoding.bitmask import allocate_token_bitmask
from syntagma.decoding.byte_vocabulary import byte_vocabulary
from syntagma.decoding.compiler import GrammarCompiler
from syntagma.decoding.tokenizer_info import TokenizerInfo
from syntagma.errors import VocabularyError
from syntagma.grammars import Grammar
from syntagma.grammars.examples import random_walk

__all__ = ["CostWarning", "GrammarCost", "grammar_cost"]

_SLOW_COMPILE_MS = 100.0
_SLOW_MASK_MS = 20.0
_MANY_BYTES = 16 << 20
_MANY_TOKENS = 512
_WALKS = 9
_CLOSE_TOKENS = 4096


class CostWarning(msgspec.Struct, frozen=True, kw_only=True):
    """A warning that a figure of a grammar is high.

    Attributes:
        figure: the attribute of `GrammarCost`.
        value: its value.
        limit: the value above which there is a warning.
        message: the consequence, in a sentence.
    """

    figure: Literal["compile_ms", "first_mask_ms", "compiled_bytes", "shortest_tokens"]
    value: float
    limit: float
    message: str


class GrammarCost(msgspec.Struct, frozen=True, kw_only=True):
    """The cost of a grammar, measured once, without caches.

    Attributes:
        rules: rules of the grammar's source.
        vocab_size: tokens of the vocabulary.
        compile_ms: milliseconds to compile.
        first_mask_ms: milliseconds to the first mask.
        compiled_bytes: memory of the compiled grammar after the first mask, approximately.
        matcher_bytes: approximate memory of one matcher at the start.
        compiled: the engine's counts for the compiled grammar, see `CompiledGrammar.stats`.
        shortest: a shortest text of the grammar, with U+FFFD for invalid UTF-8; None if it has none of at most 4096
            tokens.
        shortest_tokens: the number of its tokens.
        typical_tokens: median length in tokens of nine random texts. Each is a walk of at most 64 bytes that prefers
            letters, digits and punctuation, closed by the shortest end; the random seed is fixed. None if a walk found
            no end.
        warnings: warnings about high figures.
    """

    rules: int
    vocab_size: int
    compile_ms: float
    first_mask_ms: float
    compiled_bytes: int
    matcher_bytes: int
    compiled: dict[str, int]
    shortest: str | None
    shortest_tokens: int | None
    typical_tokens: float | None
    warnings: tuple[CostWarning, ...] = ()


def grammar_cost(grammar: Grammar, info: TokenizerInfo | None = None) -> GrammarCost:
    """Measure a grammar with a vocabulary, before a request needs it.

    Args:
        grammar: the grammar.
        info: the vocabulary; None: the vocabulary of the 256 bytes.

    Raises:
        GrammarError: the grammar does not compile.
        LimitError: the grammar exceeds a limit.
    """
    vocabulary = byte_vocabulary() if info is None else info
    compiler = GrammarCompiler(vocabulary, cache=False)
    begin = time.perf_counter()
    compiled = compiler.compile(grammar)
    ready = time.perf_counter()
    matcher = GrammarMatcher(compiled)
    bitmask = allocate_token_bitmask(1, vocabulary.vocab_size)
    start = time.perf_counter()
    matcher.fill_next_token_bitmask(bitmask)
    done = time.perf_counter()
    shortest = matcher.shortest_close(_CLOSE_TOKENS)
    stats = compiled.stats()
    cost = GrammarCost(
        rules=grammar.rule_count,
        vocab_size=vocabulary.vocab_size,
        compile_ms=round((ready - begin) * 1e3, 3),
        first_mask_ms=round((done - start) * 1e3, 3),
        compiled_bytes=stats["bytes"],
        matcher_bytes=matcher.memory_bytes,
        compiled=stats,
        shortest=None if shortest is None else vocabulary.decode(shortest).decode("utf-8", "replace"),
        shortest_tokens=None if shortest is None else len(shortest),
        typical_tokens=_typical(matcher, vocabulary),
    )
    return msgspec.structs.replace(cost, warnings=_warnings(cost))


def _typical(matcher: GrammarMatcher, info: TokenizerInfo) -> float | None:
    draws = random.Random(0)
    counts = [_tokens_in_walk(matcher.fork(), info, draws) for _ in range(_WALKS)]
    known = [count for count in counts if count is not None]
    return statistics.median(known) if len(known) == len(counts) else None


def _tokens_in_walk(matcher: GrammarMatcher, info: TokenizerInfo, draws: random.Random) -> int | None:
    """The number of tokens of one random text; None if no end was found."""
    walk = random_walk(matcher, draws)
    if walk is None:
        return None
    text = b"".join(part for part in walk if isinstance(part, bytes))
    return _tokens_of(text, info) + sum(isinstance(part, int) for part in walk)


def _tokens_of(text: bytes, info: TokenizerInfo) -> int:
    try:
        return len(info.encode(text.decode("utf-8", "replace"), trusted=()))
    except VocabularyError:
        return len(text)


def _warnings(cost: GrammarCost) -> tuple[CostWarning, ...]:
    limits: tuple[
        tuple[Literal["compile_ms", "first_mask_ms", "compiled_bytes", "shortest_tokens"], float, str], ...
    ] = (
        ("compile_ms", _SLOW_COMPILE_MS, "the first request with this grammar waits for the compilation"),
        ("first_mask_ms", _SLOW_MASK_MS, "first masks delay a whole batch"),
        ("compiled_bytes", _MANY_BYTES, "only few such grammars fit into the cache"),
        ("shortest_tokens", _MANY_TOKENS, "an answer with fewer tokens is always cut off"),
    )
    found = []
    for figure, limit, message in limits:
        value = getattr(cost, figure)
        if value is not None and value > limit:
            found.append(CostWarning(figure=figure, value=value, limit=limit, message=message))
    return tuple(found)
