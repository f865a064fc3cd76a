"""Reads one literal value of another notation than JSON as it arrives, and passes it on as JSON."""

from __future__ import annotations

import functools
import json
import re

from syntagma.format_schema import Notation
from syntagma.json_types import WHITESPACE
from syntagma.parsing.arguments.escapes import read_escape, unescaped
from syntagma.parsing.arguments.json_string import json_text
from syntagma.parsing.arguments.mending import Mending, Verdict
from syntagma.parsing.arguments.source import ArgumentSource
from syntagma.parsing.text.scanner import is_cut

__all__ = ["LiteralMachine", "literal_to_json"]

_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_STRUCTURE = "{}[]():,="
_SET = "set"
_PAIRS = {"{": "}", "[": "]", "(": ")", _SET: "}"}
_OTHER_WORDS = {"true": "true", "True": "true", "false": "false", "False": "false", "null": "null", "None": "null"}
"""the words of JSON and Python, which are read in other notations, too"""
_LEADING_ZEROS = re.compile(r"^([-+]?)0+(?=[0-9])")
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
        mending: the repairs; None: a value that is not spelled as it should be is bad.

    Attributes:
        done: whether the value is complete.
        bad: whether the next character cannot continue a value, or a number that JSON does not have was read.
    """

    __slots__ = (
        *("_comma_waits", "_delimiter", "_in_key", "_key", "_mending", "_notation", "_own_stops", "_stack", "_state"),
        "_words",
        *("bad", "done"),
    )

    def __init__(self, notation: Notation, ends: str = "", mending: Mending | None = None) -> None:
        self._notation = notation
        self._mending: Mending | None = mending
        self._key: list[str] = []
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
    def pending(self) -> str:
        """See `ArgumentSource`: the quote of a string whose end is not certain yet."""
        waits = self._state == _STRING and self._mending is not None and self._mending.waits
        return '"' if waits and not (self.done or self.bad) else ""

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
        repairs = self._mending.repairs if self._mending is not None else ()
        while pos < end and not (self.done or self.bad or repairs):
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
        if self._mending is not None:
            after = self._other_spelling(self._mending, text, pos, out)
            if after is not None:
                return after
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

    # ---- repairs: each returns the position to go on from, or None if there is nothing to repair

    def _other_spelling(self, mending: Mending, text: str, pos: int, out: list[str]) -> int | None:
        """Begin a key or a string in quotes of JSON, a key without quotes, or a set."""
        char, is_key, end = text[pos], self._state in (_KEY, _KEY_OR_END), mending.look
        if char == '"':
            kind = mending.quoted_key(text, pos) if is_key else "string"
            if kind != "string":
                return pos if kind is None else None
            if not mending.tell("spelling"):
                return pos
            self._comma(out)
            out.append('"')
            self._state, self._delimiter, self._in_key = _STRING, char, is_key
            return pos + 1
        if is_key and not self._notation.bare_keys:
            size = mending.bare_key(text, pos)
            if not size or not mending.tell("key"):
                return None if size == 0 else pos
            self._comma(out)
            out.append(json.dumps(text[pos : pos + size], ensure_ascii=False))
            self._key_ended(text[pos : pos + size])
            return pos + size
        if char == "{" and not (is_key or self._notation.bare_keys) and len(self._stack) >= mending.depth:
            is_set = mending.begins_set(text, pos, end)
            if not is_set or not mending.tell("set"):
                return None if is_set is False else pos
            self._comma(out)
            out.append("[")
            self._stack.append(_SET)
            self._state = _VALUE_OR_END
            return pos + 1
        return None

    def _inner_quote(self, mending: Mending, text: str, stop: int, out: list[str]) -> int | None:
        """At a quote: whether it ends the string; if not, pass on the string up to the quote that does."""
        delimiter, stack = self._delimiter, self._stack
        after = stop + len(delimiter)
        if mending.plain[stack[-1] if stack else ""].match(text, after, mending.look):
            return None
        verdict = mending.fits(text, after, stack, _PAIRS, sure=False)
        if verdict is None:
            return stop
        if verdict == "ends":
            return None
        if len(delimiter) == 1:
            beside = mending.adjacent(text, stop + 1, stack, _PAIRS)
            if beside is None:
                return stop
            if beside:
                if not mending.tell("adjacent"):
                    return stop
                self._delimiter = text[beside]
                return beside + 1
        ahead = mending.closing_quote(text, stop, delimiter, stack, _PAIRS)
        if ahead is None:
            return stop
        if ahead == "none":
            return None
        if not mending.tell("inner quotes"):
            return stop
        out.append(json_text(unescaped(text[stop : ahead.end]) if len(delimiter) == 1 else text[stop : ahead.end]))
        out.append('"')
        self._ended()
        return ahead.after

    def _mended_word(self, mending: Mending, text: str, pos: int, stop: int, out: list[str]) -> int:
        """Read a word or number; or a string without quotes, or without the opening one."""
        word, stack = text[pos:stop], self._stack
        verdict: Verdict = "ends"
        if not mending.plain[stack[-1] if stack else ""].match(text, stop, mending.look):
            verdict = mending.fits(text, stop, stack, _PAIRS, sure=False)
        if verdict is None:
            return pos
        if verdict == "ends":
            value = self._words.get(word) or _number(word)
            if value is None and word in _OTHER_WORDS:
                if not mending.tell("words"):
                    return pos
                value = _OTHER_WORDS[word]
            if value is None and mending.takes_number(stack) and _LEADING_ZEROS.match(word):
                value = _number(_LEADING_ZEROS.sub(r"\1", word))
                if value is not None and not mending.tell("zeros"):
                    return pos
            if value is not None:
                out.append(value)
                self._ended()
                return stop
        if not mending.takes_string(word, stack):
            self.bad = True
            return pos
        ahead = mending.bare_end(text, pos, stack, _PAIRS)
        if ahead is None:
            return pos
        if ahead == "none":
            self.bad = True
            return pos
        if not mending.tell("opening quote" if ahead.quoted else "value"):
            return pos
        string = text[pos : ahead.end]
        out.append(json.dumps(string if ahead.quoted else string.rstrip(), ensure_ascii=False))
        self._ended()
        return ahead.after

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
            self._pass_on(text[pos:stop], out)
            return stop
        self._pass_on(text[pos:stop], out)
        if stop == escape:
            escape_read = read_escape(text, stop, end)
            if escape_read is None:
                return stop
            size, meaning = escape_read
            self._pass_on(meaning, out)
            return stop + size
        if self._mending is not None and not self._in_key:
            after = self._inner_quote(self._mending, text, stop, out)
            if after is not None:
                return after
        out.append('"')
        if self._in_key:
            self._key_ended("".join(self._key))
            self._key.clear()
        else:
            self._ended()
        return stop + len(delimiter)

    def _pass_on(self, text: str, out: list[str]) -> None:
        """Pass on text of a string."""
        out.append(json_text(text))
        if self._in_key and self._mending is not None:
            self._key.append(text)

    def _key_ended(self, key: str) -> None:
        self._state = _COLON
        if self._mending is not None and len(self._stack) == self._mending.depth:
            self._mending.key_read(key)

    def _word_or_key(self, text: str, pos: int, end: int, out: list[str]) -> int:
        """Read a word, a number or a bare key, up to structure or whitespace, once it is complete."""
        stops = _KEY_STOPS if self._in_key else _WORD_STOPS if self._stack else self._own_stops
        found = stops.search(text, pos, end)
        stop = end if found is None else found.start()
        mending = self._mending
        if mending is not None and not self._in_key and (stop < end or stop - pos > _MAX_WORD):
            return self._mended_word(mending, text, pos, stop, out)
        if stop - pos > _MAX_WORD:
            self.bad = True
        elif stop < end:
            self._word_ended(text[pos:stop], out)
        return pos if self.bad or stop == end else stop

    def _word_ended(self, word: str, out: list[str]) -> None:
        if self._in_key:
            out.append(json.dumps(word.strip(), ensure_ascii=False))
            self._key_ended(word.strip())
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
