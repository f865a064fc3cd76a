"""Misspelt placeholders in the patterns of a file: `{args}`, `{Name}`, `{tool_name}`.

Braces are literal text in a pattern unless the word between them is a placeholder, so a typing error would silently
become text that no model writes. A word between braces is refused if it is close to a placeholder, or stands in place
of one that the pattern needs. JSON with its braces is no such word, and neither is a pair `{word}` … `{/word}`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from syntagma.errors import FormatError
from syntagma.format_schema.pattern import PLACEHOLDERS
from syntagma.format_schema.validation import ALLOWED_PLACEHOLDERS, format_error

__all__ = ["check_words"]

_WORD = re.compile(r"\{\s*([A-Za-z_][A-Za-z0-9_-]*)\s*\}")
_MEANS_CALL = ("{arguments}", "{envelope}")
_MEANS_NAME = ("{name}", "{envelope}", "{id}")
_MIN_ABBREVIATION = 3
"""letters of a word; with fewer, it would abbreviate anything"""
_ALIKE = 0.75
"""the ratio of common letters from which on words are close"""


def check_words(tables: Mapping[str, Any]) -> None:
    """Check the patterns of a file, given as TOML tables with `from` resolved.

    Raises:
        FormatError: `E-FORMAT-PATTERN`, a word between braces is meant as a placeholder but is none; with the pointer.
    """
    for pointer, kind, text in _patterns(tables):
        for match in _WORD.finditer(text):
            word = match[1]
            if match[0] == f"{{{word}}}" and (word in PLACEHOLDERS or f"{{/{word}}}" in text):
                continue
            allowed = ALLOWED_PLACEHOLDERS[kind]
            near = _nearest(word, allowed)
            if near is not None or _needs_one(kind, text):
                raise _misspelt(pointer, match[0], near, allowed)


def _misspelt(pointer: str, written: str, near: str | None, allowed: tuple[str, ...]) -> FormatError:
    known = ", ".join(f"{{{word}}}" for word in allowed)
    hint = f"did you mean {{{near}}}? " if near is not None else ""
    return format_error("E-FORMAT-PATTERN", pointer, f"{written} is not a placeholder", f"{hint}known here: {known}")


def _patterns(tables: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The pointer of the key, the kind, and the text of every pattern."""
    for part in ("reasoning", "content", "tools"):
        table = tables.get(part)
        if not isinstance(table, Mapping):
            continue
        further = table.get("also")
        forms = [(f"/{part}", table)]
        if isinstance(further, list):
            forms += [(f"/{part}/also/{n}", one) for n, one in enumerate(further) if isinstance(one, Mapping)]
        for pointer, form in forms:
            for key, value in form.items():
                kind = f"{part}.{key}"
                if kind in ALLOWED_PLACEHOLDERS:
                    texts = value if isinstance(value, list) else [value]
                    yield from ((f"{pointer}/{key}", kind, text) for text in texts if isinstance(text, str))


def _nearest(word: str, allowed: tuple[str, ...]) -> str | None:
    """The placeholder that a word is close to: nearly the same letters, an abbreviation, or a part of the word."""
    lower = word.lower()
    if lower in allowed:
        return lower
    for placeholder in allowed:
        if placeholder in re.split("[_-]", lower) or _abbreviates(lower, placeholder):
            return placeholder
    return next(iter(difflib.get_close_matches(lower, allowed, n=1, cutoff=_ALIKE)), None)


def _abbreviates(word: str, placeholder: str) -> bool:
    """Whether the letters of a word stand in a placeholder in this order, the first one at its beginning."""
    letters = iter(placeholder)
    return len(word) >= _MIN_ABBREVIATION and word[0] == placeholder[0] and all(letter in letters for letter in word)


def _needs_one(kind: str, text: str) -> bool:
    """Whether a pattern lacks a placeholder that patterns of its kind have, or must have JSON in place of the word."""
    if kind == "tools.envelope":
        return True
    if kind == "tools.call":
        return not any(one in text for one in _MEANS_CALL) or not any(one in text for one in _MEANS_NAME)
    required = {
        "reasoning.block": "reasoning",
        "content.block": "content",
        "content.before_calls": "content",
        "tools.section": "calls",
    }.get(kind)
    wanted = ("key", "value") if kind == "tools.argument" else (required,) if required is not None else ()
    return any(f"{{{one}}}" not in text for one in wanted)
