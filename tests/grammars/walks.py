"""Grammars over single bytes: whether a text is in the language, and texts that are."""

from __future__ import annotations

import random

import syntagma as sg

_END = 256


class DeadEnd(AssertionError):
    """A mask has led to where no text of the language can be finished."""


def byte_compiler() -> sg.GrammarCompiler:
    """A compiler whose tokens are the bytes."""
    tokens = [bytes([value]) for value in range(_END)] + [b"<end>"]
    return sg.GrammarCompiler(sg.TokenizerInfo.from_tokens(tokens, eos_token_ids=[_END]))


def accepts(compiled: sg.CompiledGrammar, text: str) -> bool:
    """Whether the whole text is in the language."""
    matcher = sg.GrammarMatcher(compiled)
    return matcher.accept_bytes(text.encode("utf-8", "surrogatepass")) and matcher.is_accepting()


def random_text(
    compiled: sg.CompiledGrammar, rng: random.Random, patience: int = 60, *, always_ends: bool = False
) -> str:
    """A text of the language: bytes at random, and after `patience` of them the shortest way to an end.

    `always_ends`: look after each byte whether there is a way to an end.

    Raises:
        DeadEnd: there is none.
    """
    matcher = sg.GrammarMatcher(compiled)
    written = bytearray()
    for _ in range(patience):
        following = matcher.next_bytes()
        if not following or (matcher.is_accepting() and rng.random() < 0.3):
            break
        # Whitespace and escapes are allowed nearly everywhere; without this they would be most of the text.
        plain = bytes(byte for byte in following if byte not in b" \t\r\n\\" and byte < 0x80) or following
        chosen = rng.choice(plain if rng.random() < 0.95 else following)
        matcher.accept_bytes(bytes([chosen]))
        written.append(chosen)
        if always_ends and matcher.shortest_close() is None:
            raise DeadEnd(written.decode("utf-8", "replace"))
    close = matcher.shortest_close()
    if close is None:
        raise DeadEnd(written.decode("utf-8", "replace"))
    written += bytes(token for token in close if token != _END)
    return written.decode("utf-8")
