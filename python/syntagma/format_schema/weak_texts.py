"""Literals that also occur in prose: single signs, runs of one sign, and plain words.

Readers and grammars take them for markers in fewer places than others.
"""

from __future__ import annotations

from syntagma.format_schema.pattern import Pattern

__all__ = ["begins_exactly", "is_weak_before_name", "needs_known_name", "stands_alone"]

_SIGNS = "!#$%&*+-./:;=>?@^_|~"
"""signs that prose also has runs of"""


def stands_alone(literal: str) -> bool:
    """Whether a literal is a marker wherever it occurs; a single sign needs the whitespace or the section around it."""
    return len(literal.strip()) != 1


def begins_exactly(opener: str) -> bool:
    """Whether exactly the whitespace that is shown must follow this opener of a call: a sign, a run of it, or a word.

    In prose, other text follows them, or none.
    """
    core = opener.strip()
    is_run = bool(core) and core == core[0] * len(core) and core[0] in _SIGNS
    return is_run or is_weak_before_name(opener)


def is_weak_before_name(opener: str) -> bool:
    """Whether only a declared tool's name directly after this opener makes a call: it is a single sign or a word."""
    return not stands_alone(opener) or opener.strip().isalpha()


def needs_known_name(call: Pattern) -> bool:
    """Whether only a declared tool's name makes a call of this pattern: a sign or a word alone stands before it."""
    return is_weak_before_name(call.opener) and call.placeholders[:1] == ("name",)
