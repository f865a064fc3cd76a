"""The interface of encoders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from syntagma.decoding.encoders.control_tokens import Range

__all__ = ["Encoder"]


class Encoder(Protocol):
    """Encodes text for a vocabulary. Safe for several threads; can be pickled."""

    def encode(self, text: str, trusted: Sequence[Range]) -> list[int]:
        """The token ids of a text, with nothing added at either end.

        Args:
            text: the text.
            trusted: half-open ranges of code points, ascending. The text of a control token becomes this token if it is
                completely in one of them; elsewhere it is encoded as plain text.

        Raises:
            VocabularyError: the text cannot be encoded.
        """
        ...
