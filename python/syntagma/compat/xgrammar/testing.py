"""Test helpers under xgrammar's public names."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from syntagma.compat.xgrammar.bitmask import allocate_token_bitmask, numpy_rows
from syntagma.compat.xgrammar.grammar import Grammar
from syntagma.compat.xgrammar.support import refuse

__all__ = ["GrammarFunctor", "bitmask_to_bool_mask", "bool_mask_to_bitmask"]


def _bits(bitmask: Any, vocab_size: int, index: int) -> Any:
    row = np.ascontiguousarray(numpy_rows(bitmask)[index], "<i4")
    return np.unpackbits(row.view(np.uint8), count=vocab_size, bitorder="little")


def bool_mask_to_bitmask(bool_mask: Any) -> Any:
    """The bitmask, int32 [batch, words], of a boolean mask [batch, vocab] (True: allowed); padding is allowed."""
    values = np.asarray(bool_mask, dtype=bool)
    batch, width = values.shape
    bitmask = allocate_token_bitmask(batch, width)
    padded = np.ones((batch, -(-width // 32) * 32), dtype=bool)
    padded[:, :width] = values
    numpy_rows(bitmask)[:] = np.packbits(padded, axis=1, bitorder="little").view("<i4")
    return bitmask


def bitmask_to_bool_mask(bit_mask: Any, vocab_size: int | None = None) -> Any:
    """The boolean mask [batch, vocab_size] of a bitmask (True: allowed).

    Raises:
        ValueError: the bitmask has fewer tokens.
    """
    rows = numpy_rows(bit_mask)
    width = rows.shape[1] * 32 if vocab_size is None else vocab_size
    if width > rows.shape[1] * 32:
        raise ValueError(f"the bitmask has {rows.shape[1] * 32} tokens, not {width}")
    mask = np.stack([_bits(rows, width, index) for index in range(len(rows))]).astype(bool)
    if isinstance(bit_mask, np.ndarray):
        return mask
    import torch

    return torch.from_numpy(mask)


def _no_pass(grammar: Grammar) -> NoReturn:  # noqa: ARG001
    refuse("testing.GrammarFunctor")


class GrammarFunctor:
    """Not supported: each pass raises `NotImplementedError`."""

    structure_normalizer = staticmethod(_no_pass)
    rule_inliner = staticmethod(_no_pass)
    byte_string_fuser = staticmethod(_no_pass)
    dead_code_eliminator = staticmethod(_no_pass)
    lookahead_assertion_analyzer = staticmethod(_no_pass)
    grammar_optimizer = staticmethod(_no_pass)
    fsm_builder = staticmethod(_no_pass)
    repetition_normalizer = staticmethod(_no_pass)
