"""Reads one literal value of another notation than JSON as it arrives, and passes it on as JSON."""

from __future__ import annotations

import functools
import json
import re

from syntagma.format_schema import Notation
from syntagma.parsing.arguments.escapes import read_escape
from syntagma.parsing.arguments.json_string import json_text
from syntagma.parsing.arguments.json_syntax import WHITESPACE
from syntagma.parsing.arguments.source import ArgumentSource
from syntagma.parsing.text.scanner import is_cut

__all__ = ["LiteralMachine", "literal_to_json"]

_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_STRUCTURE = "{}[]():,="
_PAIRS = {"{": "}", "[": "]", "(": ")"}
_MAX_WORD = 4096
"""the most code points of a word, a number or a bare key"""


@functools.cache
def _stops(characters: str) -> re.Pattern[str]:
    """Finds the first of these characters."""
    return re.compile(f"[{re.escape(characters)}]")


_KEY_STOPS = _stops(_STRUCTURE)
_WORD_STOPS = _stops(_STRUCTURE + WHITESPACE)

# What is expected next.
_VALUE, _VALUE_OR_END, _KEY, _KEY_OR_END, _COLON, _COMMA_OR_END, _STRING, _WORD = range(8)


class LiteralMachine(ArgumentSource):
    """Reads one value; as a source of arguments, an object. No recursion, no look-back.

    Strings, words and bare keys become JSON; a list in round brackets becomes an array.

    Args:
        notation: how values are spelled.
        ends: characters that end a word or number on its own, beside brackets, structure and whitespace.

    Attributes:
        done: whether the value is complete.
        bad: whether the next character cannot continue a value, or a number that JSON does not have was read.
    """

    __slots__ = (
        *("_comma_waits", "_delimiter", "_in_key", "_notation", "_own_stops", "_stack", "_state", "_words"),
        *("bad", "done"),
    )

    def __init__(self, notation: Notation, ends: str = "") -> None:
        self._notation = notation
        self._own_stops = _stops(_STRUCTURE + WHITESPACE + ends) if ends else _WORD_STOPS
        self._words = {
            **dict.fromkeys(notation.true, "true"),
            **dict.fromkeys(notation.false, "false"),
            **dict.fromkeys(notation.null, "null"),
        }
        self._stack: list[str] = []
        self._state = _VALUE
        self._in_key = False
        self._delimiter = ""
        self._comma_waits = False
        self.done = False
        self.bad = False

    @property
    def in_string(self) -> bool:
        """Whether a string is open."""
        return self._state == _STRING and not (self.done or self.bad)

    @property
    def in_brackets(self) -> bool:
        """Whether an object or array is open."""
        return bool(self._stack) and not (self.done or self.bad)

    def feed(self, text: str, pos: int, end: int) -> tuple[int, str]:
        """See `ArgumentSource`.

        A word or number ends at the first character that is not part of it, which is not read. The position stays
        before a word, an escape or a delimiter that is not complete.
        """
        out: list[str] = []
        while pos < end and not (self.done or self.bad):
            before = (pos, self._state)
            if self._state == _STRING:
                pos = self._string(text, pos, end, out)
            elif self._state == _WORD:
                pos = self._word_or_key(text, pos, end, out)
            elif out and (text[pos] in WHITESPACE or text[pos] == ","):
                # It adds nothing, so no fragment may end with it: spans must not depend on the chunks.
                break
            elif text[pos] in WHITESPACE:
                pos += 1
                continue
            else:
                pos = self._structure(text, pos, end, out)
            if before == (pos, self._state):
                break
        return pos, "".join(out)

    def end_of_text(self, rest: str) -> str:
        """The JSON text of a word or number on its own that the end of the text completes.

        Args:
            rest: the text that `feed` has not read.
        """
        out: list[str] = []
        if self._state == _WORD:
            self._word_ended(rest, out)
        return "".join(out)

    def close(self, rest: str) -> str | None:
        """See `ArgumentSource`."""
        out: list[str] = []
        if self._state == _WORD and not self._in_key:
            self._word_ended(rest, out)
        elif rest.strip():
            return None
        if self.bad or not self._stack or self._state not in (_COMMA_OR_END, _KEY_OR_END, _VALUE_OR_END):
            return None
        while self._stack:
            self._close(out)
        return "".join(out)

    def _structure(self, text: str, pos: int, end: int, out: list[str]) -> int:
        char, state = text[pos], self._state
        if state == _COLON:
            if char != ":":
                self.bad = True
                return pos
            out.append(": ")
            self._state = _VALUE
            return pos + 1
        if state == _COMMA_OR_END:
            if char == ",":
                self._state = _KEY_OR_END if self._stack[-1] == "{" else _VALUE_OR_END
                self._comma_waits = True
            elif char == _PAIRS[self._stack[-1]]:
                self._close(out)
            else:
                self.bad = True
                return pos
            return pos + 1
        if self._stack and char == _PAIRS[self._stack[-1]] and state in (_KEY_OR_END, _VALUE_OR_END):
            self._close(out)
            return pos + 1
        return self._begin(text, pos, end, out)

    def _begin(self, text: str, pos: int, end: int, out: list[str]) -> int:
        """Begin a key or a value."""
        is_key = self._state in (_KEY, _KEY_OR_END)
        for quote in sorted(self._notation.quotes, key=len, reverse=True):
            if text.startswith(quote, pos, end):
                self._comma(out)
                out.append('"')
                self._state, self._delimiter, self._in_key = _STRING, quote, is_key
                return pos + len(quote)
            if is_cut(quote, text, pos, end):
                return pos
        char = text[pos]
        if is_key:
            if not self._notation.bare_keys or char in _STRUCTURE:
                self.bad = True
                return pos
        elif char in _PAIRS:
            self._comma(out)
            out.append("{" if char == "{" else "[")
            self._stack.append(char)
            self._state = _KEY_OR_END if char == "{" else _VALUE_OR_END
            return pos + 1
        elif char in _STRUCTURE:
            self.bad = True
            return pos
        self._comma(out)
        self._state, self._in_key = _WORD, is_key
        return pos

    def _comma(self, out: list[str]) -> None:
        """Pass on a comma that was read, now that something follows it; one before a closer is dropped."""
        if self._comma_waits:
            out.append(", ")
        self._comma_waits = False

    def _close(self, out: list[str]) -> None:
        self._comma_waits = False
        out.append("}" if self._stack.pop() == "{" else "]")
        self._ended()

    def _ended(self) -> None:
        self._state = _COMMA_OR_END
        self.done = not self._stack

    def _string(self, text: str, pos: int, end: int, out: list[str]) -> int:
        delimiter = self._delimiter
        escapes = len(delimiter) == 1
        close = text.find(delimiter, pos, end)
        escape = text.find("\\", pos, close if close >= 0 else end) if escapes else -1
        stop = escape if escape >= 0 else close
        if stop < 0:
            stop = _partial(text, pos, end, delimiter)
            out.append(json_text(text[pos:stop]))
            return stop
        out.append(json_text(text[pos:stop]))
        if stop == escape:
            escape_read = read_escape(text, stop, end)
            if escape_read is None:
                return stop
            size, meaning = escape_read
            out.append(json_text(meaning))
            return stop + size
        out.append('"')
        if self._in_key:
            self._state = _COLON
        else:
            self._ended()
        return stop + len(delimiter)

    def _word_or_key(self, text: str, pos: int, end: int, out: list[str]) -> int:
        """Read a word, a number or a bare key, up to structure or whitespace, once it is complete."""
        stops = _KEY_STOPS if self._in_key else _WORD_STOPS if self._stack else self._own_stops
        found = stops.search(text, pos, end)
        stop = end if found is None else found.start()
        if stop - pos > _MAX_WORD:
            self.bad = True
        elif stop < end:
            self._word_ended(text[pos:stop], out)
        return pos if self.bad or stop == end else stop

    def _word_ended(self, word: str, out: list[str]) -> None:
        if self._in_key:
            out.append(json.dumps(word.strip(), ensure_ascii=False))
            self._state = _COLON
            return
        value = self._words.get(word) or _number(word)
        if value is None:
            self.bad = True
            return
        out.append(value)
        self._ended()


