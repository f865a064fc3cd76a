"""Token bitmasks: int32 [batch, ceil(vocab_size / 32)], bit i of word w is token 32 w + i, 1 is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np
from numpy.typing import NDArray

from syntagma import _engine
from syntagma.decoding.bitmask.numpy_rows import mask_numpy
from syntagma.entry import entry
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


@entry
def allocate_token_bitmask(batch_size: int, vocab_size: int) -> NDArray[np.int32]:
    """A bitmask that allows every token: int32, shape [batch_size, ceil(vocab_size / 32)]."""
    return np.full((batch_size, -(-vocab_size // 32)), -1, dtype=np.int32)


@entry
def apply_token_bitmask_inplace(logits: Rows, bitmask: Rows, *, indices: Sequence[int] | None = None) -> None:
    """Set the logits of tokens that are not allowed to minus infinity.

    Logits beyond the end of the bitmask belong to no token that it knows: they become minus infinity, too. Bits beyond
    the last logit are ignored.

    Args:
        logits: a NumPy array or torch tensor of floats, shape [vocab_size] or [batch, vocab_size], changed in place.
        bitmask: int32, shape [words] or [batch, words]: a NumPy array, or for torch logits a tensor on any device.
        indices: the rows, of logits and bitmask alike, that are meant; all by default. With them the batches need not
            be of one size.

    Raises:
        ArgumentTypeError: `E-BITMASK-TYPE`, neither NumPy arrays nor torch tensors, or of other elements.
        ArgumentError: `E-BITMASK-SIZE`, shapes that do not fit; `E-BITMASK-INDEX`, a row that is not there;
            `E-BITMASK-BUFFER`, logits that cannot be written.
    """
    if isinstance(logits, np.ndarray):
        apply, values, words = mask_numpy, _numpy_logits(logits), _numpy_words(bitmask)
    elif _is_tensor(logits):
        from syntagma.decoding.bitmask.torch_rows import mask_torch, torch_logits, torch_words

        apply, values, words = mask_torch, torch_logits(logits), torch_words(bitmask)
    else:
        raise ArgumentTypeError(
            "E-BITMASK-TYPE", f"logits is a NumPy array or torch tensor of floats, not {type(logits).__name__}"
        )
    if values.ndim != 2 or words.ndim != 2 or (indices is None and len(values) != len(words)):
        raise ArgumentError(
            "E-BITMASK-SIZE", f"logits {tuple(logits.shape)} and bitmask {tuple(bitmask.shape)} do not fit"
        )
    rows = None if indices is None else [int(row) for row in indices]
    count = min(len(values), len(words))
    if rows is not None and any(not 0 <= row < count for row in rows):
        raise ArgumentError("E-BITMASK-INDEX", f"a row of {rows} is not among the {count} rows")
    apply(values, words, rows)


def apply_row(logits: Rows, row: bytes) -> None:
    """Apply one row of a bitmask, given as its bytes, to the logits of one sequence: `GrammarMatcher` calls it.

    Raises:
        ArgumentError: as `apply_token_bitmask_inplace`; `E-BITMASK-SIZE`, not one sequence.
    """
    bitmask = np.frombuffer(row, "<i4").astype(np.int32)
    shape = tuple(getattr(logits, "shape", ()))
    if len(shape) == 2 and shape[0] == 1:
        bitmask = bitmask.reshape(1, -1)
    elif shape and len(shape) != 1:
        raise ArgumentError("E-BITMASK-SIZE", f"logits {shape} are not those of one sequence")
    apply_token_bitmask_inplace(logits, bitmask)


def _is_tensor(value: object) -> bool:
    # Asked by name: whoever passes a tensor has loaded torch, nobody else should have to.
    if not any(kind.__module__.partition(".")[0] == "torch" for kind in type(value).__mro__):
        return False
    import torch

    return isinstance(value, torch.Tensor)


def _numpy_logits(logits: NDArray[Any]) -> NDArray[Any]:
    if not np.issubdtype(logits.dtype, np.floating):
        raise ArgumentTypeError("E-BITMASK-TYPE", f"logits are floats, not {logits.dtype}")
    if not logits.flags.writeable:
        raise ArgumentError("E-BITMASK-BUFFER", "the logits cannot be written")
    return logits[np.newaxis] if logits.ndim == 1 else logits


def _numpy_words(bitmask: object) -> NDArray[np.int32]:
    if not isinstance(bitmask, np.ndarray) or bitmask.dtype != np.int32:
        raise ArgumentTypeError("E-BITMASK-TYPE", "the bitmask of a NumPy array of logits is a NumPy array of int32")
    return bitmask[np.newaxis] if bitmask.ndim == 1 else bitmask


@entry
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


@entry
def accept_token_batch(
    matchers: Sequence[_engine.GrammarMatcher], ids: Sequence[int], *, threads: int | None = None
) -> list[bool]:
    """Accept one token on each matcher (each a different one), on up to `threads` threads; whether each was taken.

    The interpreter is released meanwhile.

    Raises:
        ArgumentError: `E-BATCH-SIZE`, the lists differ in length; `E-TOKEN-ID`.
    """
    return _engine.accept_token_batch(matchers, ids, threads)
