"""Reads one JSON value as it arrives, finds its end, and passes its text on. No recursion, no look-back."""

from __future__ import annotations

import re
from typing import ClassVar

from syntagma.json_types import WHITESPACE
from syntagma.parsing.arguments.json_syntax import (
    CLOSE,
    COLON,
    ESCAPES,
    HEX_DIGITS,
    ITEM_ENDED,
    KEY_OR_END,
    KEY_STRING,
    MEMBER_ENDED,
    NEXT,
    NUMBER,
    NUMBER_ENDS,
    NUMBER_NEXT,
    OPEN_ARRAY,
    OPEN_OBJECT,
    SIGN,
    STRING,
    VALUE,
    VALUE_OR_END,
    WORD,
    WORDS,
    ZERO,
    first_of_number,
)
from syntagma.parsing.arguments.source import ArgumentSource, OpenString

__all__ = ["JsonMachine"]

_STRING_STOP = re.compile('["\\\\\x00-\x1f]')
_S, _STRING = r"[ \t\n\r]*+", r'"[^"\\\x00-\x1f]*+"'
_SCALAR = rf"(?:{_STRING}|-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?|true|false|null)"
_MEMBER = f"{_S}{_STRING}{_S}:{_S}{_SCALAR}{_S}"
# The group of members is not possessive: Python before 3.11.5 matches possessive groups wrongly (gh-106052).
_SHORT_OBJECT = re.compile(rf"\{{(?:{_MEMBER}(?:,{_MEMBER})*|{_S})\}}")
"""an object without inner objects, arrays and escapes"""
_MAX_SHORT = 256
"""the most code points of such an object"""
_SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_PLAIN = OpenString(frozenset(('"', "\\", *map(chr, range(32)))))
# States inside a string, beside those of the table.
_ESCAPE, _UNICODE = range(CLOSE + 1, CLOSE + 3)


