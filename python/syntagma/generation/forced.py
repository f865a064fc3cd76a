"""Tokens of text that a grammar forces; the model need not compute them."""

from __future__ import annotations

import functools

from syntagma.decoding import GrammarMatcher, TokenizerInfo
from syntagma.errors import VocabularyError

__all__ = ["ForcedTokens"]


class ForcedTokens:
    """The forced tokens of one answer, one after another.

    They are the tokens that the tokenizer makes of the text, whatever follows it. A vocabulary that cannot encode text
    has none.

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
            matcher: if the last call returned a token, the matcher has accepted that one since, and no other.
        """
        if not self._ahead and self._can_encode:
            try:
                self._ahead = matcher.jump_forward_tokens(self._encode)
            except VocabularyError:
                self._can_encode = False
        return self._ahead.pop(0) if self._ahead else None
