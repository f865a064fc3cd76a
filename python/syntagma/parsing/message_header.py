"""Headers of messages, as models write them: as much as possible is understood, and guesses are recorded.

All readers of messages with headers decide here what a field means. Two rules settle doubtful cases: no text of the
model is lost, and a guess is recorded (`guessed`), so that nothing is shown or run by mistake. Where the shape says so,
a header that is whole but for its beginning is no guess (`repaired`): what decides where its message goes stands there.
"""

from __future__ import annotations

import re

import msgspec

from syntagma.format_schema.names import IN_HEADER_WORD
from syntagma.json_types import WHITESPACE

__all__ = ["WORD", "Header", "HeaderShape", "read_header"]

"""only these four characters separate words"""

WORD = re.compile(r"[^ \t\r\n]+")
_WORD_OF_SECTION = re.compile(IN_HEADER_WORD + "+")
_NAME = re.compile(r"[a-z]+")
_TYPE_OF_OBJECT = re.compile(f"({IN_HEADER_WORD}+)[ \\t\\r\\n]*(?={{)")
_ATTRIBUTE = re.compile(r"([A-Za-z_][A-Za-z0-9_.-]*)=(.+)", re.DOTALL)
_OBJECT = "{"
"""what arguments begin with, where the marker of the body is missing"""


class HeaderShape(msgspec.Struct, frozen=True):
    """The possible content of a header.

    Attributes:
        sections: the markers that begin a field, each with the values that it may have; empty: any word.
        keys: the prefixes of fields that are one word, with their sign: `to=`.
        bare: the key of the field that may stand without its key, after a section with fixed values; or None.
        has_role: whether the first word is the role.
        role: the word for the model's role.
        leading: a section with fixed values; a header may then lack its beginning, up to such a value. Empty: all but a
            whole header is a guess.
    """

    sections: dict[str, tuple[str, ...]]
    keys: frozenset[str]
    bare: str | None = None
    has_role: bool = True
    role: str = ""
    leading: str = ""

    def begins(self, text: str) -> bool:
        """Whether a text begins as a header that lacks its opener."""
        word = WORD.search(text)
        return word is not None and self.beginning(word.group()) is not None

    def beginning(self, word: str) -> tuple[int, str] | None:
        """The parts of a word at the beginning of a header; None: it is another word.

        Returns:
            how often it holds the role, and a value of `leading` after that, which may be empty.
        """
        if not self.leading:
            return (1, "") if word == self.role else None
        count = 0
        while word.startswith(self.role):
            word = word[len(self.role) :]
            count += 1
        return (count, word) if not word or word in self.sections[self.leading] else None


