"""Encodes the sections of text between control tokens with any function that encodes plain text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from syntagma.decoding.encoders.control_tokens import ControlTokens, Range
from syntagma.errors import VocabularyError

__all__ = ["SectionEncoder"]


class SectionEncoder:
    """Encodes each section of text between two control tokens separately.

    Args:
        control: the control tokens of the vocabulary.
        encode_text: encodes plain text and adds nothing. If its result contains a control token, the text is cut inside
            of that token's text and encoded again.
        encode_later: the same for sections that do not begin the text; None: `encode_text`.
    """

    def __init__(
        self,
        control: ControlTokens,
        encode_text: Callable[[str], Sequence[int]],
        encode_later: Callable[[str], Sequence[int]] | None = None,
    ) -> None:
        self._control = control
        self._forbidden = frozenset(control.ids.values())
        self._encode_text = encode_text
        self._encode_later = encode_later or encode_text

    def encode(self, text: str, trusted: Sequence[Range]) -> list[int]:
        """The token ids of a text, see `Encoder.encode`.

        Raises:
            VocabularyError: `E-VOCAB-CONTROL`, plain text becomes a control token, even if it is cut.
        """
        ids: list[int] = []
        done = 0
        for placed in self._control.find(text, trusted):
            ids += self._plain(text[done : placed.start], first=done == 0)
            ids.append(placed.token_id)
            done = placed.end
        return ids + self._plain(text[done:], first=done == 0)

    def _plain(self, text: str, *, first: bool) -> list[int]:
        if not text:
            return []
        ids = list((self._encode_text if first else self._encode_later)(text))
        if self._forbidden.isdisjoint(ids):
            return ids
        ids, done = [], 0
        for cut in [*(placed.start + 1 for placed in self._control.find(text)), len(text)]:
            ids += (self._encode_text if first and not done else self._encode_later)(text[done:cut])
            done = cut
        found = self._forbidden.intersection(ids)
        # A character outside of the vocabulary becomes its token for unknown text, which is no error.
        if found and any(placed.token_id in found for placed in self._control.find(text)):
            raise VocabularyError(
                "E-VOCAB-CONTROL",
                f"plain text is encoded as control token {min(found)}",
                hint="the function that encodes text must not read special tokens",
            )
        return ids
