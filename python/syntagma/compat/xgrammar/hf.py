"""`LogitsProcessor` for `transformers`, by the name of `xgrammar.contrib.hf`."""

from __future__ import annotations

from typing import Any

from syntagma.compat.xgrammar.bitmask import allocate_token_bitmask, apply_token_bitmask_inplace
from syntagma.compat.xgrammar.compiler import CompiledGrammar
from syntagma.compat.xgrammar.matcher import GrammarMatcher

__all__ = ["LogitsProcessor"]


class LogitsProcessor:
    """Holds one call of `generate` to grammars; `transformers` calls whatever can be called like this.

    Args:
        compiled_grammar: one grammar for all sequences of the batch, or one for each.
    """

    supports_continuous_batching = False

    def __init__(self, compiled_grammar: CompiledGrammar | list[CompiledGrammar]) -> None:
        self.compiled_grammars = compiled_grammar if isinstance(compiled_grammar, list) else [compiled_grammar]
        self.full_vocab_size = self.compiled_grammars[0].tokenizer_info.vocab_size
        self.matchers: list[GrammarMatcher] = []
        self.token_bitmask: Any = None
        self.prefilled = False
        self.batch_size = 0

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Take the tokens that were sampled last and mask the logits of the next ones.

        Args:
            input_ids: int64 [batch, tokens].
            scores: floats [batch, vocab], in place.

        Raises:
            RuntimeError: another batch than at the first call, or a sampled token that was masked.
        """
        if not self.matchers:
            self.batch_size = input_ids.shape[0]
            if len(self.compiled_grammars) == 1:
                self.compiled_grammars = self.compiled_grammars * self.batch_size
            if len(self.compiled_grammars) != self.batch_size:
                raise RuntimeError(f"{len(self.compiled_grammars)} grammars for a batch of {self.batch_size}")
            self.matchers = [GrammarMatcher(grammar) for grammar in self.compiled_grammars]
            self.token_bitmask = allocate_token_bitmask(self.batch_size, self.full_vocab_size)
        if input_ids.shape[0] != self.batch_size:
            raise RuntimeError(f"a batch of {input_ids.shape[0]}, and there were {self.batch_size}")
        for row, matcher in enumerate(self.matchers):
            if matcher.is_terminated():
                self.token_bitmask[row] = -1
                continue
            if self.prefilled and not matcher.accept_token(int(input_ids[row][-1])):
                raise RuntimeError(f"token {int(input_ids[row][-1])} was sampled although it was masked")
            if matcher.is_terminated():
                self.token_bitmask[row] = -1
            else:
                matcher.fill_next_token_bitmask(self.token_bitmask, row)
        self.prefilled = True
        mask = self.token_bitmask
        if getattr(scores, "device", None) is not None and hasattr(mask, "to"):
            mask = mask.to(scores.device)
        apply_token_bitmask_inplace(scores, mask, vocab_size=self.full_vocab_size)
        return scores
