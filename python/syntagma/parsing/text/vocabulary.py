"""The tokens of a vocabulary, as the parser needs them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import Protocol

from syntagma.parsing.text.token_kind import TokenKind

__all__ = ["KnownTokens", "Vocabulary"]


class Vocabulary(Protocol):
    """The part of a `TokenizerInfo` that the parser needs. If it has `eos_token_ids`, these tokens end a turn."""

    @property
    def special_token_ids(self) -> Sequence[int] | Set[int]:
        """Ids of the special tokens."""
        ...

    def token_bytes(self, token_id: int, /) -> bytes:
        """The bytes of a token."""
        ...


class KnownTokens:
    """The tokens of a vocabulary, decoded once each.

    Args:
        info: the vocabulary.
        texts: the texts that have a meaning in the format.

    Attributes:
        info: the vocabulary.
        special: the texts of its special tokens.
        ends: the tokens that end a turn. An end token with a meaning in the format, such as the end of a message, is
            read as that, and is not among them.
        kind: the kind of its text tokens.
    """

    __slots__ = ("_whole", "ends", "info", "kind", "special")

    def __init__(self, info: Vocabulary, texts: Iterable[str]) -> None:
        self.info = info
        self.special = {token: info.token_bytes(token).decode("utf-8", "replace") for token in info.special_token_ids}
        ends = {token for token in getattr(info, "eos_token_ids", ()) if token in self.special}
        self.ends = frozenset(token for token in ends if not any(self.special[token] in text for text in texts))
        self.kind = TokenKind(frozenset(self.special.values()))
        self._whole: dict[int, str | None] = dict.fromkeys(self.special)

    def text_of(self, ids: Sequence[int]) -> str | None:
        """The text of these tokens; None if one is special, or is not valid text by itself."""
        whole = self._whole
        texts = []
        for token in ids:
            try:
                text = whole[token]
            except KeyError:
                text = whole[token] = self._decoded(token)
            if text is None:
                return None
            texts.append(text)
        return texts[0] if len(texts) == 1 else "".join(texts)

    def _decoded(self, token: int) -> str | None:
        try:
            return self.info.token_bytes(token).decode()
        except UnicodeDecodeError:
            return None
