"""Sequences that a network of transformers computes together."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from syntagma.backends.session import check_fits
from syntagma.decoding.backend import Logits

__all__ = ["TransformersBatch", "can_batch"]

_AT_ONCE = {"cpu": 32}
_AT_ONCE_ELSEWHERE = 256
"""an accelerator waits for the weights, whatever the number of tokens"""
_SPARE = 64
"""hidden columns that are not worth moving the others for"""


def can_batch(network: Any) -> bool:
    """Whether each layer keeps keys and values of all positions, and the network is told positions and what to hide."""
    from transformers import DynamicCache
    from transformers.cache_utils import DynamicLayer

    told = inspect.signature(network.forward).parameters
    if getattr(network, "_is_stateful", False) or not {"attention_mask", "position_ids"} <= told.keys():
        return False
    layers = DynamicCache(config=network.config).layers
    return bool(layers) and all(type(layer) is DynamicLayer for layer in layers)


class TransformersBatch:
    """Sequences that are computed together. Not shared between threads.

    Args:
        network: for which `can_batch` holds.
        vocab_size: the width of the logits.
        context_length: tokens of a sequence.

    Attributes:
        tokens_at_once: tokens of all sequences that are worth reading in one pass.
    """

    def __init__(self, network: Any, vocab_size: int, context_length: int) -> None:
        self._network = network
        self._vocab_size = vocab_size
        self._context_length = context_length
        self.tokens_at_once = _AT_ONCE.get(network.device.type, _AT_ONCE_ELSEWHERE)
        told = inspect.signature(network.forward).parameters
        self._options = {"logits_to_keep": 1} if "logits_to_keep" in told else {}
        self._cache: Any = None
        self._lengths: dict[int, int] = {}
        """tokens of each sequence, in the order of the rows of the cache"""

    def prefill(self, token_ids: Mapping[int, Sequence[int]]) -> Sequence[Logits]:
        """Begin sequences with their prompts, in one pass; the logits after each, in order.

        Raises:
            ModelError: `E-MODEL-CONTEXT` or `E-MODEL-TOKEN`, as `TransformersSession.prefill`; none has begun.
        """
        import torch
        from syntagma.backends.padded_cache import PaddedCache

        for ids in token_ids.values():
            check_fits(ids, 0, self._vocab_size, self._context_length)
        with torch.inference_mode():
            cache = PaddedCache(self._network.config, len(token_ids), self._network.device)
            logits = self._pass([*token_ids.values()], [0] * len(token_ids), cache)
            if self._lengths:
                self._cache.add(cache)
            else:
                self._cache = cache
        self._lengths |= {key: len(ids) for key, ids in token_ids.items()}
        return logits

    def extend(self, token_ids: Mapping[int, Sequence[int]]) -> Sequence[Logits]:
        """Append tokens to sequences, in one pass; the logits after the last of each, in order.

        Raises:
            ModelError: as `prefill`; nothing was appended.
        """
        import torch

        lengths = self._lengths
        for key, ids in token_ids.items():
            check_fits(ids, lengths[key], self._vocab_size, self._context_length)
        rows = {key: token_ids.get(key, ()) for key in lengths}
        columns = self._cache.columns
        with torch.inference_mode():
            try:
                logits = self._pass([*rows.values()], [*lengths.values()], self._cache)
            except BaseException:
                self._cache.cut(columns)
                raise
            self._lengths = {key: length + len(rows[key]) for key, length in lengths.items()}
            if self._cache.columns > _SPARE + 2 * max(self._lengths.values()):
                self._cache.keep(range(len(rows)))
        made = dict(zip(rows, logits, strict=True))
        return [made[key] for key in token_ids]

    def drop(self, keys: Collection[int]) -> None:
        """Forget sequences; those that are unknown are passed over."""
        import torch

        kept = [row for row, key in enumerate(self._lengths) if key not in keys]
        if len(kept) == len(self._lengths):
            return
        self._lengths = {key: length for key, length in self._lengths.items() if key not in keys}
        with torch.inference_mode():
            if kept:
                self._cache.keep(kept)
            else:
                self._cache = None

    def _pass(self, rows: Sequence[Sequence[int]], lengths: Sequence[int], cache: Any) -> list[Logits]:
        """Append tokens to each row; the logits after the last."""
        import torch

        width = max(map(len, rows))
        columns = np.arange(width) - np.array([[width - len(ids)] for ids in rows])
        positions = np.maximum(columns + np.array(lengths)[:, None], 0)
        ids = [[0] * (width - len(ids)) + list(ids) for ids in rows]
        device = self._network.device
        cache.seen = torch.cat([cache.seen, torch.from_numpy(columns >= 0).to(device)], dim=1)
        made = self._network(
            input_ids=torch.tensor(ids, device=device),
            attention_mask=cache.seen.long(),
            position_ids=torch.from_numpy(positions).to(device),
            past_key_values=cache.cache,
            use_cache=True,
            **self._options,
        )
        return [*np.array(made.logits[:, -1].float().cpu().numpy())]
