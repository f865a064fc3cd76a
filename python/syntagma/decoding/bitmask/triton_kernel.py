"""Masks rows of logits on a GPU in one pass: reads bits, and writes minus infinity where a bit is zero.

Imported only when it is needed. Triton comes with torch's builds for CUDA. With `TRITON_INTERPRET=1` in the
environment before Triton is first imported, the same kernel runs on the CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

try:
    # The kernel's body uses names of its module, so these cannot be imported inside of a function.
    import triton
    import triton.language as tl
except ImportError:
    triton = None

__all__ = ["is_available", "mask_triton"]

_BLOCK = 2048
"""number of tokens per program of the kernel, 16 for each of its threads; a multiple of 32"""


def is_available() -> bool:
    """Whether Triton is installed."""
    return triton is not None


def mask_triton(logits: torch.Tensor, words: torch.Tensor, rows: Sequence[int] | None) -> None:
    """Set the logits of tokens that `words` forbids to minus infinity.

    Args:
        logits: floating [batch, width] with any strides, changed in place.
        words: int32 [batch, words] on the same device.
        rows: the rows to process; None: all.
    """
    import torch

    width = logits.shape[1]
    count = len(logits) if rows is None else len(rows)
    if count == 0 or width == 0:
        return
    index = None if rows is None else torch.tensor(rows, dtype=torch.int64, device=logits.device)
    _deny[count, triton.cdiv(width, _BLOCK)](
        logits,
        words,
        # Without rows this argument is not read, but must be a tensor.
        words if index is None else index,
        width,
        words.shape[1],
        logits.stride(0),
        logits.stride(1),
        words.stride(0),
        words.stride(1),
        HAS_ROWS=index is not None,
        BLOCK=_BLOCK,
    )


if triton is not None:
    # Triton's compiler looks each annotation up as it does what the body uses, and knows none but its own.
    @triton.jit  # type: ignore[untyped-decorator]
    def _deny(  # type: ignore[no-untyped-def]  # noqa: ANN202, PLR0917  # as Triton calls it
        logits,  # noqa: ANN001
        words,  # noqa: ANN001
        rows,  # noqa: ANN001
        width,  # noqa: ANN001
        word_count,  # noqa: ANN001
        logits_row,  # noqa: ANN001
        logits_token,  # noqa: ANN001
        words_row,  # noqa: ANN001
        words_word,  # noqa: ANN001
        HAS_ROWS: tl.constexpr,  # noqa: N803  # Triton's way of writing constants
        BLOCK: tl.constexpr,  # noqa: N803
    ):
        row = tl.program_id(0).to(tl.int64)
        if HAS_ROWS:
            row = tl.load(rows + row)
        at = tl.program_id(1) * (BLOCK // 32) + tl.arange(0, BLOCK // 32)
        word = tl.load(words + row * words_row + at * words_word, mask=at < word_count, other=0)
        # Eight tokens of which none may come, the most frequent case, are one wide store, whose condition must be the
        # same for all eight.
        part = tl.arange(0, 4)
        byte = (word[:, None] >> (8 * part)[None, :]) & 255
        first = 32 * at[:, None] + 8 * part[None, :]
        whole = (byte == 0) & (first + 8 <= width)
        eight = tl.arange(0, 8)[None, None, :]
        tokens = first[:, :, None] + eight
        places = logits + row * logits_row + tokens * logits_token
        tl.store(places, float("-inf"), mask=tl.broadcast_to(whole[:, :, None], tokens.shape))
        denied = ((byte[:, :, None] >> eight) & 1) == 0
        tl.store(places, float("-inf"), mask=denied & ~whole[:, :, None] & (tokens < width))
