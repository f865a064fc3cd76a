"""mlx-lm: constraints and typed events for `generate_step`, `stream_generate` and `BatchGenerator`.

turn = codec.prepare(messages, tools=tools)
steps = stream_generate(model, tokenizer, ids, logits_processors=[Constraint(turn, tokenizer)])
for event in read_events(steps, turn.parser(), tokenizer):
    print(event)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from syntagma.decoding import GrammarCompiler
from syntagma.decoding.bitmask.mlx_rows import masked_mlx
from syntagma.decoding.row_matchers import RowMatchers
from syntagma.entry import check_argument
from syntagma.events import Event
from syntagma.integrations.constraints import Constrained, Tokenizer, compiled_grammars, compiler_for
from syntagma.parsing import StreamParser

__all__ = ["Constraint", "read_events"]


class Constraint:
    """A logits processor that constrains one sequence to a turn or a grammar.

    The sequence is identified by its tokens, so that drafts of another model can be taken back, and a new generation is
    recognised. After the end, only end tokens are allowed. Not safe for several threads. Each sequence of a
    `BatchGenerator` needs its own object.

    Args:
        constraint: a turn, a grammar or a compiled grammar.
        tokenizer: the model's tokenizer from `mlx_lm.load`; or a `TokenizerInfo` or `GrammarCompiler` made from it.

    Attributes:
        compiler: the tokenizer's compiler, which constraints with the same tokenizer share.

    Raises:
        ArgumentTypeError: `E-ARGUMENT-TYPE` or `E-VOCAB-TYPE`, an argument has the wrong type.
        ArgumentError: `E-BITMASK-SIZE`, the grammar is compiled for a vocabulary of another size.
        FormatError, GrammarError, LimitError, VocabularyError: see `Turn.grammar` and `GrammarCompiler.compile`.
    """

    def __init__(self, constraint: Constrained, tokenizer: Tokenizer) -> None:
        check_argument("constraint", constraint, Constrained)
        self.compiler = _compiler(tokenizer)
        info = self.compiler.info
        self._rows = RowMatchers(compiled_grammars(constraint, self.compiler), info.vocab_size, info.eos_token_ids)

    def __call__(self, tokens: Any, logits: Any) -> Any:
        """The logits, with minus infinity for tokens that may not come next.

        Args:
            tokens: integer `mlx.core.array` [tokens], the prompt with all tokens generated so far.
            logits: floating `mlx.core.array` [1, vocab].

        Raises:
            LimitError: `E-LIMIT-STEP`, the matcher spent its fuel.
        """
        self._rows.follow(np.array(tokens)[np.newaxis])
        return masked_mlx(logits, self._rows.bitmask())

    def reset(self) -> None:
        """Forget the sequence: the next one is a new prompt, even if it continues the last one by one token."""
        self._rows.reset()


def read_events(steps: Iterable[Any], parser: StreamParser, tokenizer: Tokenizer) -> Iterator[Event]:
    """The typed events of a generation, read from token ids.

    Args:
        steps: the iterator of `stream_generate`.
        parser: a new parser, such as `turn.parser()`.
        tokenizer: see `Constraint`.

    Raises:
        VocabularyError: see `TokenizerInfo.from_huggingface`.
        ParseError: the text is malformed and the parser is strict.
    """
    info = _compiler(tokenizer).info
    reason: str | None = None
    for step in steps:
        yield from parser.feed_tokens([int(step.token)], info)
        reason = step.finish_reason
    yield from parser.finish(reason)


def _compiler(tokenizer: Tokenizer) -> GrammarCompiler:
    from mlx_lm.tokenizer_utils import TokenizerWrapper

    if isinstance(tokenizer, TokenizerWrapper):
        return compiler_for(tokenizer._tokenizer, sorted(tokenizer.eos_token_ids))
    return compiler_for(tokenizer)
