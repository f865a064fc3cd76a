"""What adapters are given, a turn or a grammar and a tokenizer, made into compiled grammars."""

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
"""what says what a model may write"""

Tokenizer: TypeAlias = Any
"""a tokenizer of a library, or what was made of one: a `TokenizerInfo` or a `GrammarCompiler`"""


class _Known(NamedTuple):
    """The compiler of a tokenizer as it was when that was made."""

    size: int
    end_token_ids: tuple[int, ...] | None
    compiler: GrammarCompiler


_COMPILERS: WeakKeyDictionary[Any, _Known] = WeakKeyDictionary()
"""reading a large vocabulary takes a second, so it is done once for each tokenizer"""


def compiler_for(tokenizer: Tokenizer, eos_token_ids: Sequence[int] | None = None) -> GrammarCompiler:
    """The compiler for a tokenizer: for one of `transformers` the same each time, so that grammars are compiled once.

    Args:
        tokenizer: a fast tokenizer of `transformers`, a `tokenizers.Tokenizer`, a `TokenizerInfo` or a compiler.
        eos_token_ids: tokens that end a turn; None: those of the tokenizer. Only for tokenizers of a library.

    Raises:
        ArgumentTypeError: `E-VOCAB-TYPE`, it is none of these.
        VocabularyError: as `TokenizerInfo.from_huggingface`.
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
    """The grammars of one constraint or several; None stands for a turn that constrains nothing.

    Raises:
        ArgumentTypeError: `E-ARGUMENT-TYPE`, no turn and no grammar.
        ArgumentError: `E-ARGUMENT-VALUE`, an empty list; `E-BITMASK-SIZE`, grammars of another vocabulary.
        FormatError, GrammarError, LimitError: as `Turn.grammar` and `GrammarCompiler.compile`.
    """
    every = list(what) if isinstance(what, Sequence) else [what]
    if not every:
        raise ArgumentError("E-ARGUMENT-VALUE", "the list is empty: give a turn or a grammar for each sequence")
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
            f"the grammar is compiled for {what.vocab_size} tokens, the tokenizer has {compiler.info.vocab_size}",
        )
    return what
