"""Bitmasks by xgrammar's names: torch tensors where torch is installed, else NumPy arrays."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from syntagma import decoding
from syntagma.compat.xgrammar.support import bitmask_dtype_of, has_torch
from syntagma.errors import ArgumentError

__all__ = [
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "get_bitmask_shape",
    "numpy_rows",
    "reset_token_bitmask",
]

_BACKENDS = ("auto", "cpu", "cuda", "triton", "torch_compile", "torch_native")


__getattr__ = bitmask_dtype_of(__name__)


def get_bitmask_shape(batch_size: int, vocab_size: int) -> tuple[int, int]:
    """(batch_size, ceil(vocab_size / 32))."""
    return batch_size, -(-vocab_size // 32)


def allocate_token_bitmask(batch_size: int, vocab_size: int) -> Any:
    """A bitmask that allows everything: int32, shape `get_bitmask_shape(batch_size, vocab_size)`, on the CPU."""
    array = decoding.allocate_token_bitmask(batch_size, vocab_size)
    if not has_torch():
        return array
    import torch

    return torch.from_numpy(array)


def reset_token_bitmask(bitmask: Any) -> None:
    """Allow everything again."""
    (bitmask.fill if isinstance(bitmask, np.ndarray) else bitmask.fill_)(-1)


def numpy_rows(bitmask: Any) -> Any:
    """A bitmask on the CPU as a NumPy array that shares its memory, int32 [batch, words].

    Raises:
        RuntimeError: not on the CPU, not int32, or of another shape.
    """
    if not isinstance(bitmask, np.ndarray):
        device = getattr(getattr(bitmask, "device", None), "type", "cpu")
        if device != "cpu" or not hasattr(bitmask, "__dlpack__"):
            raise RuntimeError("the bitmask must be on the CPU, and a tensor or an array")
        bitmask = bitmask.numpy() if hasattr(bitmask, "numpy") else np.from_dlpack(bitmask)
    if bitmask.dtype != np.int32 or bitmask.ndim not in (1, 2):
        raise RuntimeError(f"a bitmask is int32 of one or two dimensions, not {bitmask.dtype} {bitmask.shape}")
    return bitmask[np.newaxis] if bitmask.ndim == 1 else bitmask


def apply_token_bitmask_inplace(
    logits: Any,
    bitmask: Any,
    *,
    vocab_size: int | None = None,
    indices: Sequence[int] | None = None,
    backend: str = "auto",
) -> None:
    """Set logits that the bitmask denies to minus infinity.

    Args:
        logits: floats [vocab] or [batch, vocab], in place; those from `vocab_size` on are left alone.
        bitmask: int32 [words] or [batch, words], on the device of the logits.
        vocab_size: tokens that are meant; None: those that both have, with a warning where the logits have more.
        indices: the rows that are meant.
        backend: `cpu`; `triton`, `cuda`: the Triton kernel; `torch_compile`, `torch_native`: torch's own operations;
            `auto`: by the device.

    Raises:
        ValueError: different devices, shapes that do not fit, or another backend.
    """
    if backend not in _BACKENDS:
        raise ValueError(f"backend {backend!r} is not one of {', '.join(_BACKENDS)}")
    devices = {str(getattr(tensor, "device", "cpu")) for tensor in (logits, bitmask)}
    if len(devices) > 1:
        raise ValueError(f"logits and bitmask are on different devices: {', '.join(sorted(devices))}")
    words = bitmask.shape[-1]
    if vocab_size is None:
        vocab_size = min(logits.shape[-1], words * 32)
        if vocab_size < logits.shape[-1]:
            warnings.warn(
                f"the bitmask covers {vocab_size} of {logits.shape[-1]} logits; the others are left as they are",
                stacklevel=2,
            )
    kept = logits[..., :vocab_size]
    if backend in ("auto", "cpu") or isinstance(logits, np.ndarray):
        try:
            decoding.apply_token_bitmask_inplace(kept, bitmask, indices=indices)
        except ArgumentError as error:
            raise ValueError(str(error)) from error
        return
    from syntagma.decoding.bitmask.torch_rows import mask_by_shifts, torch_logits, torch_words
    from syntagma.decoding.bitmask.triton_kernel import mask_triton

    mask = mask_triton if backend in ("triton", "cuda") else mask_by_shifts
    mask(torch_logits(kept), torch_words(bitmask), indices)
