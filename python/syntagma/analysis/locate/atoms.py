"""Atoms: the pieces of a text between which two adjacent markers may be cut.

An atom is a bracketed run without whitespace (`<…>`, `[word]`, `{word}`, any pair of Unicode brackets), a bracketed run
that the end of the text leaves open, a run of one sign with the word after it (`%%done`, `@end`, `~over~`) where
nothing stands before it, a run of one sign (`:::`), one whitespace character, a word, or any other single character.
Atoms decide only where two markers are cut, never what a marker *is*. Functions that take `eos` treat that text, the
sentinel of the end-of-sequence token, as one more atom.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

__all__ = [
    "atoms",
    "common_prefix",
    "common_suffix",
    "equal_ignoring_whitespace",
    "from_visible_atom",
    "text_after",
    "through_first_visible_atom",
    "visible_atoms",
    "without_last_visible_atoms",
]

_MAX_BRACKETED = 80
_SIGNS = "!#$%&*+-/:;=?@^`|~"
"""signs that markers are made of; brackets, quotes, commas and full stops belong to what they stand beside"""
_INNER_SIGNS = ("|", "~", "#", "%", "@", "!", "*", "\N{FULLWIDTH VERTICAL LINE}")
"""signs that may stand on both sides of a word in square brackets"""
_JSON_WORDS = ("true", "false", "null", "True", "False", "None")
_BRACED = re.compile(r"\{(\{)?/?[^\W\d][\w.-]*\}(?(1)\})")
_OPENERS = ("<", "(", "[", "{")
_BRACKETS = {"◁": "▷", "⟦": "⟧", "«": "»", "‹": "›"}


def atoms(text: str, eos: str = "") -> list[str]:
    """Cut a text into atoms."""
    found: list[str] = []
    at = 0
    while at < len(text):
        if eos and text.startswith(eos, at):
            end = at + len(eos)
        elif text[at] in _SIGNS or (_is_further_sign(text[at]) and _closes(text, at, 1)):
            end = _signed(text, at, with_word=not found or not _is_word(found[-1]) or found[-1] == eos)
        else:
            end = _end(text, at)
        inside = text.find(eos, at + 1, end + len(eos) - 1) if eos else -1
        end = inside if inside > at else end
        found.append(text[at:end])
        at = end
    return found


def _end(text: str, at: int) -> int:
    char = text[at]
    if char == "<":
        return _bracketed(text, at, ">", opens=True)
    if char == "[":
        return _squared(text, at)
    if char == "{":
        return _braced(text, at)
    closer = _BRACKETS.get(char) or _partner(char)
    if closer:
        return _bracketed(text, at, closer, opens=False)
    return max(at + 1, _end_of_word(text, at))


def _end_of_word(text: str, at: int) -> int:
    """The end of the letters, digits and underscores at `at`; scripts write vowels as marks on letters."""
    while at < len(text) and (text[at] == "_" or text[at].isalnum() or unicodedata.category(text[at])[0] == "M"):
        at += 1
    return at


def _is_further_sign(char: str) -> bool:
    """Whether a character outside of ASCII is a sign that markers may begin and end with."""
    is_inner = char in _INNER_SIGNS  # it stands beside a bracket, to which it belongs
    return not (char.isascii() or is_inner) and unicodedata.category(char) in ("Po", "Sm", "So")


def _is_word(atom: str) -> bool:
    """Whether a sign after an atom goes on with it: after words and single signs."""
    return (len(atom) == 1 and not atom.isspace()) or _end_of_word(atom, 0) == len(atom)


def _signed(text: str, at: int, *, with_word: bool) -> int:
    """The end of the run of one sign at `at`, with the word after it, and with as many of the sign after that."""
    size = 1
    while text.startswith(text[at], at + size):
        size += 1
    end = at + size
    if size == 2 and not _closes(text, at, 2) and _closes(text, at + 1, 1):
        # The end of one marker and the beginning of the next.
        return at + 1
    if not with_word:
        return end
    if text[end : end + 1] in ("/", "\\") and _closes(text, at, size):
        end += 1
    end = _end_of_word(text, end)
    closed = end + size
    is_closed = end > at + size and text.startswith(text[at] * size, end) and not text[closed : closed + 1].isalnum()
    return closed if is_closed else end


def _closes(text: str, at: int, size: int) -> bool:
    """Whether the run of one sign at `at` stands again after a word, which `/` or a backslash may lead."""
    start = at + size
    start += text[start : start + 1] in ("/", "\\") and bool(text[start : start + 1])
    end = _end_of_word(text, start)
    return end > start and text.startswith(text[at] * size, end)


def _bracketed(text: str, at: int, closer: str, *, opens: bool) -> int:
    """The end of the bracketed run at `at`; `opens`: a run that the end of the text leaves open counts."""
    depth = 1
    while text.startswith(text[at], at + depth):
        depth += 1
    for end in range(at + depth, min(len(text), at + _MAX_BRACKETED)):
        char = text[end]
        if char == closer:
            return end + depth if text.startswith(closer * depth, end) else at + 1
        if char == text[at] or (char.isspace() and closer != ">") or char in "\n\r\t":
            return at + 1
        if char == " " and not _attribute_follows(text, end + 1):
            return at + 1
    return len(text) if opens and at + depth < len(text) < at + _MAX_BRACKETED else at + 1


def _attribute_follows(text: str, at: int) -> bool:
    """Whether `word=` stands here: inside a tag only an attribute may follow a space."""
    end = at
    while end < len(text) and (text[end].isalnum() or text[end] in "_-"):
        end += 1
    return end > at and end < len(text) and text[end] == "="


def _squared(text: str, at: int) -> int:
    """The end of `[WORD]`, `[/word]`, `[[word]]`, `[|word|]` or `[WORD WORD]` at `at`; a value of JSON is none."""
    depth = 1
    while text.startswith("[", at + depth):
        depth += 1
    start = at + depth
    sign = text[start : start + 1] if text[start : start + 1] in _INNER_SIGNS else ""
    start += len(sign)
    start += text.startswith("/", start)
    end = start
    while end < len(text) and (
        text[end].isalnum() or text[end] in "_-:." or (text[end] == " " and text[start].isupper())
    ):
        end += 1
    inside = text[start:end]
    is_name = len(inside) > 1 or inside.isupper() or (inside.isalpha() and (depth > 1 or bool(sign)))
    is_marker = is_name and not inside[0].isdigit() and inside not in _JSON_WORDS
    closer = sign + "]" * depth
    return end + len(closer) if is_marker and text.startswith(closer, end) else at + 1


def _braced(text: str, at: int) -> int:
    """The end of `{word}` or `{/word}` at `at`, braces doubled or not; an object of JSON is none."""
    found = _BRACED.match(text, at)
    return at + 1 if found is None else found.end()


def _partner(char: str) -> str:
    """The closing bracket of an opening one outside ASCII; empty for other characters."""
    if char.isascii() or unicodedata.category(char) not in ("Ps", "Pi"):
        return ""
    partner = chr(ord(char) + 1)
    return partner if unicodedata.category(partner) in ("Pe", "Pf") else ""


def common_prefix(texts: Iterable[str], eos: str = "") -> str:
    """The longest run of atoms that all texts begin with; empty without texts.

    A text with which all others begin ends where something was put in, so it is cut there and nowhere else, unless it
    leaves a bracket open.
    """
    texts = list(texts)
    shortest = min(texts, key=len, default="")
    if shortest[-1:] not in _OPENERS and all(text.startswith(shortest) for text in texts):
        return shortest
    return "".join(_common([atoms(text, eos) for text in texts]))


def common_suffix(texts: Iterable[str], eos: str = "") -> str:
    """The longest run of atoms that all texts end with; empty without texts."""
    return "".join(reversed(_common([atoms(text, eos)[::-1] for text in texts])))


def _common(rows: Sequence[list[str]]) -> list[str]:
    found: list[str] = []
    for column in zip(*rows, strict=False):
        if any(atom != column[0] for atom in column):
            break
        found.append(column[0])
    return found


def visible_atoms(text: str, eos: str = "") -> list[str]:
    """The atoms of a text that are not whitespace."""
    return [atom for atom in atoms(text, eos) if not atom.isspace()]


def from_visible_atom(text: str, count: int, eos: str) -> str:
    """The end of a text from its `count`-th last visible atom; the whole text if it has fewer."""
    pieces = atoms(text, eos)
    at = len(pieces)
    while count and at:
        at -= 1
        count -= not pieces[at].isspace()
    return "".join(pieces[at:])


def through_first_visible_atom(text: str, eos: str) -> str:
    """The beginning of a text, up to and with its first visible atom."""
    pieces = atoms(text, eos)
    at = next((i for i, piece in enumerate(pieces) if not piece.isspace()), len(pieces) - 1)
    return "".join(pieces[: at + 1])


def without_last_visible_atoms(text: str, count: int, eos: str) -> str:
    """The text before its last `count` visible atoms."""
    pieces = atoms(text, eos)
    while count and pieces:
        count -= not pieces.pop().isspace()
    return "".join(pieces)


def equal_ignoring_whitespace(one: str, other: str) -> bool:
    """Whether two texts differ in whitespace only."""
    return "".join(one.split()) == "".join(other.split())


def text_after(prefix: str, text: str) -> str | None:
    """What follows `prefix` in `text`, ignoring whitespace in both; None if `text` does not begin with it."""
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
