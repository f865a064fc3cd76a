"""`LogitsProcessor` for `transformers`, under the name of `xgrammar.contrib.hf`."""

from __future__ import annotations

from typing import Any

import numpy as np

from syntagma.compat.xgrammar.arguments import checked, wrong_type, wrong_value
from syntagma.compat.xgrammar.bitmask import apply_token_bitmask_inplace
from syntagma.compat.xgrammar.compiler import CompiledGrammar
from syntagma.compat.xgrammar.matcher import GrammarMatcher
from syntagma.compat.xgrammar.support import has_torch
from syntagma.decoding.row_matchers import RowMatchers
from syntagma.entry import own

__all__ = ["LogitsProcessor"]


class LogitsProcessor:
    """Constrains calls of `generate` to grammars; `transformers` accepts any object that can be called like this.

    Rows are recognised by their tokens, so beams may change places, drafts may be taken back, and the next call of
    `generate` starts anew. A row that took a masked token, as beams and drafts can, is no longer constrained.

    Args:
        compiled_grammar: one grammar for all sequences of the batch, or one for each. If the batch is several times
            as large (beams, `num_return_sequences`), the rows of one sequence must be adjacent.

    Raises:
        WrongTypeError, WrongValueError: not a compiled grammar.
    """

    supports_continuous_batching = False

    def __init__(self, compiled_grammar: CompiledGrammar | list[CompiledGrammar]) -> None:
        grammars = compiled_grammar if isinstance(compiled_grammar, list) else [compiled_grammar]
        if not grammars:
            raise wrong_value("compiled_grammar", "compiled_grammar is empty: name a grammar")
        # A matcher refuses anything but a compiled grammar.
        self.full_vocab_size = min(GrammarMatcher(grammar)._vocab_size for grammar in grammars)
        self.compiled_grammars = grammars
        compiled: list[Any] = [own(grammar) for grammar in grammars]
        self._rows = RowMatchers(compiled, self.full_vocab_size)

    @checked
    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Read the sampled tokens and mask the logits of the next ones.

        Args:
            input_ids: int64 [batch, tokens], the prompts and all sampled tokens.
            scores: floats [batch, vocab], changed in place.

        Raises:
            WrongTypeError: not a tensor.
            WrongValueError: the number of rows is not a multiple of the number of grammars.
        """
        if not hasattr(input_ids, "tolist"):
            raise wrong_type("input_ids", "a tensor or an array of token ids", input_ids)
        self._rows.follow(input_ids.cpu().numpy() if hasattr(input_ids, "cpu") else np.asarray(input_ids))
        bitmask: Any = self._rows.bitmask()
        if has_torch():
            import torch

            bitmask = torch.from_numpy(bitmask).to(scores.device)
        apply_token_bitmask_inplace(scores, bitmask, vocab_size=self.full_vocab_size)
        return scores
