"""Bitmasks under xgrammar's names: torch tensors if torch is installed, else NumPy arrays."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from syntagma import decoding
from syntagma.compat.xgrammar.arguments import checked, integer, integers, wrong_type, wrong_value
from syntagma.compat.xgrammar.exception import WrongTypeError
from syntagma.compat.xgrammar.support import bitmask_dtype_of, has_torch

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
    """(batch_size, ceil(vocab_size / 32)).

    Raises:
        WrongTypeError, WrongValueError: no integers, or negative ones.
    """
    return integer("batch_size", batch_size, 0), -(-integer("vocab_size", vocab_size, 0) // 32)


@checked
def allocate_token_bitmask(batch_size: int, vocab_size: int) -> Any:
    """A bitmask that allows everything: int32, shape `get_bitmask_shape(batch_size, vocab_size)`, on the CPU.

    Raises:
        WrongTypeError, WrongValueError: no integers, or negative ones.
    """
    rows, words = get_bitmask_shape(batch_size, vocab_size)
    array = decoding.allocate_token_bitmask(rows, words * 32)
    if not has_torch():
        return array
    import torch

    return torch.from_numpy(array)


def reset_token_bitmask(bitmask: Any) -> None:
    """Allow every token again.

    Raises:
        WrongTypeError: not a bitmask.
    """
    if not (isinstance(bitmask, np.ndarray) or hasattr(bitmask, "fill_")):
        raise wrong_type("bitmask", "a tensor or an array", bitmask)
    (bitmask.fill if isinstance(bitmask, np.ndarray) else bitmask.fill_)(-1)


def numpy_rows(bitmask: Any) -> Any:
    """A bitmask on the CPU as a NumPy array that shares its memory, int32 [batch, words].

    Raises:
        WrongTypeError: `E-ARGUMENT-TYPE`, not a tensor or an array; `E-BITMASK-TYPE`, not int32.
        WrongValueError: `E-BITMASK-BUFFER`, not on the CPU; `E-BITMASK-SIZE`, not one or two dimensions.
    """
    if not isinstance(bitmask, np.ndarray):
        device = getattr(getattr(bitmask, "device", None), "type", "cpu")
        if not hasattr(bitmask, "__dlpack__"):
            raise wrong_type("bitmask", "a tensor or an array", bitmask)
        if device != "cpu":
            raise wrong_value("bitmask", f"the bitmask must be on the CPU, not on {device}", code="E-BITMASK-BUFFER")
        bitmask = bitmask.numpy() if hasattr(bitmask, "numpy") else np.from_dlpack(bitmask)
    if bitmask.dtype != np.int32:
        raise WrongTypeError("E-BITMASK-TYPE", f"a bitmask must be int32, not {bitmask.dtype}", pointer="/bitmask")
    if bitmask.ndim not in (1, 2):
        raise wrong_value(
            "bitmask",
            f"a bitmask must have one or two dimensions, not {bitmask.ndim}: {bitmask.shape}",
            code="E-BITMASK-SIZE",
        )
    return bitmask[np.newaxis] if bitmask.ndim == 1 else bitmask


@checked
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
        logits: floats [vocab] or [batch, vocab], changed in place; those from `vocab_size` on are left unchanged.
        bitmask: int32 [words] or [batch, words], on the device of the logits.
        vocab_size: how many tokens to mask; None: those that both have, with a warning if the logits have more.
        indices: the rows to mask; None: all.
        backend: `cpu`; `triton`, `cuda`: the Triton kernel; `torch_compile`, `torch_native`: torch's own operations;
            `auto`: chosen by the device.

    Raises:
        WrongTypeError: not tensors or arrays, or the wrong element type; or indices or a size that are not integers.
        WrongValueError: different devices, shapes that do not fit, a row out of range, or an unknown backend.
    """
    if backend not in _BACKENDS:
        raise wrong_value("backend", f"backend {backend!r} is not one of {', '.join(_BACKENDS)}")
    for name, tensor in (("logits", logits), ("bitmask", bitmask)):
        if not getattr(tensor, "shape", None):
            raise wrong_type(name, "a tensor or an array with dimensions", tensor)
    rows = None if indices is None else integers("indices", indices)
    devices = {str(getattr(tensor, "device", "cpu")) for tensor in (logits, bitmask)}
    if len(devices) > 1:
        raise wrong_value(
            "bitmask",
            f"logits and bitmask are on different devices: {', '.join(sorted(devices))}",
            code="E-BITMASK-BUFFER",
        )
    words = bitmask.shape[-1]
    if vocab_size is None:
        vocab_size = min(logits.shape[-1], words * 32)
        if vocab_size < logits.shape[-1]:
            warnings.warn(
                f"the bitmask covers {vocab_size} of {logits.shape[-1]} logits; the others are left as they are",
                stacklevel=3,
            )
    elif integer("vocab_size", vocab_size, 0) > min(logits.shape[-1], words * 32):
        message = (
            f"vocab_size {vocab_size} is more than {logits.shape[-1]} logits or {words * 32} tokens of the bitmask"
        )
        raise wrong_value("vocab_size", message, code="E-BITMASK-SIZE")
    kept = logits[..., :vocab_size]
    if backend in ("auto", "cpu") or isinstance(logits, np.ndarray):
        decoding.apply_token_bitmask_inplace(kept, bitmask, indices=rows)
        return
    from syntagma.decoding.bitmask.torch_rows import mask_by_shifts, torch_logits, torch_words
    from syntagma.decoding.bitmask.triton_kernel import mask_triton

    mask = mask_triton if backend in ("triton", "cuda") else mask_by_shifts
    mask(torch_logits(kept), torch_words(bitmask), rows)
