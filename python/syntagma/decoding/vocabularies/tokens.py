"""`Tokens`: a vocabulary as it was read, as plain data."""

from __future__ import annotations

import msgspec

__all__ = ["Tokens"]


class Tokens(msgspec.Struct, frozen=True, kw_only=True):
    """The tokens of a vocabulary.

    Attributes:
        table: bytes by token id; empty bytes are never allowed.
        eos_token_ids: tokens that end a turn.
        special_token_ids: tokens that text never matches.
        added_token_ids: tokens added to the trained vocabulary, special or not. They replace a marker with exactly
            their text.
    """

    table: list[bytes]
    eos_token_ids: tuple[int, ...]
    special_token_ids: tuple[int, ...]
    added_token_ids: tuple[int, ...] = ()
