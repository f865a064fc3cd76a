"""Headers of messages, as models write them: as much as possible is understood, and guesses are recorded.

All readers of messages with headers decide here what a field means. Two rules settle doubtful cases: no text of the
model is lost, and a guess is recorded (`guessed`), so that nothing is shown or run by mistake.
"""

from __future__ import annotations

import re

import msgspec

from syntagma.format_schema.names import IN_HEADER_WORD

__all__ = ["WHITESPACE", "WORD", "Header", "HeaderShape", "read_header"]

WHITESPACE = " \t\r\n"
"""only these four characters separate words"""

WORD = re.compile(r"[^ \t\r\n]+")
_WORD_OF_SECTION = re.compile(IN_HEADER_WORD + "+")
_NAME = re.compile(r"[a-z]+")


class HeaderShape(msgspec.Struct, frozen=True):
    """The possible content of a header.

    Attributes:
        sections: the markers that begin a field, each with the values that it may have; empty: any word.
        keys: the prefixes of fields that are one word, with their sign: `to=`.
        bare: the key of the field that may stand without its key, after a section with fixed values; or None.
        has_role: whether the first word is the role.
    """

    sections: dict[str, tuple[str, ...]]
    keys: frozenset[str]
    bare: str | None = None
    has_role: bool = True


class Header(msgspec.Struct):
    """The content of a header.

    Attributes:
        role: the first word; empty if there is none.
        values: the values of the fields, by their marker or key.
        problems: sentences about malformed parts.
        guessed: whether a part was malformed or repaired.
        unknown: sections whose value is not one of the allowed ones.
        rest: the text that belongs to no field, as (number of the section, index in its text) up to the section's end.
    """

    role: str = ""
    values: dict[str, str] = {}
    problems: list[str] = []
    guessed: bool = False
    unknown: set[str] = set()
    rest: list[tuple[int, int]] = []

    def note(self, message: str) -> None:
        """Record that the header is malformed."""
        self.guessed = True
        self.problems.append(message)


def read_header(sections: list[tuple[str, str]], shape: HeaderShape, *, closed: bool) -> Header:
    """Read a header.

    Args:
        sections: each as `(marker before it, text)`; the first begins with the role.
        shape: its possible content.
        closed: whether the marker of the body followed; without it, the sections also hold the body.
    """
    header = Header(guessed=not closed)
    seen: set[str] = set()
    for number, (marker, text) in enumerate(sections):
        match = WORD.search(text)
        at = match.end() if match is not None else 0
        word = match.group() if match is not None else ""
        if number == 0 and not shape.has_role:
            left = _words(header, shape, text, 0, closed=closed)
        elif number == 0:
            header.role = word
            if match is None:
                header.note("a header without a role")
            left = _words(header, shape, text, at, closed=closed)
        elif shape.sections[marker]:
            taken = _fixed(header, marker, word, shape.sections[marker], again=marker in seen)
            # Without the marker of the body, the body may follow the value directly.
            begin = at if closed else at - len(word) + taken
            left = _words(header, shape, text, begin, closed=closed, bare=closed)
        else:
            left = _free(header, marker, text, match, shape, closed=closed)
        seen.add(marker)
        if left is not None:
            header.rest.append((number, left))
    if closed and header.rest:
        number, left = header.rest[0]
        header.note(f"{sections[number][1][left : left + 40]!r} does not belong in a header")
    return header


def _fixed(header: Header, marker: str, word: str, values: tuple[str, ...], *, again: bool) -> int:
    """Read the value of a section with allowed values; returns how many characters of the word belong to it."""
    found = _NAME.match(word)
    name = found.group() if found else ""
    if again:
        header.note(f"a header with two of {marker}")
        if header.values.get(marker) not in (word, name):
            # It is unknown which of them is meant.
            header.values.pop(marker, None)
            header.unknown.add(marker)
    elif word in values:
        header.values[marker] = word
    elif name in values and not word[len(name) :].isalnum():
        header.values[marker] = name
        header.guessed = True
        return len(name)
    else:
        header.unknown.add(marker)
        header.note(f"{word!r} cannot stand after {marker}")
    return len(word)


def _free(
    header: Header, marker: str, text: str, match: re.Match[str] | None, shape: HeaderShape, *, closed: bool
) -> int | None:
    """Read the value of a section that may have any word."""
    if match is None:
        header.note(f"nothing after {marker}")
        return None
    if _WORD_OF_SECTION.fullmatch(match.group()) is None:
        header.note(f"{match.group()!r} cannot stand after {marker}")
        return _words(header, shape, text, match.start(), closed=True) if closed else match.start()
    if marker in header.values:
        # The last one counts: it stands next to the body.
        header.guessed = True
    header.values[marker] = match.group()
    return _words(header, shape, text, match.end(), closed=closed)


def _words(
    header: Header, shape: HeaderShape, text: str, begin: int, *, closed: bool, bare: bool = False
) -> int | None:
    """Read the fields of one word at the front; returns the index of the rest, or None.

    In a closed header, fields also count after words that do not belong there: the recipient decides who sees the
    message.
    """
    left: int | None = None
    for match in WORD.finditer(text, begin):
        word = match.group()
        key = next((one for one in shape.keys if word.startswith(one)), "")
        value = word[len(key) :]
        if not key or not value:
            if not bare or not _WORD_OF_SECTION.fullmatch(word) or (shape.bare or "") in header.values:
                left, bare = match.start() if left is None else left, False
                if closed:
                    continue
                return left
            key, value, bare = shape.bare or "", word, False
        before = header.values.setdefault(key, value)
        if before != value:
            header.note(f"{key} has two values")
    return left
