"""Masks rows of torch tensors: on the CPU with unpacked bits, on CUDA with a Triton kernel, elsewhere with torch.

Imported only if a tensor was given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from syntagma.decoding.bitmask.numpy_rows import denied_tokens
from syntagma.errors import ArgumentTypeError

if TYPE_CHECKING:
    import torch

__all__ = ["mask_by_shifts", "mask_torch", "torch_logits", "torch_words"]


def torch_logits(logits: torch.Tensor) -> torch.Tensor:
    """The logits as [batch, width], sharing memory.

    Raises:
        ArgumentTypeError: `E-BITMASK-TYPE`, the elements are not floats.
    """
    if not logits.is_floating_point():
        raise ArgumentTypeError("E-BITMASK-TYPE", f"logits must be floats, not {logits.dtype}")
    return logits.unsqueeze(0) if logits.ndim == 1 else logits


def torch_words(bitmask: object) -> torch.Tensor:
    """A bitmask, NumPy array or tensor, as an int32 tensor [batch, words].

    Raises:
        ArgumentTypeError: `E-BITMASK-TYPE`, the elements are not int32.
    """
    import torch

    if isinstance(bitmask, np.ndarray) and bitmask.dtype == np.int32:
        bitmask = torch.from_numpy(bitmask if bitmask.flags.writeable else bitmask.copy())
    if not isinstance(bitmask, torch.Tensor) or bitmask.dtype != torch.int32:
        raise ArgumentTypeError("E-BITMASK-TYPE", "the bitmask must be a tensor or NumPy array of int32")
    return bitmask.unsqueeze(0) if bitmask.ndim == 1 else bitmask


def mask_torch(logits: torch.Tensor, words: torch.Tensor, rows: Sequence[int] | None) -> None:
    """Set the logits of tokens that `words` forbids to minus infinity.

    Args:
        logits: floating [batch, width] on any device, with any strides, changed in place.
        words: int32 [batch, words], on the CPU or the device of the logits.
        rows: the rows to process; None: all.
    """
    if rows is not None and not rows:
        return
    if logits.device.type == "cpu":
        _mask_on_cpu(logits, words.cpu(), rows)
        return
    words = words.to(logits.device, non_blocking=True)
    if logits.device.type == "cuda":
        from syntagma.decoding.bitmask.triton_kernel import is_available, mask_triton

        if is_available():
            mask_triton(logits, words, rows)
            return
    mask_by_shifts(logits, words, rows)


def _mask_on_cpu(logits: torch.Tensor, words: torch.Tensor, rows: Sequence[int] | None) -> None:
    import torch

    given: Any = words.numpy()
    denied = denied_tokens(given if rows is None else given[list(rows)], logits.shape[1])
    _fill(logits, torch.from_numpy(denied), rows)


def mask_by_shifts(logits: torch.Tensor, words: torch.Tensor, rows: Sequence[int] | None) -> None:
    """Like `mask_torch`, with only torch's own operations. Both tensors must be on the same device."""
    import torch

    width = logits.shape[1]
    if rows is not None:
        words = words[torch.tensor(rows, device=words.device)]
    tokens = torch.arange(width, device=logits.device)
    known = tokens < words.shape[1] * 32
    bits = words[:, (tokens // 32).clamp(max=max(words.shape[1] - 1, 0))] >> (tokens % 32).to(torch.int32)
    _fill(logits, ((bits & 1) == 0) | ~known, rows)


def _fill(logits: torch.Tensor, denied: torch.Tensor, rows: Sequence[int] | None) -> None:
    import torch

    if rows is None:
        logits.masked_fill_(denied, -torch.inf)
        return
    index = torch.tensor(rows, device=logits.device)
    logits.index_copy_(0, index, logits.index_select(0, index).masked_fill_(denied, -torch.inf))
