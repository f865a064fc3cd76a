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
    """A logits processor that holds one sequence to a turn or a grammar.

    The sequence is known by its tokens, so that drafts of another model are taken back, and the next generation begins
    anew. After the end only end tokens may come. Not shared between threads; the sequences of a `BatchGenerator` have
    one each.

    Args:
        constraint: a turn, a grammar or a compiled grammar.
        tokenizer: the model's, as `mlx_lm.load` returns it; or a `TokenizerInfo` or `GrammarCompiler` made of it.

    Attributes:
        compiler: compiles grammars for the tokenizer; another constraint with the same tokenizer shares it.

    Raises:
        ArgumentTypeError: `E-ARGUMENT-TYPE`, `E-VOCAB-TYPE`.
        ArgumentError: `E-BITMASK-SIZE`, a grammar of another vocabulary.
        FormatError, GrammarError, LimitError, VocabularyError: as `Turn.grammar` and `GrammarCompiler.compile`.
    """

    def __init__(self, constraint: Constrained, tokenizer: Tokenizer) -> None:
        check_argument("constraint", constraint, Constrained)
        self.compiler = _compiler(tokenizer)
        info = self.compiler.info
        self._rows = RowMatchers(compiled_grammars(constraint, self.compiler), info.vocab_size, info.eos_token_ids)

    def __call__(self, tokens: Any, logits: Any) -> Any:
        """The logits with those of tokens that may not come next at minus infinity.

        Args:
            tokens: integer `mlx.core.array` [tokens], the prompt and all that was written after it.
            logits: floating `mlx.core.array` [1, vocab].

        Raises:
            LimitError: `E-LIMIT-STEP`, the matcher spent its fuel.
        """
        self._rows.follow(np.array(tokens)[np.newaxis])
        return masked_mlx(logits, self._rows.bitmask())

    def reset(self) -> None:
        """Take the next sequence for a prompt, even if it is what was last written and one token more."""
        self._rows.reset()


def read_events(steps: Iterable[Any], parser: StreamParser, tokenizer: Tokenizer) -> Iterator[Event]:
    """The typed events of a generation, read by token identity.

    Args:
        steps: what `stream_generate` yields.
        parser: a fresh parser: `turn.parser()`.
        tokenizer: as for `Constraint`.

    Raises:
        VocabularyError: as `TokenizerInfo.from_huggingface`.
        ParseError: bad text, only if the parser is strict.
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
