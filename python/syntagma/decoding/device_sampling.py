"""Chooses tokens where the logits lie, for all sequences of a step at once; only what was chosen comes to the host.

The same as `sampling.draw` row by row, with the same random numbers, up to rounding. Its work begins only where a
backend gives tensors of torch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from syntagma.decoding.bitmask.torch_rows import mask_torch
from syntagma.decoding.sampling import Draw, Drawn, Sampler, TokenLogprob

if TYPE_CHECKING:
    import torch

__all__ = ["draw_together", "samples_on"]


def samples_on(device: torch.device) -> bool:
    """Whether tokens can be chosen on a device: one that is not the host, and has float64."""
    import torch

    if device.type == "cpu":
        return False
    try:
        torch.zeros(1, dtype=torch.float64, device=device)
    except (RuntimeError, TypeError):
        return False
    return True


def draw_together(rows: Sequence[torch.Tensor], asked: Sequence[Draw]) -> list[Drawn | None]:
    """Choose a token of each sequence.

    Args:
        rows: floating [vocab_size] each, on one device; not changed.
        asked: how, for each.

    Returns:
        For each what was chosen, or None where `sampling.draw` must see the logits: nothing finite is left, the token
        is given, or all log-probabilities are asked for.
    """
    import torch

    drawn: list[Drawn | None] = [None] * len(asked)
    places = [at for at, one in enumerate(asked) if one.given is None and not one.explains]
    if not places:
        return drawn
    draws = [asked[at] for at in places]
    with torch.inference_mode():
        logits = torch.stack([rows[at] for at in places]).float()
        telling = [row for row, one in enumerate(draws) if one.logprobs is not None]
        logprobs = logits[telling].double().log_softmax(dim=1) if telling else None
        _mask(logits, draws)
        _adjust(logits, [one.sampler for one in draws])
        best, tokens = logits.max(dim=1)
        _sample(logits, best, tokens, [one.sampler for one in draws])
        found = torch.stack([tokens, best.isfinite()], dim=1).tolist()
        told = {} if logprobs is None else dict(zip(telling, _told(logprobs, tokens, telling, draws), strict=True))
    for row, (at, (token, is_finite)) in enumerate(zip(places, found, strict=True)):
        if is_finite:
            draws[row].sampler.spend()
            drawn[at] = Drawn(token, *told.get(row, ()))
    return drawn


def _mask(logits: torch.Tensor, draws: Sequence[Draw]) -> None:
    """Set the logits of tokens that may not come to minus infinity: all masks go over in one copy."""
    import torch

    width = logits.shape[1]
    if all(
        one.mask is None and one.sampler.allowed is None and not one.held.size and not one.excluded for one in draws
    ):
        return
    # torch keeps pinned memory for the next step.
    pinned = logits.device.type != "cpu"
    words = torch.empty(len(draws), -(-width // 32), dtype=torch.int32, pin_memory=pinned)
    host: Any = words.numpy().view(np.uint32)
    for at, one in enumerate(draws):
        bits = host[at]
        bits[:] = 0xFFFFFFFF if one.mask is None else one.mask.view(np.uint32)
        if one.sampler.allowed is not None:
            allowed = np.zeros_like(bits)
            np.bitwise_or.at(allowed, *_bits(one.sampler.allowed))
            np.bitwise_and(bits, allowed, out=bits)
        word, bit = _bits(np.concatenate([one.held, np.array(one.excluded, np.int64)]))
        np.bitwise_and.at(bits, word, ~bit)
    mask_torch(logits, words, None)


def _bits(tokens: Any) -> tuple[Any, Any]:
    """The words of tokens in a bitmask, and their bits in them."""
    return tokens >> 5, np.uint32(1) << (tokens & 31).astype(np.uint32)


def _adjust(logits: torch.Tensor, samplers: Sequence[Sampler]) -> None:
    """Apply bias and penalties."""
    import torch

    def change(sparse: Callable[[Sampler], tuple[Any, Any]], how: Callable[[Any, Any], Any]) -> None:
        """Change the logits of some tokens by a number for each."""
        each = [
            (np.full(len(tokens), row), tokens, np.broadcast_to(by, tokens.shape))
            for row, (tokens, by) in enumerate(map(sparse, samplers))
            if len(tokens)
        ]
        if each:
            row, token, by = (
                torch.from_numpy(np.concatenate(one)).to(logits.device) for one in zip(*each, strict=True)
            )
            logits[row, token] = how(logits[row, token], by)

    change(lambda one: (one.biased, one.bias), torch.add)
    change(lambda one: one.repeated, lambda values, by: torch.where(values > 0, values / by, values * by))
    change(lambda one: one.counted, torch.sub)


def _sample(logits: torch.Tensor, best: torch.Tensor, tokens: torch.Tensor, samplers: Sequence[Sampler]) -> None:
    """Replace the likeliest tokens of the rows whose temperature is not 0 by sampled ones."""
    import torch

    warm = [row for row, one in enumerate(samplers) if one.sampling.temperature > 0]
    if not warm:
        return
    device, width = logits.device, logits.shape[1]
    asked = [samplers[row].sampling for row in warm]

    def column(values: Sequence[float]) -> torch.Tensor:
        return torch.tensor(values, dtype=torch.float64, device=device)[:, None]

    rows = torch.tensor(warm, device=device)
    weights = logits[rows].double()
    weights -= best[rows, None]
    weights /= column([one.temperature for one in asked])
    weights.exp_()
    if any(one.min_p > 0 for one in asked):
        weights.masked_fill_(weights < column([one.min_p for one in asked]), 0)
    narrowed = [at for at, one in enumerate(asked) if 0 < one.top_k < width or one.top_p < 1]
    if narrowed:
        top_p = column([asked[at].top_p for at in narrowed])
        top_k = column([asked[at].top_k or width for at in narrowed])
        ordered, order = weights[narrowed].sort(dim=1, descending=True, stable=True)
        ranks = torch.arange(width, device=device)
        ordered.masked_fill_(ranks >= top_k, 0)
        cumulative = ordered.cumsum(dim=1)
        # The token that reaches the share is kept, so the set is never empty.
        last = torch.searchsorted(cumulative, top_p * cumulative[:, -1:])
        ordered.masked_fill_((ranks > last) & (top_p < 1), 0)
        weights[narrowed] = torch.zeros_like(ordered).scatter_(1, order, ordered)
    cumulative = weights.cumsum(dim=1)
    drawn = column([samplers[row].number for row in warm]) * cumulative[:, -1:]
    chosen = torch.searchsorted(cumulative, drawn, right=True).clamp_(max=width - 1)
    # Rounding can make the draw equal to the total, and sums in parallel larger where nothing was added.
    chosen = torch.where(weights.gather(1, chosen) > 0, chosen, tokens[rows, None])
    tokens[rows] = chosen[:, 0]


def _told(logprobs: torch.Tensor, tokens: torch.Tensor, rows: Sequence[int], draws: Sequence[Draw]) -> list[Any]:
    """For each of some rows, the log-probabilities of its token and of the likeliest ones."""
    import torch

    counts = [min(draws[row].logprobs or 0, logprobs.shape[1]) for row in rows]
    own = logprobs.gather(1, tokens[torch.tensor(rows, device=tokens.device)][:, None])
    most = max(counts)
    values, ids = logprobs.sort(dim=1, descending=True, stable=True) if most else (own, own)
    # One copy: float64 holds every token id.
    host = torch.cat([own, values[:, :most], ids[:, :most].double()], dim=1).tolist()
    return [
        (row[0], tuple(TokenLogprob(int(row[1 + most + at]), row[1 + at]) for at in range(count)))
        for row, count in zip(host, counts, strict=True)
    ]