def _number(word: str) -> str | None:
    """A number in JSON, with its digits kept; None: the word is no number."""
    if not _NUMBER.fullmatch(word):
        return None
    sign, digits = ("-", word[1:]) if word[0] == "-" else ("", word.removeprefix("+"))
    mantissa, mark, power = digits.lower().partition("e")
    whole, dot, fraction = mantissa.partition(".")
    if len(whole) > 1 and whole[0] == "0":
        return None
    exponent = word[-len(power) - 1 :] if mark else ""
    return f"{sign}{whole or '0'}{f'.{fraction or 0}' if dot else ''}{exponent}"


def _partial(text: str, pos: int, end: int, delimiter: str) -> int:
    """The index at which the end of the text may be the beginning of the delimiter."""
    for size in range(min(len(delimiter) - 1, end - pos), 0, -1):
        if text.startswith(delimiter[:size], end - size):
            return end - size
    return end


def literal_to_json(text: str, notation: Notation) -> str | None:
    """A complete literal as JSON text; None: the text is no literal."""
    machine = LiteralMachine(notation)
    found, at, fragment = [], 0, "more"
    while fragment:
        at, fragment = machine.feed(text, at, len(text))
        found.append(fragment)
    if not machine.done:
        found.append(machine.end_of_text(text[at:]))
        at = len(text)
    return "".join(found) if machine.done and not text[at:].strip() else None
