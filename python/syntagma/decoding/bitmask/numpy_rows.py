"""Masking rows of NumPy logits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["denied_tokens", "mask_numpy"]


def denied_tokens(words: NDArray[np.int32], width: int) -> NDArray[np.bool_]:
    """Which of the first `width` tokens are not allowed.

    Args:
        words: int32 [rows, words].
        width: how many tokens; those beyond the last word are denied.

    Returns:
        bool [rows, width].
    """
    little = np.ascontiguousarray(words, "<i4").view(np.uint8)
    # Bits beyond the end count as zeros: denied.
    bits: NDArray[np.uint8] = np.unpackbits(little, axis=1, count=width, bitorder="little")
    return np.equal(bits, 0)


def mask_numpy(logits: NDArray[Any], words: NDArray[np.int32], rows: Sequence[int] | None) -> None:
    """Set what the rows of `words` deny to minus infinity.

    Args:
        logits: floating [batch, width], in place, of any strides.
        words: int32 [batch, words].
        rows: the rows that are meant; None: all.
    """
    for row in range(len(logits)) if rows is None else rows:
        # Row by row: what is unpacked stays in the processor's cache.
        np.copyto(logits[row], -np.inf, where=denied_tokens(words[row : row + 1], logits.shape[1])[0])
