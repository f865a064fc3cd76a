"""A cache for networks of transformers whose rows are sequences of different lengths.

New tokens are appended after all columns, aligned right. Columns in which a row has no token are masked for it. So rows
may have any length, and may get several tokens at once, or none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

__all__ = ["PaddedCache"]


class PaddedCache:
    """Keys and values of several sequences.

    Args:
        config: the network's configuration.
        rows: number of empty sequences at the start.
        device: the device of the tensors.

    Attributes:
        cache: the cache that the network reads and extends; its tensors are [rows, heads, columns, width].
        seen: bool [rows, columns]: whether a column has a token of the row.
    """

    def __init__(self, config: Any, rows: int, device: Any) -> None:
        from transformers import DynamicCache

        import torch

        self.cache = DynamicCache(config=config)
        self.seen = torch.zeros(rows, 0, dtype=torch.bool, device=device)

    @property
    def columns(self) -> int:
        """The number of columns."""
        return int(self.seen.shape[1])

    def cut(self, columns: int) -> None:
        """Keep only the first `columns` columns."""
        self.seen = self.seen[:, :columns]
        self._change(lambda tensor: tensor[:, :, :columns])

    def add(self, other: PaddedCache) -> None:
        """Append the rows of another cache."""
        from torch.nn.functional import pad

        import torch

        columns = max(self.columns, other.columns)

        def both(mine: Any, new: Any) -> Any:
            return torch.cat([pad(one, (0, 0, columns - one.shape[2], 0)) for one in (mine, new)])

        self._change(both, other.cache)
        self.seen = torch.cat([pad(one, (columns - one.shape[1], 0)) for one in (self.seen, other.seen)])

    def keep(self, rows: Collection[int]) -> None:
        """Keep only these rows, and as many columns as the longest of them has tokens."""
        import torch

        kept = torch.tensor([*rows], device=self.seen.device)
        seen = self.seen[kept]
        # Move the columns with tokens to the right, in order.
        order = seen.int().argsort(dim=1, stable=True)[:, -int(seen.sum(dim=1).max()) :]
        index = order[:, None, :, None]
        self._change(lambda one: one[kept].gather(2, index.expand(-1, one.shape[1], -1, one.shape[3])))
        self.seen = seen.gather(1, order)

    def _change(self, change: Callable[..., Any], *others: Any) -> None:
        """Replace each tensor by `change` of it and of the corresponding tensors of other caches."""
        for layers in zip(*(cache.layers for cache in (self.cache, *others)), strict=True):
            for name in ("keys", "values"):
                tensors = [getattr(layer, name) for layer in layers]
                if tensors[0] is not None:  # None if a layer shares the tensors of another layer
                    setattr(layers[0], name, change(*tensors))
