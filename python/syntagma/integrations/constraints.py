"""Makes compiled grammars from the arguments of adapters: turns or grammars, and a tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from syntagma.codec import Turn
from syntagma.decoding import CompiledGrammar, GrammarCompiler, TokenizerInfo
from syntagma.entry import check_argument, own
from syntagma.errors import ArgumentError
from syntagma.grammars import Grammar

__all__ = ["Constrained", "Tokenizer", "compiled_grammars", "compiler_for"]

Constrained: TypeAlias = Turn | Grammar | CompiledGrammar
"""the possible types of a constraint"""

Tokenizer: TypeAlias = Any
"""a tokenizer of a library, or a `TokenizerInfo` or `GrammarCompiler` made from one"""


class _Known(NamedTuple):
    """The compiler of a tokenizer, with the tokenizer's state when the compiler was made."""

    size: int
    end_token_ids: tuple[int, ...] | None
    compiler: GrammarCompiler


_COMPILERS: WeakKeyDictionary[Any, _Known] = WeakKeyDictionary()
"""compilers by tokenizer, because reading a large vocabulary takes a second"""


def compiler_for(tokenizer: Tokenizer, eos_token_ids: Sequence[int] | None = None) -> GrammarCompiler:
    """The compiler for a tokenizer. A tokenizer of `transformers` gets the same compiler each time.

    Args:
        tokenizer: a fast tokenizer of `transformers`, a `tokenizers.Tokenizer`, a `TokenizerInfo` or a compiler.
        eos_token_ids: tokens that end a turn; None: the tokenizer's. Ignored for a `TokenizerInfo` or compiler.

    Raises:
        ArgumentTypeError: `E-VOCAB-TYPE`, the tokenizer is none of these.
        VocabularyError: see `TokenizerInfo.from_huggingface`.
    """
    if isinstance(tokenizer, GrammarCompiler):
        return tokenizer
    if isinstance(own(tokenizer), TokenizerInfo):
        return GrammarCompiler(tokenizer)
    ends = None if eos_token_ids is None else tuple(eos_token_ids)
    try:
        size, known = len(tokenizer), _COMPILERS.get(tokenizer)
    except TypeError:  # it has no length, or cannot be a key
        return GrammarCompiler(TokenizerInfo.from_huggingface(tokenizer, eos_token_ids=ends))
    if known is None or (known.size, known.end_token_ids) != (size, ends):
        info = TokenizerInfo.from_huggingface(tokenizer, eos_token_ids=ends)
        known = _COMPILERS[tokenizer] = _Known(size, ends, GrammarCompiler(info))
    return known.compiler


def compiled_grammars(
    what: Constrained | Sequence[Constrained], compiler: GrammarCompiler
) -> list[CompiledGrammar | None]:
    """The compiled grammars of one or several constraints; None for a turn that constrains nothing.

    Raises:
        ArgumentTypeError: `E-ARGUMENT-TYPE`, a constraint is neither a turn nor a grammar.
        ArgumentError: `E-ARGUMENT-VALUE`, the list is empty; `E-BITMASK-SIZE`, a grammar is compiled for a vocabulary
            of another size.
        FormatError, GrammarError, LimitError: see `Turn.grammar` and `GrammarCompiler.compile`.
    """
    every = list(what) if isinstance(what, Sequence) else [what]
    if not every:
        hint = "give a turn or a grammar for each sequence"
        raise ArgumentError("E-ARGUMENT-VALUE", "the list of constraints is empty", hint=hint)
    return [_compiled(own(one), compiler) for one in every]


def _compiled(what: Constrained, compiler: GrammarCompiler) -> CompiledGrammar | None:
    check_argument("constraint", what, Constrained)
    if isinstance(what, Turn):
        return None if what.grammar is None else compiler.compile(what.grammar)
    if isinstance(what, Grammar):
        return compiler.compile(what)
    if what.vocab_size != compiler.info.vocab_size:
        raise ArgumentError(
            "E-BITMASK-SIZE",
            f"the grammar is compiled for {what.vocab_size} tokens, but the tokenizer has {compiler.info.vocab_size}",
        )
    return what
