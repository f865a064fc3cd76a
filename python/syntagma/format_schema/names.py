"""The characters that names, keys and ids may have, in the parser and in the grammar alike.

Whitespace ends all of them. Each kind of word also has signs that end it; these belong to the text around it.
"""

from __future__ import annotations

__all__ = [
    "DIGITS",
    "ELEMENT_ENDS",
    "HEADER_SIGNS",
    "IN_HEADER_WORD",
    "IN_NAME",
    "IN_WORD",
    "KEYWORD_SIGNS",
    "NAME_ENDS",
    "NAME_SIGNS",
    "WORD_ENDS",
    "excluding",
    "is_element",
    "is_header_word",
    "is_keyword",
    "is_name",
    "is_word",
    "spelled",
]

DIGITS = "0123456789"
"""the characters of running numbers"""
WORD_ENDS = "<>{}()[]\"'"
"""characters that end an id, a key or a type"""
NAME_ENDS = WORD_ENDS + ",="
"""characters that end the name of a tool"""
NAME_SIGNS = frozenset("-._")
"""signs in names of tools: arguments that begin with one of them do not end a name"""
ELEMENT_ENDS = WORD_ENDS + "/"
"""characters that end a key that names an element: a slash would close one"""
KEYWORD_SIGNS = "_-.$"
"""signs in the keyword of an argument, beside letters and digits"""

HEADER_SIGNS = "_/+.-"
"""signs in a word of a message's header without `key=`, beside ASCII letters and digits"""


def is_word(text: str) -> bool:
    """Whether a text can be an id, a key or a type, so that all of it is read back."""
    return _holds_none(text, WORD_ENDS)


def is_name(text: str) -> bool:
    """Whether a text can be the name of a tool without quotes."""
    return _holds_none(text, NAME_ENDS)


def is_element(text: str) -> bool:
    """Whether a key can name an element."""
    return _holds_none(text, ELEMENT_ENDS)


def is_keyword(text: str) -> bool:
    """Whether a text can be the keyword before a literal, as in a call of a program."""
    return bool(text) and all(char.isalnum() or char in KEYWORD_SIGNS for char in text)


def is_header_word(text: str) -> bool:
    """Whether a text can be a word of a message's header without `key=`."""
    return bool(text) and all((char.isascii() and char.isalnum()) or char in HEADER_SIGNS for char in text)


def excluding(ends: str) -> str:
    r"""The inside of a character class `[^…]`: characters that are neither whitespace nor in `ends`.

    It means the same in Python's regular expressions and in those of grammars, whose `\s` lacks four ASCII separators.
    """
    return r"\s\x1c-\x1f" + spelled(ends)


def spelled(signs: str) -> str:
    """Signs escaped for the inside of a character class."""
    return "".join(f"\\x{ord(sign):02x}" if sign.isascii() else sign for sign in signs)


def _holds_none(text: str, ends: str) -> bool:
    return bool(text) and not any(char.isspace() or char in ends for char in text)


IN_WORD = f"[^{excluding(WORD_ENDS)}]"
"""a character of an id, a key or a type, as a regular expression"""
IN_NAME = f"[^{excluding(NAME_ENDS)}]"
"""a character of a tool's name, as a regular expression"""
IN_HEADER_WORD = f"[A-Za-z0-9{spelled(HEADER_SIGNS)}]"
"""a character of a header's word, as a regular expression"""
