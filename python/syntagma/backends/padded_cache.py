"""The cache of a network of transformers, with sequences of any length as rows.

New tokens go after all columns, aligned on the right; columns in which a row has no token are hidden from it. So rows
may be of any length, and may be given several tokens at once, or none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

__all__ = ["PaddedCache"]


class PaddedCache:
    """Keys and values of sequences.

    Args:
        config: that of the network.
        rows: empty sequences to begin with.
        device: where the tensors lie.

    Attributes:
        cache: what the network reads and appends to; tensors are [rows, heads, columns, width].
        seen: bool [rows, columns], which columns hold a token of the row.
    """

    def __init__(self, config: Any, rows: int, device: Any) -> None:
        from transformers import DynamicCache

        import torch

        self.cache = DynamicCache(config=config)
        self.seen = torch.zeros(rows, 0, dtype=torch.bool, device=device)

    @property
    def columns(self) -> int:
        """Columns of every row."""
        return int(self.seen.shape[1])

    def cut(self, columns: int) -> None:
        """Take back all columns but so many."""
        self.seen = self.seen[:, :columns]
        self._change(lambda tensor: tensor[:, :, :columns])

    def add(self, other: PaddedCache) -> None:
        """Put the rows of another one after these."""
        from torch.nn.functional import pad

        import torch

        columns = max(self.columns, other.columns)

        def both(mine: Any, new: Any) -> Any:
            return torch.cat([pad(one, (0, 0, columns - one.shape[2], 0)) for one in (mine, new)])

        self._change(both, other.cache)
        self.seen = torch.cat([pad(one, (columns - one.shape[1], 0)) for one in (self.seen, other.seen)])

    def keep(self, rows: Collection[int]) -> None:
        """Keep these rows, and as many columns as the longest has tokens."""
        import torch

        kept = torch.tensor([*rows], device=self.seen.device)
        seen = self.seen[kept]
        # What is seen moves to the right, in order.
        order = seen.int().argsort(dim=1, stable=True)[:, -int(seen.sum(dim=1).max()) :]
        index = order[:, None, :, None]
        self._change(lambda one: one[kept].gather(2, index.expand(-1, one.shape[1], -1, one.shape[3])))
        self.seen = seen.gather(1, order)

    def _change(self, change: Callable[..., Any], *others: Any) -> None:
        """Put into each layer what a function makes of its tensor and those of other caches."""
        for layers in zip(*(cache.layers for cache in (self.cache, *others)), strict=True):
            for name in ("keys", "values"):
                tensors = [getattr(layer, name) for layer in layers]
                if tensors[0] is not None:  # a layer may use what another one keeps
                    setattr(layers[0], name, change(*tensors))
