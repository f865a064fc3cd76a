"""The vocabulary of the 256 bytes, for testing texts against a grammar without a model."""

from __future__ import annotations

from collections.abc import Sequence

from syntagma.decoding.tokenizer_info import TokenizerInfo

__all__ = ["byte_vocabulary"]


def byte_vocabulary(special: Sequence[str] = ("<end>",), *, vocab_size: int | None = None) -> TokenizerInfo:
    """A vocabulary with one token per byte, whose id is the byte. It can encode text.

    Args:
        special: texts of special tokens, at least one. Their ids begin at 256; the first one ends a turn.
        vocab_size: the width of the logits, if it is larger than the number of tokens.
    """
    info = TokenizerInfo.from_tokens(
        [bytes([value]) for value in range(256)] + [text.encode() for text in special],
        eos_token_ids=[256],
        special_token_ids=list(range(256, 256 + len(special))),
        vocab_size=vocab_size,
    )
    return info.with_encoder(_bytes_of)


def _bytes_of(text: str) -> list[int]:
    return list(text.encode())
