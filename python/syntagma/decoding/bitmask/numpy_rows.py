"""Masks rows of NumPy logits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["denied_tokens", "mask_numpy"]


def denied_tokens(words: NDArray[np.int32], width: int) -> NDArray[np.bool_]:
    """Which of the first `width` tokens are forbidden.

    Args:
        words: int32 [rows, words].
        width: number of tokens; those beyond the last word are forbidden.

    Returns:
        bool [rows, width].
    """
    little = np.ascontiguousarray(words, "<i4").view(np.uint8)
    # Bits beyond the end count as zeros: forbidden.
    bits: NDArray[np.uint8] = np.unpackbits(little, axis=1, count=width, bitorder="little")
    return np.equal(bits, 0)


def mask_numpy(logits: NDArray[Any], words: NDArray[np.int32], rows: Sequence[int] | None) -> None:
    """Set the logits of tokens that `words` forbids to minus infinity.

    Args:
        logits: floating [batch, width] with any strides, changed in place.
        words: int32 [batch, words].
        rows: the rows to process; None: all.
    """
    for row in range(len(logits)) if rows is None else rows:
        # Row by row, so that the unpacked bits stay in the processor's cache.
        np.copyto(logits[row], -np.inf, where=denied_tokens(words[row : row + 1], logits.shape[1])[0])
