"""The syntax of JSON as tables, for everything that reads it character by character."""

from __future__ import annotations

from syntagma.format_schema.names import DIGITS

__all__ = [
    "CLOSE",
    "COLON",
    "ESCAPES",
    "HEX_DIGITS",
    "ITEM",
    "ITEM_ENDED",
    "KEY",
    "KEY_OR_END",
    "KEY_STRING",
    "MEMBER_ENDED",
    "NEXT",
    "NUMBER",
    "NUMBER_ENDS",
    "NUMBER_NEXT",
    "OPEN_ARRAY",
    "OPEN_OBJECT",
    "SIGN",
    "STRING",
    "VALUE",
    "VALUE_OR_END",
    "WORD",
    "WORDS",
    "ZERO",
    "first_of_number",
]

HEX_DIGITS = frozenset("0123456789abcdefABCDEF")
ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
"""the character after a backslash → its meaning; `u` and four digits are not in it"""
WORDS = {"t": "true", "f": "false", "n": "null"}

# The states of a reader outside of strings, words and numbers: what may come next.
VALUE, VALUE_OR_END, ITEM, KEY, KEY_OR_END, COLON, MEMBER_ENDED, ITEM_ENDED = range(8)
# What a character may begin or end.
STRING, KEY_STRING, WORD, NUMBER, OPEN_OBJECT, OPEN_ARRAY, CLOSE = range(8, 15)

_VALUES = {
    '"': STRING,
    "{": OPEN_OBJECT,
    "[": OPEN_ARRAY,
    "-": NUMBER,
    **dict.fromkeys(WORDS, WORD),
    **dict.fromkeys(DIGITS, NUMBER),
}
NEXT: tuple[dict[str, int], ...] = (
    _VALUES,  # VALUE
    {**_VALUES, "]": CLOSE},  # VALUE_OR_END
    _VALUES,  # ITEM: after a comma
    {'"': KEY_STRING},  # KEY: after a comma
    {'"': KEY_STRING, "}": CLOSE},  # KEY_OR_END
    {":": VALUE},  # COLON
    {",": KEY, "}": CLOSE},  # MEMBER_ENDED
    {",": ITEM, "]": CLOSE},  # ITEM_ENDED
)
"""state → character → the next state, or what the character begins or ends; only whitespace fits besides"""

# The states of a number, by the last character read.
SIGN, ZERO, _INTEGER, _POINT, _FRACTION, _EXPONENT, _EXPONENT_SIGN, _POWER = range(8)
NUMBER_ENDS = frozenset((ZERO, _INTEGER, _FRACTION, _POWER))
"""states in which a number is complete"""
NUMBER_NEXT: tuple[dict[str, int], ...] = (
    {"0": ZERO} | dict.fromkeys(DIGITS[1:], _INTEGER),
    {".": _POINT, "e": _EXPONENT, "E": _EXPONENT},
    {".": _POINT, "e": _EXPONENT, "E": _EXPONENT} | dict.fromkeys(DIGITS, _INTEGER),
    dict.fromkeys(DIGITS, _FRACTION),
    {"e": _EXPONENT, "E": _EXPONENT} | dict.fromkeys(DIGITS, _FRACTION),
    {"+": _EXPONENT_SIGN, "-": _EXPONENT_SIGN} | dict.fromkeys(DIGITS, _POWER),
    dict.fromkeys(DIGITS, _POWER),
    dict.fromkeys(DIGITS, _POWER),
)
"""state of a number → character → the next state"""


def first_of_number(char: str) -> int:
    """The state of a number that begins with this sign or digit."""
    return NUMBER_NEXT[SIGN].get(char, SIGN)
