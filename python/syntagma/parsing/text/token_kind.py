"""What is known about the tokens of a piece of text, which decides whether text that looks like a marker is one."""

from __future__ import annotations

from collections.abc import Iterator, Set

__all__ = ["SPECIAL", "TEXT", "UNKNOWN", "TokenKind"]


class TokenKind:
    """The kind of a piece of text.

    * `UNKNOWN`: nothing is known; text that looks like a marker is one.
    * `SPECIAL`: it is one special token; a marker is the whole of it.
    * `TEXT`: it holds no special token; text that looks like a marker is text.
    * any other: text tokens of a vocabulary. If the vocabulary has a special token for a marker, text that looks like
      it is text; other markers are spelled by text tokens.

    Compared by identity.

    Args:
        special_texts: the texts of the vocabulary's special tokens; None: no text is a marker.
    """

    __slots__ = ("_longest", "_special_texts", "_tokens_in")

    def __init__(self, special_texts: Set[str] | None) -> None:
        self._special_texts = special_texts
        self._longest = max(map(len, special_texts), default=0) if special_texts else 0
        self._tokens_in: dict[str, tuple[tuple[int, str], ...]] = {}

    def may_hold(self, marker: str) -> bool:
        """Whether text that looks like this marker may be one."""
        return self._special_texts is not None and marker not in self._special_texts

    def tokens_in(self, text: str) -> tuple[tuple[int, str], ...]:
        """The special tokens in a text as the vocabulary writes it, each with its index: the longest at each position.

        A token of one character, or with whitespace at an edge, counts only if it is the whole text: inside other text
        it may be ordinary text. The markers of a grammar are resolved in the same way.
        """
        found = self._tokens_in.get(text)
        if found is None:
            found = self._tokens_in[text] = tuple(self._cut(text))
        return found

    def _cut(self, text: str) -> Iterator[tuple[int, str]]:
        special = self._special_texts or frozenset()
        if text in special:
            yield 0, text
            return
        at = 0
        while at < len(text):
            sizes = range(min(self._longest, len(text) - at), 1, -1)
            parts = (text[at : at + size] for size in sizes)
            token = next((part for part in parts if part in special and part == part.strip()), None)
            if token is not None:
                yield at, token
            at += len(token or " ")


UNKNOWN = TokenKind(frozenset())
SPECIAL = TokenKind(frozenset())
TEXT = TokenKind(None)