class JsonMachine(ArgumentSource):
    """One JSON value; as a source of arguments, an object from its brace on.

    A raw control character inside a string, which models write although JSON forbids it, is passed on as its escape.

    Attributes:
        done: whether the value is complete.
        bad: whether the next character cannot continue a JSON value.
        repaired: whether a control character was escaped.
        state: what comes next, as `json_syntax` names it; inside an escape it is none of those.
    """

    __slots__ = (
        *("_digits_left", "_ends", "_in_key", "_keys", "_number", "_word", "_word_read"),
        *("bad", "done", "repaired", "state"),
    )

    ends_at_markers: ClassVar[bool] = True

    def __init__(self) -> None:
        self._ends: list[int] = []  # for each open bracket, the state after a value in it
        self._keys: list[str] = []  # for each of them, its last key; empty in an array
        self.state = VALUE
        self._in_key = False
        self._digits_left = 0
        self._word = ""
        self._word_read = 0
        self._number = SIGN
        self.done = False
        self.bad = False
        self.repaired = False

    @property
    def in_escape(self) -> bool:
        """Whether a backslash was read, but not the whole escape."""
        return self.state in (_ESCAPE, _UNICODE)

    @property
    def unclosed(self) -> str:
        """The text that would close the open brackets, the innermost first."""
        return "".join("}" if end == MEMBER_ENDED else "]" for end in reversed(self._ends))

    @property
    def innermost(self) -> str:
        """The character that would close the innermost open bracket; empty without one."""
        return "" if not self._ends else "}" if self._ends[-1] == MEMBER_ENDED else "]"

    @property
    def brackets(self) -> list[int]:
        """For each open bracket, the state after a value in it."""
        return self._ends

    @property
    def path(self) -> list[str | None]:
        """For each open bracket the last key, as it is spelled; None for those of arrays."""
        return [key if end == MEMBER_ENDED else None for key, end in zip(self._keys, self._ends, strict=True)]

    @property
    def after_zero(self) -> bool:
        """Whether the number that is open, or was read last, is a zero."""
        return self._number == ZERO

    @property
    def in_key(self) -> bool:
        """Whether the string that is open, or was read last, is a key."""
        return self._in_key

    def step_back(self) -> int:
        """Leave the state `bad`, and forget an incomplete word, or the text after a backslash.

        Returns:
            the number of characters that were forgotten.
        """
        self.bad = False
        if self.state == WORD:
            self.state = VALUE
            return self._word_read
        if self.state == _UNICODE:
            self.state = _ESCAPE
            return 5 - self._digits_left
        return 0

    def begin_number(self) -> None:
        """Forget the digits of the number that was read last."""
        self.state, self._number = NUMBER, SIGN

    def end_escape(self) -> None:
        """End the escape that has begun."""
        self.state = STRING

    def drop_comma(self) -> None:
        """Forget the comma that was read last."""
        self.state = self._ends[-1]

    @property
    def in_string(self) -> bool:
        """Whether a string is open."""
        return not (self.done or self.bad) and self.state in (STRING, _ESCAPE, _UNICODE)

    @property
    def in_brackets(self) -> bool:
        """Whether an object or array is open."""
        return bool(self._ends) and not (self.done or self.bad)

    @property
    def open_string(self) -> OpenString | None:
        """See `ArgumentSource`."""
        if self.state != STRING or self.done or self.bad:
            return None
        return OpenString(_PLAIN.stops, self._of_key) if self._in_key else _PLAIN

    def _of_key(self, text: str) -> str:
        """Note text of the open key."""
        self._keys[-1] += text
        return text

    def feed(self, text: str, pos: int, end: int) -> tuple[int, str]:
        """See `ArgumentSource`.

        A number on its own ends at the first character that is not part of it, which is not read.
        """
        short = (
            None if self._ends or self.state != VALUE else _SHORT_OBJECT.match(text, pos, min(end, pos + _MAX_SHORT))
        )
        if short is not None:
            self.done = True
            return short.end(), short.group()
        return self._feed(text, pos, end)

    def _feed(self, text: str, pos: int, end: int) -> tuple[int, str]:
        """As `feed`, but character by character."""
        out: list[str] = []
        start = pos
        while pos < end and not (self.done or self.bad):
            state = self.state
            if state == STRING:
                stop = _STRING_STOP.search(text, pos, end)
                after = end if stop is None else stop.start()
                if self._in_key:
                    self._keys[-1] += text[pos:after]
                pos = after
                if stop is None:
                    break
                char = text[pos]
                if char == '"':
                    if self._in_key:
                        self.state = COLON
                    else:
                        self._value_ended()
                elif char == "\\":
                    self.state = _ESCAPE
                else:
                    out.append(text[start:pos])
                    out.append(_SHORT_ESCAPES.get(char, f"\\u{ord(char):04x}"))
                    start = pos + 1
                    self.repaired = True
                pos += 1
                continue
            char = text[pos]
            if state == NUMBER:
                step = NUMBER_NEXT[self._number].get(char)
                if step is not None:
                    self._number = step
                    pos += 1
                elif self._number in NUMBER_ENDS:
                    self._value_ended()
                else:
                    self.bad = True
                continue
            if state > STRING:
                self._inside(state, char)
            elif char not in WHITESPACE:
                self._between(state, char)
            if not self.bad:
                pos += 1
        out.append(text[start:pos])
        return pos, "".join(out)

    def _inside(self, state: int, char: str) -> None:
        """Read one character of an escape or a word."""
        if state == _ESCAPE:
            if self._in_key:
                self._keys[-1] += "\\"  # such a key is spelled otherwise
            if char == "u":
                self.state, self._digits_left = _UNICODE, 4
            elif char in ESCAPES:
                self.state = STRING
            else:
                self.bad = True
        elif state == _UNICODE:
            if char not in HEX_DIGITS:
                self.bad = True
            else:
                self._digits_left -= 1
                if not self._digits_left:
                    self.state = STRING
        elif self._word[self._word_read] == char:
            self._word_read += 1
            if self._word_read == len(self._word):
                self._value_ended()
        else:
            self.bad = True

    def _between(self, state: int, char: str) -> None:
        """Read one character between strings, words and numbers."""
        step = NEXT[state].get(char)
        if step is None:
            self.bad = True
        elif step < STRING:
            self.state = step
        elif step in (STRING, KEY_STRING):
            self.state, self._in_key = STRING, step == KEY_STRING
            if self._in_key:
                self._keys[-1] = ""
        elif step == CLOSE:
            self._ends.pop()
            self._keys.pop()
            self._value_ended()
        elif step == OPEN_OBJECT:
            self._ends.append(MEMBER_ENDED)
            self._keys.append("")
            self.state = KEY_OR_END
        elif step == OPEN_ARRAY:
            self._ends.append(ITEM_ENDED)
            self._keys.append("")
            self.state = VALUE_OR_END
        elif step == WORD:
            self.state, self._word, self._word_read = WORD, WORDS[char], 1
        else:
            self.state, self._number = NUMBER, first_of_number(char)

    def _value_ended(self) -> None:
        if self._ends:
            self.state = self._ends[-1]
        else:
            self.state, self.done = VALUE, True
