"""Adapts tokenizers of other libraries to the needs of an encoding."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

import msgspec

from syntagma.decoding import TokenizerInfo
from syntagma.errors import ArgumentTypeError

__all__ = ["Spelled", "Vocabulary", "vocabulary_of"]


class Vocabulary(msgspec.Struct, frozen=True):
    """The functions and tokens of a tokenizer.

    Attributes:
        encode: encodes ordinary text, never to special tokens.
        decode: returns the bytes of a token that is not special.
        special: ids of the special tokens by their text.
    """

    encode: Callable[[str], list[int]]
    decode: Callable[[int], bytes]
    special: dict[str, int]


def vocabulary_of(tokenizer: Any) -> Vocabulary:
    """The vocabulary of a `tiktoken.Encoding`, a `tokenizers.Tokenizer`, or a fast `transformers` tokenizer.

    Raises:
        ArgumentTypeError: `E-HARMONY-TOKENIZER`, the object is none of these.
        VocabularyError: the vocabulary is not supported.
    """
    if hasattr(tokenizer, "encode_ordinary") and hasattr(tokenizer, "decode_single_token_bytes"):
        special = {text: tokenizer.encode_single_token(text) for text in tokenizer.special_tokens_set}
        return Vocabulary(tokenizer.encode_ordinary, tokenizer.decode_single_token_bytes, special)
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if not hasattr(backend, "get_added_tokens_decoder") or not hasattr(backend, "encode"):
        raise ArgumentTypeError(
            "E-HARMONY-TOKENIZER",
            f"tokenizers of type {type(tokenizer).__name__} are not supported",
            hint="give encode_text, decode_bytes and special instead",
        )
    info = TokenizerInfo.from_huggingface(backend, eos_token_ids=())
    special = {token.content: number for number, token in backend.get_added_tokens_decoder().items()}
    return Vocabulary(_text_encoder(backend, special), info.token_bytes, special)


class Spelled:
    """Finds the texts of special tokens in text."""

    def __init__(self, special: Collection[str]) -> None:
        self._texts = frozenset(special)
        self._firsts = {text[0] for text in self._texts if text}
        self._sizes = sorted({len(text) for text in self._texts if text}, reverse=True)

    def find(self, text: str) -> Iterator[tuple[int, str]]:
        """All occurrences with their indexes, from left to right; at each place the longest one."""
        at = 0
        while True:
            found = [index for first in self._firsts if (index := text.find(first, at)) >= 0]
            if not found:
                return
            at = min(found)
            one = next((text[at : at + size] for size in self._sizes if text[at : at + size] in self._texts), None)
            if one is None:
                at += 1
                continue
            yield at, one
            at += len(one)


def _text_encoder(backend: Any, special: Collection[str]) -> Callable[[str], list[int]]:
    """A function that encodes text without special tokens: their texts are cut after the first character."""
    spelled = Spelled(special)

    def encode(text: str) -> list[int]:
        ids: list[int] = []
        at = 0
        for index, _ in spelled.find(text):
            ids += backend.encode(text[at : index + 1], add_special_tokens=False).ids
            at = index + 1
        return ids + list(backend.encode(text[at:], add_special_tokens=False).ids)

    return encode
