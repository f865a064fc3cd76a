"""Random texts of a grammar."""

from __future__ import annotations

import random

from syntagma import _engine
from syntagma.grammars.checking import matcher_after, text_of
from syntagma.limits import Limits

__all__ = ["example_texts", "random_walk"]

_WALK_BYTES = 64
_STOP = 1 / 8
_CLOSE_TOKENS = 4096
_WEIGHTS = {"letter": 1.0, "digit": 1.0, "sign": 1.0, "space": 0.25, "other": 0.1}
"""how often a byte of each kind is drawn where several kinds may follow"""
_TRIES = 8
"""walks for each text that is asked for: a grammar of few texts gives the same ones again"""


def example_texts(grammar: _engine.Grammar, count: int, seed: int, limits: Limits) -> tuple[str, ...]:
    """Different texts of a grammar, in the order in which random walks find them; see `Grammar.examples`."""
    start, draws = matcher_after(grammar, "", limits)[0], random.Random(seed)
    found: dict[str, None] = {}
    for _ in range(_TRIES * count):
        walk = random_walk(start.fork(), draws, draws.randint(1, _WALK_BYTES))
        if walk is not None:
            found[text_of(grammar, walk)] = None
        if len(found) == count:
            break
    return tuple(found)


def random_walk(
    matcher: _engine.GrammarMatcher, draws: random.Random, size: int = _WALK_BYTES
) -> list[bytes | int] | None:
    """One random text that prefers letters, digits and punctuation, closed by the shortest end.

    Args:
        matcher: where it begins; it moves on.
        draws: the source of chance.
        size: the most bytes before the end.

    Returns:
        Its bytes one by one and its tokens by their ids, those of the end too; None if no end was found.
    """
    parts: list[bytes | int] = []
    for _ in range(size):
        if matcher.is_accepting() and draws.random() < _STOP:
            break
        following = matcher.next_bytes()
        symbols = matcher.next_symbol_tokens()
        # A token that the grammar names weighs as much as all text that may stand in its place.
        if symbols and not (following and draws.random() < 1 / 2):
            token = draws.randint(*draws.choice(symbols))
            if (not following and matcher.is_accepting()) or not matcher.accept_token(token):
                break
            parts.append(token)
            continue
        if not following:
            break
        byte = _drawn(following, draws)
        if not matcher.accept_bytes(byte):
            break
        parts.append(byte)
    rest = matcher.shortest_close(_CLOSE_TOKENS)
    return None if rest is None else [*parts, *rest]


def _drawn(following: bytes, draws: random.Random) -> bytes:
    """One of these bytes. Its kind is drawn first: a quote has to end a string, however many letters could go on."""
    kinds: dict[str, list[int]] = {}
    for byte in following:
        kinds.setdefault(_kind(byte), []).append(byte)
    kind = draws.choices(list(kinds), [_WEIGHTS[kind] for kind in kinds])[0]
    return bytes([draws.choice(kinds[kind])])


def _kind(byte: int) -> str:
    char = chr(byte)
    if byte >= 0x80 or not (char.isprintable() or char.isspace()):
        return "other"
    return "letter" if char.isalpha() else "digit" if char.isdigit() else "space" if char.isspace() else "sign"
