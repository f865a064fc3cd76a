"""What encodes text for a vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from syntagma.decoding.encoders.control_tokens import Range

__all__ = ["Encoder"]


class Encoder(Protocol):
    """Encodes text. Threads may share it; it can be pickled."""

    def encode(self, text: str, trusted: Sequence[Range]) -> list[int]:
        """Token ids of a text; nothing is added at either end.

        Args:
            text: what is encoded.
            trusted: half-open ranges of code points, ascending. The text of a control token that lies wholly in one of
                them is that token; everywhere else it is spelled by other tokens.

        Raises:
            VocabularyError: the text cannot be encoded.
        """
        ...
