"""Decodes a JSON string as it arrives, and encodes one."""

from __future__ import annotations

import re
from json.encoder import encode_basestring

from syntagma.parsing.arguments.json_syntax import ESCAPES, HEX_DIGITS

__all__ = ["StringReader", "json_text"]

_STOP = re.compile(r'["\\]')


def json_text(text: str) -> str:
    """The text escaped for the inside of a JSON string."""
    quoted: str = encode_basestring(text)
    return quoted[1:-1]


class StringReader:
    """The rest of a JSON string, after its opening quote.

    An escape is read only when it is complete: until then the position stays at its backslash.

    Attributes:
        done: whether the closing quote was read.
        bad: whether the next character is not allowed in a JSON string.
    """

    __slots__ = ("bad", "done")

    def __init__(self) -> None:
        self.done = False
        self.bad = False

    def piece(self, text: str, pos: int, end: int) -> tuple[int, str]:
        """Read one run of plain characters or one escape of `text[pos:end]`; returns the new position and its meaning.

        The position does not move if more text is needed, or if the string is `bad`.
        """
        if pos >= end:
            return pos, ""
        char = text[pos]
        if char == '"':
            self.done = True
            return pos + 1, ""
        if char == "\\":
            return self._escape(text, pos, end)
        stop = _STOP.search(text, pos, end)
        stop_at = stop.start() if stop else end
        return stop_at, text[pos:stop_at]

    def _escape(self, text: str, pos: int, end: int) -> tuple[int, str]:
        if pos + 1 >= end:
            return pos, ""
        kind = text[pos + 1]
        if kind != "u":
            self.bad = kind not in ESCAPES
            return (pos, "") if self.bad else (pos + 2, ESCAPES[kind])
        unit = self._unit(text, pos, end)
        if unit is None:
            return pos, ""
        if 0xD800 <= unit < 0xDC00:
            # The second half of a surrogate pair may follow; without it, this half means nothing.
            rest = text[pos + 6 : min(end, pos + 8)]
            if "\\u".startswith(rest) and len(rest) < 2:
                return pos, ""
            if rest == "\\u":
                low = self._unit(text, pos + 6, end)
                if low is None:
                    return pos, ""
                if 0xDC00 <= low < 0xE000:
                    return pos + 12, chr(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))
        return pos + 6, "\ufffd" if 0xD800 <= unit < 0xE000 else chr(unit)

    def _unit(self, text: str, pos: int, end: int) -> int | None:
        digits = text[pos + 2 : min(end, pos + 6)]
        self.bad = not HEX_DIGITS.issuperset(digits)
        return None if self.bad or len(digits) < 4 else int(digits, 16)
