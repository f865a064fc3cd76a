"""Texts that chat templates give a meaning to: what must not stay in an answer, and what a user must not forge."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Final

from syntagma import formats

__all__ = ["control_texts", "left_over"]

# Those that open turns stand in templates only; formats say how a turn is written.
_OPENERS: Final = (
    "<|im_start|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|begin_of_text|>",
    "<|assistant|>",
    "<|system|>",
    "<start_of_turn>",
    "<end_of_turn>",
    "[INST]",
    "[/INST]",
    "<s>",
)
_SHORTEST: Final = 5
"""characters of a marker that no prose has by chance"""


@cache
def _markers() -> Counter[str]:
    """The markers of the registered formats, with the number of formats that have each."""
    found: Counter[str] = Counter()
    for name in formats.names():
        known = formats.get(name)
        found.update({*known.preserved_tokens, *known.stop_strings})
    return Counter({text: count for text, count in found.items() if not text[0].isalnum() and len(text) > 2})


def left_over(text: str) -> str | None:
    """The first marker of any format that stands in a text, or None."""
    found = [(text.index(marker), marker) for marker in _markers() if len(marker) >= _SHORTEST and marker in text]
    return min(found)[1] if found else None


def control_texts(most: int) -> tuple[str, ...]:
    """Texts that are control tokens of some model: those that open turns, then those that most formats have."""
    return tuple(dict.fromkeys((*_OPENERS, *(text for text, _ in _markers().most_common()))))[:most]
