"""Finds the most expensive keywords of a JSON Schema: removes each in turn and measures the difference."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import msgspec

from syntagma._engine import GrammarMatcher
from syntagma.decoding.bitmask import allocate_token_bitmask
from syntagma.decoding.byte_vocabulary import byte_vocabulary
from syntagma.decoding.compiler import GrammarCompiler
from syntagma.decoding.tokenizer_info import TokenizerInfo
from syntagma.errors import ArgumentError, SyntagmaError
from syntagma.grammars import Grammar
from syntagma.grammars.schema_keywords import keyword_pointers, without_keyword

__all__ = ["KeywordCost", "KeywordCosts", "keyword_costs"]

_STRUCTURE = frozenset(("properties", "items", "prefixItems", "type", "$ref", "$defs", "definitions"))
"""keywords that stay"""
_REPEATS = 3


class KeywordCost(msgspec.Struct, frozen=True, kw_only=True):
    """The savings from removing one keyword. Negative values: the schema costs more without it.

    Attributes:
        pointer: JSON pointer of the keyword in the schema, as a fragment: `#/properties/city/pattern`.
        milliseconds: time to compile and compute the first mask.
        rules: rules of the grammar.
        compiled_bytes: memory of the compiled grammar.
    """

    pointer: str
    milliseconds: float
    rules: int
    compiled_bytes: int


class KeywordCosts(msgspec.Struct, frozen=True, kw_only=True):
    """The keywords of a schema by cost.

    Attributes:
        keywords: the measured keywords, most expensive first. Keywords without which the schema does not compile are
            missing.
        tried: number of keywords tried.
        left: number of keywords not tried, because a bound was reached.
    """

    keywords: tuple[KeywordCost, ...]
    tried: int
    left: int


class _Measured(msgspec.Struct, frozen=True):
    milliseconds: float
    rules: int
    compiled_bytes: int


def keyword_costs(
    schema: Mapping[str, Any], info: TokenizerInfo | None = None, *, most: int = 64, seconds: float = 5.0
) -> KeywordCosts:
    """Compile a schema without each of its keywords in turn, outermost keywords first.

    Properties, items, types and references are never removed, because they are the structure of a schema.

    Args:
        schema: a JSON Schema.
        info: the vocabulary; None: the vocabulary of the 256 bytes.
        most: largest number of keywords to try, at least 1.
        seconds: time in seconds after which no further keyword is tried. Each keyword takes three compilations.

    Raises:
        ArgumentError: `E-ARGUMENT-VALUE`, a bound is not positive.
        GrammarError, LimitError: the schema itself does not compile.
    """
    if most < 1 or not seconds > 0:
        raise ArgumentError("E-ARGUMENT-VALUE", "most and seconds must be positive")
    vocabulary = byte_vocabulary() if info is None else info
    whole = _measure(schema, vocabulary)
    until = time.monotonic() + seconds
    found: list[KeywordCost] = []
    tried = left = 0
    for pointer in keyword_pointers(schema):
        if pointer.rpartition("/")[2] in _STRUCTURE:
            continue
        if tried >= most or time.monotonic() >= until:
            left += 1
            continue
        tried += 1
        try:
            without = _measure(without_keyword(schema, pointer), vocabulary)
        except SyntagmaError:
            # Other keywords need this one, so its cost cannot be measured.
            continue
        found.append(
            KeywordCost(
                pointer=f"#{pointer}",
                milliseconds=round(whole.milliseconds - without.milliseconds, 3),
                rules=whole.rules - without.rules,
                compiled_bytes=whole.compiled_bytes - without.compiled_bytes,
            )
        )
    found.sort(key=lambda cost: (-cost.milliseconds, cost.pointer))
    return KeywordCosts(keywords=tuple(found), tried=tried, left=left)


def _measure(schema: Any, info: TokenizerInfo) -> _Measured:
    """The shortest of several measurements: longer ones are noise of the machine."""
    best, rules, size = float("inf"), 0, 0
    for _ in range(_REPEATS):
        began = time.perf_counter()
        grammar = Grammar.from_json_schema(schema)
        compiled = GrammarCompiler(info, cache=False).compile(grammar)
        GrammarMatcher(compiled).fill_next_token_bitmask(allocate_token_bitmask(1, info.vocab_size))
        best = min(best, (time.perf_counter() - began) * 1e3)
        rules, size = grammar.rule_count, compiled.stats()["bytes"]
    return _Measured(best, rules, size)
