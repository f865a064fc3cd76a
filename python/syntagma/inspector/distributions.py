"""What a model gives each next token, without reading a beginning again that it has just read."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any, Final, TypeAlias

import numpy as np

from syntagma.decoding.backend import Backend, Session

__all__ = ["Distribution", "Distributions"]

Distribution: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
"""the probability of each token, float64 [vocab_size]"""
_KEPT: Final = 32
"""distributions that are kept: a step to the left, or back to a token, costs nothing"""


class Distributions:
    """The distributions of a backend. Threads may share it; one at a time computes.

    Args:
        backend: computes the logits.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._kept: OrderedDict[tuple[int, ...], Distribution] = OrderedDict()
        self._session: Session | None = None
        self._read: tuple[int, ...] = ()
        self._lock = threading.Lock()

    def after(self, token_ids: tuple[int, ...]) -> Distribution | None:
        """The distribution after these tokens, at least one; None where the model's context does not hold them.

        A text that continues the one before it is read from there on.
        """
        if len(token_ids) >= self._backend.context_length:
            return None
        with self._lock:
            if token_ids not in self._kept:
                self._kept[token_ids] = self._computed(token_ids)
            self._kept.move_to_end(token_ids)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
            return self._kept[token_ids]

    def _computed(self, token_ids: tuple[int, ...]) -> Distribution:
        known = len(self._read)
        session, self._session = self._session, None  # one that fails is not used again
        if session is not None and known < len(token_ids) and token_ids[:known] == self._read:
            logits = session.extend(token_ids[known:])
        else:
            session = self._backend.open()
            logits = session.prefill(token_ids)
        self._session, self._read = session, token_ids
        wide = np.asarray(logits, dtype=np.float64)[: self._backend.tokenizer_info.vocab_size]
        powers = np.exp(wide - wide.max())
        return np.asarray(powers / powers.sum())
