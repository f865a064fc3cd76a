"""Atoms: the pieces between which two neighbouring markers may be cut.

An atom is a bracketed run without blanks (`<…>`, `[UPPER]`, any Unicode pair), a bracketed run left open at the end of
the text, one blank, a word, or any other single character. Atoms never decide what a marker *is*.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

__all__ = ["atoms", "common_prefix", "common_suffix", "cores", "same_but_blanks", "skip_prefix"]

_LONGEST = 80
_PAIRS = {"◁": "▷", "⟦": "⟧", "«": "»", "‹": "›"}


def atoms(text: str, whole: str = "") -> list[str]:
    """Cut a text into atoms; `whole` is one more atom if it is not empty (the text that ends a sequence)."""
    found: list[str] = []
    at = 0
    while at < len(text):
        end = at + len(whole) if whole and text.startswith(whole, at) else _end(text, at)
        found.append(text[at:end])
        at = end
    return found


def _end(text: str, at: int) -> int:
    char = text[at]
    if char == "<":
        return _bracketed(text, at, ">", opens=True)
    if char == "[":
        return _upper(text, at)
    closer = _PAIRS.get(char) or _partner(char)
    if closer:
        return _bracketed(text, at, closer, opens=False)
    if char == "_" or char.isalnum():
        end = at + 1
        while end < len(text) and (text[end] == "_" or text[end].isalnum()):
            end += 1
        return end
    return at + 1


def _bracketed(text: str, at: int, closer: str, *, opens: bool) -> int:
    """The end of the bracketed run at `at`; a run that the end of the text cuts counts if `opens`."""
    depth = 1
    while text.startswith(text[at], at + depth):
        depth += 1
    for end in range(at + depth, min(len(text), at + _LONGEST)):
        char = text[end]
        if char == closer:
            return end + depth if text.startswith(closer * depth, end) else at + 1
        if char == text[at] or (char.isspace() and closer != ">") or char in "\n\r\t":
            return at + 1
        if char == " " and not _attribute_follows(text, end + 1):
            return at + 1
    return len(text) if opens and at + depth < len(text) < at + _LONGEST else at + 1


def _attribute_follows(text: str, at: int) -> bool:
    """Whether `word=` stands here: inside a tag only an attribute may follow a blank."""
    end = at
    while end < len(text) and (text[end].isalnum() or text[end] in "_-"):
        end += 1
    return end > at and end < len(text) and text[end] == "="


def _upper(text: str, at: int) -> int:
    end = at + 1
    if end < len(text) and text[end] == "/":
        end += 1
    start = end
    while end < len(text) and (text[end].isupper() or text[end].isdigit() or text[end] in "_ "):
        end += 1
    return end + 1 if end - start > 1 and end < len(text) and text[end] == "]" else at + 1


def _partner(char: str) -> str:
    if char.isascii() or unicodedata.category(char) not in ("Ps", "Pi"):
        return ""
    partner = chr(ord(char) + 1)
    return partner if unicodedata.category(partner) in ("Pe", "Pf") else ""


def common_prefix(texts: Iterable[str], whole: str = "") -> str:
    """The longest run of atoms that all texts begin with; empty without texts."""
    return "".join(_common([atoms(text, whole) for text in texts]))


def common_suffix(texts: Iterable[str], whole: str = "") -> str:
    """The longest run of atoms that all texts end with; empty without texts."""
    return "".join(reversed(_common([atoms(text, whole)[::-1] for text in texts])))


def _common(rows: Sequence[list[str]]) -> list[str]:
    found: list[str] = []
    for column in zip(*rows, strict=False):
        if any(atom != column[0] for atom in column):
            break
        found.append(column[0])
    return found


def cores(text: str, whole: str = "") -> list[str]:
    """The atoms of a text that are not blank."""
    return [atom for atom in atoms(text, whole) if not atom.isspace()]


def same_but_blanks(one: str, other: str) -> bool:
    """Whether two texts differ in blanks only."""
    return "".join(one.split()) == "".join(other.split())


def skip_prefix(text: str, prefix: str) -> str | None:
    """What follows `prefix` in `text`, blanks ignored on both sides; None if `text` does not begin with it."""
    at = 0
    for char in prefix:
        if char.isspace():
            continue
        while at < len(text) and text[at].isspace():
            at += 1
        if at >= len(text) or text[at] != char:
            return None
        at += 1
    return text[at:]
