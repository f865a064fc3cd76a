"""Reads one JSON value as it arrives: finds its end, and passes its text on. No recursion, no look-back."""

from __future__ import annotations

import re
from typing import ClassVar

from syntagma.parsing.arguments.source import ArgumentSource, OpenString

__all__ = ["WHITESPACE", "JsonMachine"]

WHITESPACE = " \t\n\r"
"""what may stand between the parts of a JSON text"""
_PLAIN = OpenString(frozenset(('"', "\\", *map(chr, range(32)))))
_STRING_STOP = re.compile('["\\\\\x00-\x1f]')
_DIGITS = "0123456789"
_HEX = "0123456789abcdefABCDEF"
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_WORDS = {"t": "true", "f": "false", "n": "null"}

# What is expected next.
_VALUE, _VALUE_OR_END, _KEY, _KEY_OR_END, _COLON, _COMMA_OR_END = range(6)
_STRING, _ESCAPE, _UNICODE, _WORD, _NUMBER = range(6, 11)

# A number's states, and where each kind of character leads. Those in `_WHOLE` may end.
_SIGN_STATE, _ZERO, _INTEGER, _POINT, _FRACTION, _EXPONENT, _EXPONENT_SIGN, _POWER = range(8)
_WHOLE = (_ZERO, _INTEGER, _FRACTION, _POWER)
_NUMBER_STEPS: tuple[dict[str, int], ...] = (
    {"0": _ZERO} | dict.fromkeys(_DIGITS[1:], _INTEGER),
    {".": _POINT, "e": _EXPONENT, "E": _EXPONENT},
    {".": _POINT, "e": _EXPONENT, "E": _EXPONENT} | dict.fromkeys(_DIGITS, _INTEGER),
    dict.fromkeys(_DIGITS, _FRACTION),
    {"e": _EXPONENT, "E": _EXPONENT} | dict.fromkeys(_DIGITS, _FRACTION),
    {"+": _EXPONENT_SIGN, "-": _EXPONENT_SIGN} | dict.fromkeys(_DIGITS, _POWER),
    dict.fromkeys(_DIGITS, _POWER),
    dict.fromkeys(_DIGITS, _POWER),
)


class JsonMachine(ArgumentSource):
    """One JSON value; as a source of arguments, an object behind its brace or with it.

    A raw control character inside a string, which JSON forbids and models write, is passed on as its escape.

    Attributes:
        done: the value is whole.
        bad: the next character cannot continue a JSON value.
        repaired: a control character was escaped.
    """

    __slots__ = ("_in_key", "_left", "_number", "_stack", "_state", "_word", "bad", "done", "repaired")

    ends_at_markers: ClassVar[bool] = True

    def __init__(self) -> None:
        self._stack: list[str] = []
        self._state = _VALUE
        self._in_key = False
        self._left = 0
        self._word = ""
        self._number = _SIGN_STATE
        self.done = False
        self.bad = False
        self.repaired = False

    @property
    def in_string(self) -> bool:
        """A string has begun and not ended."""
        return not (self.done or self.bad) and self._state in (_STRING, _ESCAPE, _UNICODE)

    @property
    def open_string(self) -> OpenString | None:
        """See `ArgumentSource`."""
        return _PLAIN if self._state == _STRING and not (self.done or self.bad) else None

    def feed(self, text: str, pos: int, end: int) -> tuple[int, str]:
        """See `ArgumentSource`.

        A number on its own ends at the first character that is not part of it, which is not read.
        """
        out: list[str] = []
        start = pos
        while pos < end and not (self.done or self.bad):
            state = self._state
            if state == _STRING:
                stop = _STRING_STOP.search(text, pos, end)
                if stop is None:
                    pos = end
                    break
                pos = stop.start()
                char = text[pos]
                if char == '"':
                    self._state = _COLON if self._in_key else _COMMA_OR_END
                    if not self._in_key:
                        self._value_ended()
                elif char == "\\":
                    self._state = _ESCAPE
                else:
                    out.append(text[start:pos])
                    out.append(_SHORT.get(char, f"\\u{ord(char):04x}"))
                    start = pos + 1
                    self.repaired = True
                pos += 1
                continue
            char = text[pos]
            if state == _NUMBER:
                step = _NUMBER_STEPS[self._number].get(char)
                if step is not None:
                    self._number = step
                    pos += 1
                elif self._number in _WHOLE:
                    self._value_ended()
                else:
                    self.bad = True
                continue
            if state >= _STRING:
                self._inside(state, char)
            elif char not in WHITESPACE:
                self._structure(state, char)
            if not self.bad:
                pos += 1
        out.append(text[start:pos])
        return pos, "".join(out)

    def _inside(self, state: int, char: str) -> None:
        """One character of an escape or a word."""
        if state == _ESCAPE:
            if char == "u":
                self._state, self._left = _UNICODE, 4
            elif char in '"\\/bfnrt':
                self._state = _STRING
            else:
                self.bad = True
        elif state == _UNICODE:
            if char not in _HEX:
                self.bad = True
            else:
                self._left -= 1
                if not self._left:
                    self._state = _STRING
        elif self._word[0] == char:
            self._word = self._word[1:]
            if not self._word:
                self._value_ended()
        else:
            self.bad = True

    def _structure(self, state: int, char: str) -> None:
        """One character between strings, words and numbers."""
        if state == _COLON:
            self._state, self.bad = _VALUE, char != ":"
        elif state == _COMMA_OR_END:
            top = self._stack[-1]
            if char == ",":
                self._state = _KEY if top == "{" else _VALUE
            elif (top, char) in (("{", "}"), ("[", "]")):
                self._close()
            else:
                self.bad = True
        elif state in (_KEY, _KEY_OR_END):
            if char == '"':
                self._state, self._in_key = _STRING, True
            elif char == "}" and state == _KEY_OR_END:
                self._close()
            else:
                self.bad = True
        elif char == '"':
            self._state, self._in_key = _STRING, False
        elif char in "{[":
            self._stack.append(char)
            self._state = _KEY_OR_END if char == "{" else _VALUE_OR_END
        elif char == "]" and state == _VALUE_OR_END:
            self._close()
        elif char in _WORDS:
            self._state, self._word = _WORD, _WORDS[char][1:]
        elif char == "-":
            self._state, self._number = _NUMBER, _SIGN_STATE
        elif char in _DIGITS:
            self._state, self._number = _NUMBER, _ZERO if char == "0" else _INTEGER
        else:
            self.bad = True

    def _close(self) -> None:
        self._stack.pop()
        self._value_ended()

    def _value_ended(self) -> None:
        self._state = _COMMA_OR_END
        if not self._stack:
            self.done = True
