"""The base class of sessions with a cache, and the checks of their arguments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from syntagma.decoding.backend import Logits, Session
from syntagma.errors import ModelError

__all__ = ["CachedSession", "check_fits"]


class CachedSession(Session, ABC):
    """One sequence that is being generated, for networks that read any number of tokens in one pass.

    Args:
        vocab_size: the width of the logits.
        context_length: largest number of tokens of prompt and answer together.
    """

    def __init__(self, vocab_size: int, context_length: int) -> None:
        self._vocab_size = vocab_size
        self._context_length = context_length
        self._length = 0

    def prefill(self, token_ids: Sequence[int]) -> Logits:
        """Read the prompt, and return the logits after its last token.

        Raises:
            ModelError: `E-MODEL-CONTEXT`, the prompt is longer than the context; `E-MODEL-TOKEN`, it is empty or has an
                unknown token.
        """
        return self.extend(token_ids)

    def step(self, token_id: int) -> Logits:
        """Append one token, and return the logits after it. Raises the errors of `prefill`."""
        return self.extend((token_id,))

    def extend(self, token_ids: Sequence[int]) -> Logits:
        """Append tokens in one pass, and return the logits after the last. Raises the errors of `prefill`."""
        check_fits(token_ids, self._length, self._vocab_size, self._context_length)
        logits = self._read(list(token_ids))
        self._length += len(token_ids)
        return logits

    @abstractmethod
    def _read(self, token_ids: list[int]) -> Logits:
        """Append checked tokens, at least one, and return the logits after the last, which the caller may overwrite."""


def check_fits(token_ids: Sequence[int], length: int, vocab_size: int, context_length: int) -> None:
    """Check tokens before they are appended to a sequence of `length` tokens.

    Raises:
        ModelError: `E-MODEL-CONTEXT`, the sequence becomes longer than the context; `E-MODEL-TOKEN`, there is no token,
            or an unknown one.
    """
    if not token_ids:
        raise ModelError("E-MODEL-TOKEN", "the list of tokens is empty")
    unknown = next((token for token in token_ids if not 0 <= token < vocab_size), None)
    if unknown is not None:
        raise ModelError("E-MODEL-TOKEN", f"token {unknown} is outside of the vocabulary of {vocab_size}")
    if length + len(token_ids) > context_length:
        raise ModelError(
            "E-MODEL-CONTEXT", f"{length + len(token_ids)} tokens do not fit into the context of {context_length}"
        )
