"""Literals that also occur in prose: single signs, runs of one sign, and plain words.

The parser and the grammar take them for markers in fewer places than other literals.
"""

from __future__ import annotations

from syntagma.format_schema.pattern import Pattern

__all__ = ["begins_exactly", "is_weak", "needs_known_name", "stands_alone"]

_SIGNS = "!#$%&*+-./:;=>?@^_|~"
"""signs of which runs also occur in prose"""


def stands_alone(literal: str) -> bool:
    """Whether a literal is a marker wherever it occurs; a single sign needs the whitespace or the section around it."""
    return len(literal.strip()) != 1


def begins_exactly(opener: str) -> bool:
    """Whether this opener of a call must be followed by exactly the whitespace that is shown: a sign, a run, or a word.

    In prose, something else follows them.
    """
    core = opener.strip()
    is_run = bool(core) and core == core[0] * len(core) and core[0] in _SIGNS
    return is_run or is_weak(opener)


def is_weak(opener: str) -> bool:
    """Whether an opener is a single sign or a word alone, which any prose holds.

    It opens a text only where the answer begins, and makes a call only directly before a declared tool's name.
    """
    return not stands_alone(opener) or opener.strip().isalpha()


def needs_known_name(call: Pattern) -> bool:
    """Whether only a declared tool's name makes a call of this pattern: a sign or a word alone stands before it."""
    return is_weak(call.opener) and call.placeholders[:1] == ("name",)
