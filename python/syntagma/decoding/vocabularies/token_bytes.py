"""Converts the texts of tokens to their bytes, with one function for each way in which vocabularies spell bytes."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TypeAlias

__all__ = ["TokenSpelling", "byte_fallback", "byte_level", "metaspace"]

TokenSpelling: TypeAlias = Callable[[str], bytes | None]
"""a token's text → its bytes; None if the text cannot be such a token"""

_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_SPACE = "▁"


@cache
def _byte_alphabet() -> dict[str, int]:
    """The alphabet of byte-level BPE: printable Latin-1 characters mean themselves, other bytes U+0100 and above.

    Source: the published table of the GPT-2 encoder, which all byte-level tokenizers use.
    """
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    moved = [byte for byte in range(256) if byte not in set(printable)]
    return {chr(byte): byte for byte in printable} | {chr(256 + i): byte for i, byte in enumerate(moved)}


def byte_level(text: str) -> bytes | None:
    """Byte-level BPE: every character is one byte of the alphabet."""
    alphabet = _byte_alphabet()
    try:
        return bytes([alphabet[character] for character in text])
    except KeyError:
        return None


def metaspace(text: str) -> bytes:
    """SentencePiece without byte tokens: `▁` is a space."""
    return text.replace(_SPACE, " ").encode("utf-8", "surrogatepass")


def byte_fallback(text: str) -> bytes:
    """SentencePiece with byte tokens: `<0x0A>` is one byte, `▁` is a space."""
    match = _BYTE_TOKEN.fullmatch(text)
    return bytes([int(match[1], 16)]) if match else metaspace(text)
