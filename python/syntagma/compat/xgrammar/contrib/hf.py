"""`LogitsProcessor` for `transformers`, by the name of `xgrammar.contrib.hf`."""

from __future__ import annotations

from collections import Counter
from typing import Any

from syntagma.compat.xgrammar.arguments import wrong_type, wrong_value
from syntagma.compat.xgrammar.bitmask import allocate_token_bitmask, apply_token_bitmask_inplace
from syntagma.compat.xgrammar.compiler import CompiledGrammar
from syntagma.compat.xgrammar.matcher import GrammarMatcher

__all__ = ["LogitsProcessor"]


class LogitsProcessor:
    """Holds one call of `generate` to grammars; `transformers` calls whatever can be called like this.

    A row goes on from the row of the step before that has its tokens: beams may change places, and one may go on as
    several.

    Args:
        compiled_grammar: one grammar for all sequences of the batch, or one for each; where the batch is several times
            as large (beams, `num_return_sequences`), the rows of one sequence stand together.

    Raises:
        WrongTypeError, WrongValueError: no compiled grammar.
    """

    supports_continuous_batching = False

    def __init__(self, compiled_grammar: CompiledGrammar | list[CompiledGrammar]) -> None:
        grammars = compiled_grammar if isinstance(compiled_grammar, list) else [compiled_grammar]
        if not grammars:
            raise wrong_value("compiled_grammar", "compiled_grammar is empty: name a grammar")
        # A matcher refuses what is no compiled grammar.
        self.full_vocab_size = min(GrammarMatcher(grammar)._vocab_size for grammar in grammars)
        self.compiled_grammars = grammars
        self.matchers: list[GrammarMatcher | None] = []
        """one for each row; None: a beam that took a masked token, which has no chance left"""
        self.token_bitmask: Any = None
        self.prefilled = False
        self.batch_size = 0
        self._rows: list[list[int]] = []
        self._alone: list[bool] = []
        self._grammar_of_row: list[int] = []

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Take the tokens that were sampled last and mask the logits of the next ones.

        Args:
            input_ids: int64 [batch, tokens], the prompts and all that was sampled.
            scores: floats [batch, vocab], in place.

        Raises:
            WrongTypeError: no tensor.
            WrongValueError: another batch than at the first call, or a row that goes on from none of the step before.
            RuntimeError: a token that was masked was sampled, for a prompt of one row.
        """
        if not hasattr(input_ids, "tolist"):
            raise wrong_type("input_ids", "a tensor or an array of token ids", input_ids)
        rows: list[list[int]] = input_ids.tolist()
        if self.prefilled:
            self._continue(rows)
        else:
            self._begin(rows)
        self._rows, self.prefilled = rows, True
        for row, matcher in enumerate(self.matchers):
            if matcher is None or matcher.is_terminated():
                self.token_bitmask[row] = -1
            else:
                matcher.fill_next_token_bitmask(self.token_bitmask, row)
        mask = self.token_bitmask
        if getattr(scores, "device", None) is not None and hasattr(mask, "to"):
            mask = mask.to(scores.device)
        apply_token_bitmask_inplace(scores, mask, vocab_size=self.full_vocab_size)
        return scores

    def _begin(self, rows: list[list[int]]) -> None:
        count = len(self.compiled_grammars)
        if not rows or len(rows) % count:
            raise wrong_value("input_ids", f"{count} grammars for a batch of {len(rows)}", code="E-BATCH-SIZE")
        self.batch_size = len(rows)
        self.compiled_grammars = [
            grammar for grammar in self.compiled_grammars for _ in range(self.batch_size // count)
        ]
        self._grammar_of_row = [row * count // self.batch_size for row in range(self.batch_size)]
        self.matchers = [GrammarMatcher(grammar) for grammar in self.compiled_grammars]
        self.token_bitmask = allocate_token_bitmask(self.batch_size, self.full_vocab_size)
        prompts = Counter(map(tuple, rows))
        self._alone = [prompts[tuple(row)] == 1 for row in rows]

    def _continue(self, rows: list[list[int]]) -> None:
        if len(rows) != self.batch_size:
            message = f"a batch of {len(rows)}, and there were {self.batch_size}"
            raise wrong_value("input_ids", message, code="E-BATCH-SIZE")
        before = [self._row_before(row, ids[:-1]) for row, ids in enumerate(rows)]
        matchers = self.matchers
        if before != list(range(len(rows))):
            self.matchers = [None if (one := matchers[row]) is None else one.fork() for row in before]
        self._alone = [self._alone[row] for row in before]
        for row, matcher in enumerate(self.matchers):
            if matcher is None or matcher.is_terminated() or matcher.accept_token(rows[row][-1]):
                continue
            if self._alone[row]:
                raise RuntimeError(f"token {rows[row][-1]} was sampled although it was masked")
            self.matchers[row] = None

    def _row_before(self, row: int, prefix: list[int]) -> int:
        """The row of the step before that had these tokens, of the same grammar; the same row if it can be."""
        same = [one for one in range(self.batch_size) if self._grammar_of_row[one] == self._grammar_of_row[row]]
        for one in (row, *same):
            if self._rows[one] == prefix:
                return one
        raise wrong_value("input_ids", f"row {row} goes on from no row of the step before")
