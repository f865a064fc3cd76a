"""Masks rows of MLX logits, on MLX's device.

Imported only if an MLX array was given.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["masked_mlx"]


def masked_mlx(logits: Any, words: NDArray[np.int32]) -> Any:
    """The logits, with minus infinity for forbidden tokens.

    Args:
        logits: floating `mlx.core.array` [batch, width]; not changed.
        words: int32 [batch, words]; 1: allowed. Tokens after the last word are forbidden.

    Returns:
        An array of the same type.
    """
    import mlx.core as mx

    width = logits.shape[-1]
    shifts = mx.arange(32, dtype=mx.uint32)
    bits = (mx.array(words.view(np.uint32))[..., None] >> shifts) & 1
    allowed = bits.reshape(len(words), -1)[:, :width].astype(mx.bool_)
    beyond = width - allowed.shape[1]
    if beyond > 0:
        allowed = mx.pad(allowed, ((0, 0), (0, beyond)))
    return mx.where(allowed, logits, mx.array(-np.inf, logits.dtype))
