"""Token bitmasks: int32 [batch, ceil(vocab_size / 32)]. Bit i of word w is token 32 w + i; 1: allowed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np
from numpy.typing import NDArray

from syntagma import _engine
from syntagma.decoding.bitmask.numpy_rows import mask_numpy
from syntagma.errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    import torch

__all__ = [
    "accept_token_batch",
    "allocate_token_bitmask",
    "apply_row",
    "apply_token_bitmask_inplace",
    "fill_next_token_bitmask_batch",
]

Rows: TypeAlias = Union[NDArray[Any], "torch.Tensor"]


def allocate_token_bitmask(batch_size: int, vocab_size: int) -> NDArray[np.int32]:
    """A bitmask that allows every token: int32, shape [batch_size, ceil(vocab_size / 32)]."""
    return np.full((batch_size, -(-vocab_size // 32)), -1, dtype=np.int32)


def apply_token_bitmask_inplace(logits: Rows, bitmask: Rows, *, indices: Sequence[int] | None = None) -> None:
    """Set the logits of forbidden tokens to minus infinity.

    Logits beyond the end of the bitmask become minus infinity, too. Bits beyond the last logit are ignored.

    Args:
        logits: a NumPy array or torch tensor of floats, shape [vocab_size] or [batch, vocab_size], changed in place.
        bitmask: int32, shape [words] or [batch, words]: a NumPy array, or for torch logits a tensor on any device.
        indices: the rows of logits and bitmask to process; None: all. With indices, the two may have different batch
            sizes.

    Raises:
        ArgumentTypeError: `E-BITMASK-TYPE`, an argument is not an array or tensor of the right element type.
        ArgumentError: `E-BITMASK-SIZE`, the shapes do not match; `E-BITMASK-INDEX`, a row does not exist;
            `E-BITMASK-BUFFER`, the logits are read-only.
    """
    if isinstance(logits, np.ndarray):
        apply, values, words = mask_numpy, _numpy_logits(logits), _numpy_words(bitmask)
    elif _is_tensor(logits):
        from syntagma.decoding.bitmask.torch_rows import mask_torch, torch_logits, torch_words

        apply, values, words = mask_torch, torch_logits(logits), torch_words(bitmask)
    else:
        raise ArgumentTypeError(
            "E-BITMASK-TYPE", f"logits must be a NumPy array or torch tensor of floats, not {type(logits).__name__}"
        )
    if values.ndim != 2 or words.ndim != 2 or (indices is None and len(values) != len(words)):
        raise ArgumentError(
            "E-BITMASK-SIZE", f"logits {tuple(logits.shape)} and bitmask {tuple(bitmask.shape)} do not match"
        )
    rows = None if indices is None else [int(row) for row in indices]
    count = min(len(values), len(words))
    if rows is not None and any(not 0 <= row < count for row in rows):
        raise ArgumentError("E-BITMASK-INDEX", f"an index of {rows} is not within the {count} rows")
    apply(values, words, rows)


def apply_row(logits: Rows, row: bytes) -> None:
    """Apply one row of a bitmask, given as bytes, to the logits of one sequence. Called by `GrammarMatcher`.

    Raises:
        ArgumentError: see `apply_token_bitmask_inplace`; `E-BITMASK-SIZE`, the logits are not those of one sequence.
    """
    bitmask = np.frombuffer(row, "<i4").astype(np.int32)
    shape = tuple(getattr(logits, "shape", ()))
    if len(shape) == 2 and shape[0] == 1:
        bitmask = bitmask.reshape(1, -1)
    elif shape and len(shape) != 1:
        raise ArgumentError("E-BITMASK-SIZE", f"logits {shape} are not those of one sequence")
    apply_token_bitmask_inplace(logits, bitmask)


def _is_tensor(value: object) -> bool:
    # Check the module's name first, so that torch is imported only if a tensor was passed.
    if not any(kind.__module__.partition(".")[0] == "torch" for kind in type(value).__mro__):
        return False
    import torch

    return isinstance(value, torch.Tensor)


def _numpy_logits(logits: NDArray[Any]) -> NDArray[Any]:
    if not np.issubdtype(logits.dtype, np.floating):
        raise ArgumentTypeError("E-BITMASK-TYPE", f"logits must be floats, not {logits.dtype}")
    if not logits.flags.writeable:
        raise ArgumentError("E-BITMASK-BUFFER", "the logits are read-only")
    return logits[np.newaxis] if logits.ndim == 1 else logits


def _numpy_words(bitmask: object) -> NDArray[np.int32]:
    if not isinstance(bitmask, np.ndarray) or bitmask.dtype != np.int32:
        raise ArgumentTypeError("E-BITMASK-TYPE", "for NumPy logits, the bitmask must be a NumPy array of int32")
    return bitmask[np.newaxis] if bitmask.ndim == 1 else bitmask


def fill_next_token_bitmask_batch(
    matchers: Sequence[_engine.GrammarMatcher],
    bitmask: Any,
    *,
    indices: Sequence[int] | None = None,
    threads: int | None = None,
) -> None:
    """Fill row `indices[i]` (default `i`) of an int32 bitmask for each matcher, on up to `threads` threads.

    Releases the GIL.

    Raises:
        ArgumentError: `E-BITMASK-…`, the bitmask or an index does not match.
        LimitError: `E-LIMIT-STEP`, a matcher spent its fuel.
    """
    _engine.fill_next_token_bitmask_batch(matchers, bitmask, None if indices is None else list(indices), threads)


def accept_token_batch(
    matchers: Sequence[_engine.GrammarMatcher], ids: Sequence[int], *, threads: int | None = None
) -> list[bool]:
    """Accept one token on each of several distinct matchers, on up to `threads` threads. Releases the GIL.

    Returns:
        for each matcher, whether it accepted its token.

    Raises:
        ArgumentError: `E-BATCH-SIZE`, the lists differ in length; `E-TOKEN-ID`, a token is not in the vocabulary.
    """
    return _engine.accept_token_batch(matchers, ids, threads)
