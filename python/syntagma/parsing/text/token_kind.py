"""What is known of the tokens that a piece of text was made of, which decides whether a look-alike is a marker."""

from __future__ import annotations

from collections.abc import Set

__all__ = ["SPECIAL", "TEXT", "UNKNOWN", "TokenKind"]


class TokenKind:
    """The kind of a piece of text.

    * `UNKNOWN`: nothing is known; what looks like a marker is one.
    * `SPECIAL`: it is one special token; a marker is the whole of it or not there.
    * `TEXT`: it holds no special token; what looks like a marker is text.
    * any other: text tokens of a vocabulary. A marker that the vocabulary has a special token for would be that token,
      so what looks like it is text; other markers are spelled by text tokens.

    Compared by identity.

    Args:
        special_texts: the texts of the vocabulary's special tokens; None: no text is a marker.
    """

    __slots__ = ("_special_texts",)

    def __init__(self, special_texts: Set[str] | None) -> None:
        self._special_texts = special_texts

    def may_hold(self, marker: str) -> bool:
        """Whether what looks like this marker may be one."""
        return self._special_texts is not None and marker not in self._special_texts


UNKNOWN = TokenKind(frozenset())
SPECIAL = TokenKind(frozenset())
TEXT = TokenKind(None)
