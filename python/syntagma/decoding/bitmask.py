"""Token bitmasks: int32 [batch, ceil(vocab_size / 32)], bit i of word w is token 32 w + i, 1 is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagma import _engine
from syntagma.errors import ArgumentError, ArgumentTypeError

__all__ = [
    "accept_token_batch",
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "fill_next_token_bitmask_batch",
]


def allocate_token_bitmask(batch_size: int, vocab_size: int) -> NDArray[np.int32]:
    """A bitmask that allows every token: int32, shape [batch_size, ceil(vocab_size / 32)]."""
    return np.full((batch_size, -(-vocab_size // 32)), -1, dtype=np.int32)


def apply_token_bitmask_inplace(
    logits: NDArray[np.floating[Any]], bitmask: NDArray[np.int32], *, indices: Sequence[int] | None = None
) -> None:
    """Set the logits of tokens that are not allowed to minus infinity.

    Args:
        logits: floating, shape [vocab_size] or [batch, vocab_size], changed in place.
        bitmask: int32, shape [words] or [batch, words].
        indices: rows of both that are meant; all by default.

    Raises:
        ArgumentTypeError: `E-BITMASK-TYPE`, not NumPy arrays of these element types.
        ArgumentError: `E-BITMASK-SIZE`, shapes that do not fit.
    """
    if not isinstance(logits, np.ndarray) or not np.issubdtype(logits.dtype, np.floating):
        raise ArgumentTypeError("E-BITMASK-TYPE", "logits is a NumPy array of floats")
    if not isinstance(bitmask, np.ndarray) or bitmask.dtype != np.int32:
        raise ArgumentTypeError("E-BITMASK-TYPE", "bitmask is a NumPy array of int32")
    rows = logits.reshape(1, -1) if logits.ndim == 1 else logits
    words = bitmask.reshape(1, -1) if bitmask.ndim == 1 else bitmask
    if rows.ndim != 2 or words.ndim != 2 or len(rows) != len(words) or words.shape[1] * 32 < rows.shape[1]:
        raise ArgumentError("E-BITMASK-SIZE", f"logits {logits.shape} and bitmask {bitmask.shape} do not fit")
    for row in range(len(rows)) if indices is None else indices:
        allowed = np.unpackbits(np.ascontiguousarray(words[row]).view(np.uint8), bitorder="little")
        rows[row][allowed[: rows.shape[1]] == 0] = -np.inf


def fill_next_token_bitmask_batch(
    matchers: Sequence[_engine.GrammarMatcher],
    bitmask: Any,
    *,
    indices: Sequence[int] | None = None,
    threads: int | None = None,
) -> None:
    """Fill row `indices[i]` (default `i`) of an int32 bitmask for each matcher, on up to `threads` threads.

    The interpreter is released while the masks are computed.

    Raises:
        ArgumentError: `E-BITMASK-…`, a bitmask or an index that does not fit.
        LimitError: `E-LIMIT-STEP`, a matcher spent its fuel.
    """
    _engine.fill_next_token_bitmask_batch(matchers, bitmask, None if indices is None else list(indices), threads)


def accept_token_batch(matchers: Sequence[_engine.GrammarMatcher], ids: Sequence[int]) -> list[bool]:
    """Accept one token on each matcher (each a different one); whether each was taken.

    Raises:
        ArgumentError: `E-BATCH-SIZE`, the lists differ in length; `E-TOKEN-ID`.
    """
    return _engine.accept_token_batch(matchers, ids)
