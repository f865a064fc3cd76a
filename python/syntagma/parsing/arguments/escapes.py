"""The escapes of string literals: those of Python and of JSON."""

from __future__ import annotations

from syntagma.parsing.arguments.json_syntax import HEX_DIGITS

__all__ = ["read_escape", "unescaped"]

_MEANINGS = {
    **{char: char for char in "\\'\"/"},
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "a": "\a",
    "0": "\0",
    "\n": "",
}
_CODE_DIGITS = {"x": 2, "u": 4, "U": 8}


def read_escape(text: str, pos: int, end: int) -> tuple[int, str] | None:
    """Read the escape whose backslash stands at `pos` of `text[:end]`, if it is complete.

    Returns:
        the number of its characters, and its meaning; None: more text is needed. A backslash that begins no escape
        means itself.
    """
    if pos + 1 >= end:
        return None
    char = text[pos + 1]
    if char not in _CODE_DIGITS:
        return (2, _MEANINGS[char]) if char in _MEANINGS else (1, "\\")
    size = 2 + _CODE_DIGITS[char]
    digits = text[pos + 2 : min(end, pos + size)]
    if not HEX_DIGITS.issuperset(digits):
        return 1, "\\"
    if len(digits) < size - 2:
        return None
    code = int(digits, 16)
    if 0xD800 <= code < 0xDC00 and char == "u":
        rest = text[pos + 6 : min(end, pos + 12)]
        if len(rest) < 6 and "\\u".startswith(rest[:2]):
            return None
        low = int(rest[2:], 16) if rest[:2] == "\\u" and HEX_DIGITS.issuperset(rest[2:]) else 0
        if 0xDC00 <= low < 0xE000:
            code, size = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00), 12
    if 0xD800 <= code < 0xE000 or code > 0x10FFFF:
        code = 0xFFFD
    return size, chr(code)


def unescaped(text: str) -> str:
    """The meaning of the text of a string with escapes."""
    found: list[str] = []
    pos = 0
    while (at := text.find("\\", pos)) >= 0:
        size, meaning = read_escape(text, at, len(text)) or (1, "\\")
        found += (text[pos:at], meaning)
        pos = at + size
    return "".join((*found, text[pos:]))
