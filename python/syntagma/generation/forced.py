"""Tokens of text that a grammar forces, for which no model need be asked."""

from __future__ import annotations

import functools

from syntagma.decoding import GrammarMatcher, TokenizerInfo
from syntagma.errors import VocabularyError

__all__ = ["ForcedTokens"]


class ForcedTokens:
    """The tokens of one answer that are certain, one after another.

    They are those that the tokenizer would write, whatever text comes after them. A vocabulary that cannot encode has
    none.

    Args:
        info: the vocabulary.
    """

    def __init__(self, info: TokenizerInfo) -> None:
        self._encode = functools.partial(info.encode, trusted=())
        self._can_encode = True
        self._ahead: list[int] = []

    def next(self, matcher: GrammarMatcher) -> int | None:
        """The next token if text is forced, else None.

        Args:
            matcher: it has accepted every token that was given here before, and nothing else since.
        """
        if not self._ahead and self._can_encode:
            try:
                self._ahead = matcher.jump_forward_tokens(self._encode)
            except VocabularyError:
                self._can_encode = False
        return self._ahead.pop(0) if self._ahead else None
