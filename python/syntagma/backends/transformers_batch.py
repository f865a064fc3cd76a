"""Batches of sequences that a network of transformers computes together."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from syntagma.backends.causal_network import CausalNetwork
from syntagma.backends.session import check_fits
from syntagma.decoding.backend import Logits

__all__ = ["TransformersBatch", "can_batch"]

_AT_ONCE = {"cpu": 32}
_AT_ONCE_ELSEWHERE = 256
"""an accelerator waits for the weights, whatever the number of tokens"""
_PROMPT_AT_ONCE = {"cpu": 256}
_PROMPT_AT_ONCE_ELSEWHERE = 2048
"""tokens of prompts in one pass: an accelerator reads many in the time that a person does not notice"""
_SPARE = 64
"""masked columns that are tolerated before the cache is compacted"""


def can_batch(network: Any) -> bool:
    """Whether a network can be batched.

    Each layer must cache keys and values of all positions, and the network must take an attention mask and positions.
    """
    from transformers import DynamicCache
    from transformers.cache_utils import DynamicLayer

    told = inspect.signature(network.forward).parameters
    if getattr(network, "_is_stateful", False) or not {"attention_mask", "position_ids"} <= told.keys():
        return False
    layers = DynamicCache(config=network.config).layers
    return bool(layers) and all(type(layer) is DynamicLayer for layer in layers)


class TransformersBatch:
    """Sequences that are computed together. Not safe for several threads.

    Args:
        network: one for which `can_batch` is true.
        vocab_size: the width of the logits.
        context_length: largest number of tokens of a sequence.

    Attributes:
        tokens_at_once: tokens of all sequences that are worth reading in one pass.
        prompt_tokens_at_once: tokens of prompts that one pass reads.
    """

    def __init__(self, network: CausalNetwork, vocab_size: int, context_length: int) -> None:
        self._network = network
        self._vocab_size = vocab_size
        self._context_length = context_length
        self.tokens_at_once = _AT_ONCE.get(network.device.type, _AT_ONCE_ELSEWHERE)
        self.prompt_tokens_at_once = _PROMPT_AT_ONCE.get(network.device.type, _PROMPT_AT_ONCE_ELSEWHERE)
        self._cache: Any = None
        self._lengths: dict[int, int] = {}
        """tokens of each sequence, in the order of the rows of the cache"""
        self._parts: dict[int, Any] = {}
        """prompts of which a part was read, each in a cache of its own, so that no other row is computed with it"""

    def prefill_part(self, key: int, token_ids: Sequence[int]) -> None:
        """Read a part of a prompt, from its beginning or from the end of the last part on.

        Raises:
            ModelError: as `prefill`; the part was not read.
        """
        ((_, cache),) = self._read_prompts([{key: token_ids}])
        self._parts[key] = cache

    def prefill(self, token_ids: Mapping[int, Sequence[int]]) -> Sequence[Logits]:
        """Begin sequences with their prompts, or with what is left of them; the logits after each, in order.

        Those of which nothing was read are read in one pass.

        Raises:
            ModelError: `E-MODEL-CONTEXT` or `E-MODEL-TOKEN`, see `TransformersSession.prefill`; then no sequence has
                begun.
        """
        import torch

        fresh = {key: ids for key, ids in token_ids.items() if key not in self._parts}
        groups = [{key: ids} for key, ids in token_ids.items() if key in self._parts] + ([fresh] if fresh else [])
        made: dict[int, Logits] = {}
        for group, (logits, cache) in zip(groups, self._read_prompts(groups), strict=True):
            made |= zip(group, logits, strict=True)
            lengths = {key: self._read_of(key) if key in self._parts else len(ids) for key, ids in group.items()}
            for key in group:
                self._parts.pop(key, None)
            with torch.inference_mode():
                if self._lengths:
                    self._cache.add(cache)
                else:
                    self._cache = cache
            self._lengths |= lengths
        return [made[key] for key in token_ids]

    def _read_of(self, key: int) -> int:
        """Tokens of a prompt of which a part was read; none of others."""
        return self._parts[key].columns if key in self._parts else 0

    def _read_prompts(self, groups: Sequence[Mapping[int, Sequence[int]]]) -> list[tuple[Sequence[Logits], Any]]:
        """Read prompts, each group in one pass and a cache; those of which a part was read go on in theirs, alone."""
        import torch
        from syntagma.backends.padded_cache import PaddedCache

        before = {key: self._read_of(key) for group in groups for key in group}
        for group in groups:
            for key, ids in group.items():
                check_fits(ids, before[key], self._vocab_size, self._context_length)
        made = []
        with torch.inference_mode():
            try:
                for group in groups:
                    cache = self._parts.get(next(iter(group)))
                    if cache is None:
                        cache = PaddedCache(self._network.config, len(group), self._network.device)
                    made.append((self._pass([*group.values()], [before[key] for key in group], cache), cache))
            except BaseException:
                for key in before.keys() & self._parts.keys():
                    self._parts[key].cut(before[key])
                raise
        return made

    def extend(self, token_ids: Mapping[int, Sequence[int]]) -> Sequence[Logits]:
        """Append tokens to sequences, in one pass, and return the logits after the last of each, in order.

        Raises:
            ModelError: see `prefill`; then nothing was appended.
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
        """Discard sequences. Unknown ones are ignored."""
        import torch

        for key in keys:
            self._parts.pop(key, None)
        kept = [row for row, key in enumerate(self._lengths) if key not in keys]
        if len(kept) == len(self._lengths):
            return
        self._lengths = {key: length for key, length in self._lengths.items() if key not in keys}
        with torch.inference_mode():
            if kept:
                self._cache.keep(kept)
            else:
                self._cache = None

    def _pass(self, rows: Sequence[Sequence[int]], lengths: Sequence[int], cache: Any) -> Sequence[Logits]:
        """Append tokens to each row, and return the logits after the last of each."""
        import torch

        width = max(map(len, rows))
        columns = np.arange(width) - np.array([[width - len(ids)] for ids in rows])
        positions = np.maximum(columns + np.array(lengths)[:, None], 0)
        ids = [[0] * (width - len(ids)) + list(ids) for ids in rows]
        device = self._network.device
        cache.seen = torch.cat([cache.seen, torch.from_numpy(columns >= 0).to(device)], dim=1)
        logits, _ = self._network.read(
            ids, cache.cache, attention_mask=cache.seen.long(), position_ids=torch.from_numpy(positions).to(device)
        )
        return logits
