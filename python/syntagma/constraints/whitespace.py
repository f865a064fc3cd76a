"""Grammars of whitespace, shared by all places where the parser accepts any run."""

from __future__ import annotations

from collections.abc import Iterable

from syntagma.grammars import Grammar

__all__ = ["SOME_WHITESPACE", "WHITESPACE", "joined", "whitespace_pattern"]

_ANY = 8
"""the most characters in a row, of any kind"""
_INDENTED = 63
"""the most spaces in a row after a line break"""


def whitespace_pattern(most: int = _INDENTED + 1) -> str:
    """Whitespace that a model may write between words, as a regular expression of at most `most` characters in a row.

    Models may fall into endless whitespace, which a grammar of JSON would let them repeat until the token limit. Beside
    the indentation of a new line, eight characters are enough.
    """
    indented = f"|\\n {{0,{min(most - 1, _INDENTED)}}}" if most > 0 else ""
    return f"[ \\t\\n\\r]{{0,{min(most, _ANY)}}}{indented}"


WHITESPACE = Grammar.from_regex(whitespace_pattern())
"""any run or none"""
SOME_WHITESPACE = Grammar.from_regex(f"[ \\t\\n\\r]{{1,{_ANY}}}|\\n {{0,{_INDENTED}}}")
"""any run, which keeps two words apart"""


def joined(parts: Iterable[Grammar]) -> Grammar:
    """The concatenation of grammars; whitespace after whitespace is left out."""
    found: list[Grammar] = []
    for part in parts:
        if part is not WHITESPACE or not found or found[-1] is not WHITESPACE:
            found.append(part)
    return Grammar.concat(*found)