class Header(msgspec.Struct):
    """The content of a header.

    Attributes:
        role: the first word; empty if there is none.
        values: the values of the fields, by their marker or key.
        extra: fields of one word with an unknown key, where headers are recovered.
        problems: sentences about malformed parts.
        guessed: whether a part had to be guessed.
        repaired: whether its beginning is missing or malformed.
        closed: whether the marker of the body followed.
        unknown: fields whose value is not certain: it is not one of the allowed ones, or there are several.
        rest: the text that belongs to no field, as (number of the section, index in its text) up to the section's end.
    """

    role: str = ""
    values: dict[str, str] = {}
    extra: dict[str, str] = {}
    problems: list[str] = []
    guessed: bool = False
    repaired: bool = False
    closed: bool = True
    unknown: set[str] = set()
    rest: list[tuple[int, int]] = []

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong with it."""
        return self.closed and not self.guessed and not self.repaired

    def note(self, message: str) -> None:
        """Record that the header is malformed."""
        self.guessed = True
        self.problems.append(message)


def read_header(
    sections: list[tuple[str, str]], shape: HeaderShape, *, closed: bool, prompted: bool = False, repaired: bool = False
) -> Header:
    """Read a header.

    Args:
        sections: each as `(marker before it, text)`; the first begins with the role.
        shape: its possible content.
        closed: whether the marker of the body followed; without it, the sections also hold the body.
        prompted: whether the prompt has begun it; the model may then repeat the role.
        repaired: whether its opener was missing or repeated.
    """
    recovers = bool(shape.leading)
    header = Header(guessed=not recovers and (repaired or not closed), repaired=repaired, closed=closed)
    seen: set[str] = set()
    for number, (marker, text) in enumerate(sections):
        match = WORD.search(text)
        at = match.end() if match is not None else 0
        word = match.group() if match is not None else ""
        if number == 0 and not shape.has_role:
            left = _words(header, shape, text, 0, closed=closed)
        elif number == 0 and recovers:
            # Only the last section of a header that was not closed may hold text of the body.
            is_whole = closed or len(sections) > 1
            at = _beginning(header, shape, text, closed=is_whole, prompted=prompted)
            left = _words(header, shape, text, at, closed=is_whole)
            if shape.leading in header.values:
                seen.add(shape.leading)
        elif number == 0:
            header.role = word
            if match is None:
                header.note("a header without a role")
            left = _words(header, shape, text, at, closed=closed)
        elif shape.sections[marker]:
            taken = _fixed(header, shape, marker, word, again=marker in seen)
            # Without the marker of the body, the body may follow the value directly.
            begin = at if closed else at - len(word) + taken
            left = _words(header, shape, text, begin, closed=closed, bare=closed or recovers)
        else:
            left = _free(header, marker, text, match, shape, closed=closed)
        seen.add(marker)
        if left is not None:
            header.rest.append((number, left))
    if closed and header.rest:
        number, left = header.rest[0]
        header.note(f"{sections[number][1][left : left + 40]!r} does not belong in a header")
    return header


def _beginning(header: Header, shape: HeaderShape, text: str, *, closed: bool, prompted: bool) -> int:
    """Read what stands before the fields of the first section, whole or not; returns the index after it.

    Args:
        header: the header, into which it is read.
        shape: its possible content.
        text: the first section.
        closed: whether none of the text can belong to the body.
        prompted: whether the prompt holds the role.
    """
    if text.strip(WHITESPACE) == shape.role:
        header.role = shape.role
        return len(text)
    at = roles = 0
    for match in WORD.finditer(text):
        found = shape.beginning(match.group())
        if found is None:
            break
        count, value = found
        roles += count
        at = match.end() if closed else match.start() + count * len(shape.role)
        if value and closed:
            _take(header, shape.leading, value)
            header.repaired = True
        if at < match.end():
            break
    if not at:
        # Another role, or none.
        first = WORD.search(text)
        if first is None:
            header.note("a header without a role")
            return 0
        header.role = first.group()
        return first.end()
    if roles:
        header.role = shape.role
    else:
        header.note("a header without a role")
    if closed:
        stray = next((m.start() for m in WORD.finditer(text, at) if _ATTRIBUTE.fullmatch(m.group())), len(text))
        if text[at:stray].strip(WHITESPACE):
            # Words before the fields say nothing about them, unless nothing else says that a header begins.
            header.guessed = header.guessed or header.repaired
            header.repaired = True
            at = stray
    header.repaired = header.repaired or roles > 1 + prompted
    return at


def _take(header: Header, field: str, value: str) -> None:
    """Take the value of a field. If it has another one, it is unknown which is meant."""
    if field not in header.unknown and header.values.setdefault(field, value) != value:
        header.note(f"{field} has two values")
        del header.values[field]
        header.unknown.add(field)


def _take_extra(header: Header, word: str) -> bool:
    """Take a field with an unknown key; returns whether the word is one."""
    match = _ATTRIBUTE.fullmatch(word)
    if match is not None and header.extra.setdefault(match[1], match[2]) != match[2]:
        header.note(f"{match[1]}= has two values")
    return match is not None


def _fixed(header: Header, shape: HeaderShape, marker: str, word: str, *, again: bool) -> int:
    """Read the value of a section with allowed values; returns how many characters of the word belong to it."""
    values = shape.sections[marker]
    found = _NAME.match(word)
    name = found.group() if found else ""
    if again and shape.leading and word in values:
        _take(header, marker, word)
    elif again:
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
    word, end = match.group(), match.end()
    if shape.leading and not closed and _OBJECT in word:
        # The arguments follow directly.
        word, end = word.partition(_OBJECT)[0], match.start() + word.index(_OBJECT)
        if not word:
            return end
    if _WORD_OF_SECTION.fullmatch(word) is None:
        header.note(f"{match.group()!r} cannot stand after {marker}")
        return _words(header, shape, text, match.start(), closed=True) if closed else match.start()
    if marker in header.values and not (shape.leading and header.values[marker] == word):
        # The last one counts: it stands next to the body.
        header.guessed = True
    header.values[marker] = word
    return _words(header, shape, text, end, closed=closed)


def _words(
    header: Header, shape: HeaderShape, text: str, begin: int, *, closed: bool, bare: bool = False
) -> int | None:
    """Read the fields of one word at the front; returns the index of the rest, or None.

    In a closed header, fields also count after words that do not belong there: the recipient decides who sees the
    message.
    """
    left: int | None = None
    for match in WORD.finditer(text, begin):
        word, end = match.group(), match.end()
        key = next((one for one in shape.keys if word.startswith(one)), "")
        value = word[len(key) :]
        if key and shape.leading and not closed and _OBJECT in value:
            value, end = value.partition(_OBJECT)[0], match.start() + word.index(_OBJECT)
        if not key or not value:
            if not closed:
                typed = _TYPE_OF_OBJECT.match(text, match.start()) if bare else None
                if typed is None:
                    return match.start()
                header.values.setdefault(shape.bare or "", typed[1])
                return typed.end()
            if shape.leading and not key and _take_extra(header, word):
                continue
            if not bare or not _WORD_OF_SECTION.fullmatch(word) or (shape.bare or "") in header.values:
                left, bare = match.start() if left is None else left, False
                continue
            key, value, bare = shape.bare or "", word, False
        if shape.leading:
            _take(header, key, value)
        elif header.values.setdefault(key, value) != value:
            header.note(f"{key} has two values")
        if end < match.end():
            return end
    return left
