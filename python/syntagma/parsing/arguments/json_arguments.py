"""Arguments that are a JSON object, as models write it: JSON is passed on unchanged, slips are repaired.

A slip is turned into JSON and read by the same `JsonMachine`, so that the output is always the beginning of one object,
whatever follows. A word, an escape or a comma is passed on once it is certain what it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Literal

from syntagma.format_schema.names import DIGITS
from syntagma.json_types import WHITESPACE
from syntagma.parsing.arguments.declared_types import allowed_types, inner_schema, takes_number
from syntagma.parsing.arguments.escapes import read_escape, unescaped
from syntagma.parsing.arguments.json_machine import JsonMachine
from syntagma.parsing.arguments.json_string import json_text
from syntagma.parsing.arguments.json_syntax import (
    COLON,
    ITEM,
    ITEM_ENDED,
    KEY,
    KEY_OR_END,
    MEMBER_ENDED,
    NUMBER,
    STRING,
    VALUE,
    VALUE_OR_END,
    WORDS,
)
from syntagma.parsing.arguments.mending import Mending
from syntagma.parsing.arguments.source import ArgumentSource, OpenString
from syntagma.parsing.arguments.wrapper import WRAPPER_FIRSTS, Around, Wrapper, wrapper_keys
from syntagma.parsing.repairs import REPAIRS, Repair
from syntagma.parsing.text.scanner import MarkerSet

__all__ = ["JsonArguments"]

_JSON_CLOSERS = {MEMBER_ENDED: "}", ITEM_ENDED: "]"}
_VALUE_STATES = (VALUE, VALUE_OR_END, ITEM)
_KEY_STATES = (KEY, KEY_OR_END)
_AFTER_COMMA = (KEY, ITEM)
_CERTAIN = frozenset((STRING, COLON, KEY_OR_END, VALUE, VALUE_OR_END, NUMBER))
"""states in which all text read is passed on at once"""
_MAY_END = (KEY, KEY_OR_END, VALUE_OR_END, ITEM, MEMBER_ENDED, ITEM_ENDED)
_PYTHON_WORDS = {"True": "true", "False": "false", "None": "null"}
_NUMBER_WORDS = ("NaN", "nan", "Infinity", "infinity", "inf")
_ALL_WORDS = (*_PYTHON_WORDS, *WORDS.values(), *_NUMBER_WORDS)
_CUT_WORDS = frozenset(word[:size] for word in (*_PYTHON_WORDS, *WORDS.values()) for size in range(1, len(word)))
"""beginnings of words, which may become either the word or a string without quotes"""
_WORD = re.compile(r"\w*")
_KEY_WORD = re.compile(r"[\w$-]*")
_MAX_PATH = 64
"""the most open brackets for which the schema of a value is looked for"""
_LONGEST_ESCAPE = 12
"""the most characters after the backslash of an escape"""
_BEGINS_KEY = re.compile(r"[^\W\d]|\$")
_BEGINS_VALUE = re.compile(r"[^\W\d]|[/.~@#$]")
_ENDS_VALUE = (",", "{", "}", "[", "]", '"')
_BARE = re.compile(r"(?:[^\W\d]|[/.~@#$])[^,{}\[\]\"']*")
_ENDS_QUOTED = re.compile(r"['\\]")
_IN_QUOTED = OpenString(frozenset("'\\"), json_text)


def _is_bare(text: str) -> bool:
    """Whether a text may be a string without quotes, and nothing else."""
    return _BARE.fullmatch(text) is not None and text not in _CUT_WORDS and text not in _NUMBER_WORDS


class JsonArguments(ArgumentSource):
    """Reads an object, from its brace on.

    It repairs single quotes, Python's words, values and keys without quotes, commas before the end, escapes that JSON
    does not have, and brackets that are open where the call ends. Each kind of repair is reported once.

    Args:
        closers: the literals that close the call. Outside of a string, one of them ends the object.
        repair: whether slips are repaired; if not, the first of them cannot be read.
        mending: opens what finds the end of a string that has quotes inside, or lacks them; None: nothing does.

    Attributes:
        done: whether the object is complete.
        bad: whether the next character cannot be read in any way.
    """

    __slots__ = (
        *(
            "_closers",
            "_held",
            "_machine",
            "_may_wrap",
            "_mending",
            "_open_mending",
            "_schema",
            "_reading",
            "_repair",
            "_repairs",
            "_reported",
            "_round",
            "_scanner",
            "_wrapper",
            "bad",
            "done",
        ),
        "withheld",
    )

    ends_at_markers: ClassVar[bool] = True

    def __init__(
        self,
        closers: Iterable[str] = (),
        *,
        repair: bool = True,
        mending: Callable[[], Mending | None] | None = None,
    ) -> None:
        self._closers = tuple(closers)
        self._open_mending = mending if repair else None
        self._mending: Mending | None = None
        self._schema: Mapping[str, Any] | None = None
        self._wrapper: Wrapper | None = None
        self._may_wrap = False
        self._repair = repair
        self._scanner: MarkerSet | None = None
        self._machine = JsonMachine()
        # The quote that ended a value, and a comma, with the whitespace after them; in a value without quotes, the
        # whitespace after its last word.
        self._held: list[str] = []
        self.withheld = 0
        self._reading: Literal["quoted", "bare value", "bare key"] | None = None
        self._round = 0
        self._repairs: list[Repair] = []
        self._reported: set[Repair] = set()
        self.done = False
        self.bad = False

    def declare(self, schema: Mapping[str, Any] | None) -> None:
        """See `ArgumentSource`."""
        self._schema = schema
        self._may_wrap = self._open_mending is not None and schema is not None

    @property
    def pending(self) -> str:
        """See `ArgumentSource`."""
        return "".join(self._held)

    @property
    def in_string(self) -> bool:
        """See `ArgumentSource`."""
        return self._reading == "quoted" or (self._reading is None and self._machine.in_string)

    @property
    def open_string(self) -> OpenString | None:
        """See `ArgumentSource`."""
        if self._reading is None:
            return self._machine.open_string
        return _IN_QUOTED if self._reading == "quoted" else None

    @property
    def has_repair(self) -> bool:
        """See `ArgumentSource`."""
        return bool(self._repairs)

    def take_repair(self) -> str | None:
        """See `ArgumentSource`."""
        return REPAIRS[self._repairs.pop(0)] if self._repairs else None

    def feed(self, text: str, pos: int, end: int) -> tuple[int, str]:
        """See `ArgumentSource`."""
        if self._may_wrap:
            inside = self._in_wrapper(text, pos, end)
            if inside is not None:
                return inside
        out: list[str] = []
        goes_on = True
        if self._reading is None:
            machine = self._machine
            after, fragment = machine.feed(text, pos, end)
            if machine.state in _CERTAIN and not machine.bad:
                self.done = machine.done
                return after, self._certain(fragment) if self._held or machine.state == NUMBER else fragment
            pos, goes_on = self._passed(text, pos, after, fragment, out)
            if goes_on:
                pos, goes_on = self._mend(text, pos, end, out)
        while goes_on and not (self.done or self.bad):
            if self._reading is not None:
                pos, goes_on = self._READERS[self._reading](self, text, pos, end, out)
                continue
            after, fragment = self._machine.feed(text, pos, end)
            pos, goes_on = self._passed(text, pos, after, fragment, out)
            if goes_on:
                pos, goes_on = self._mend(text, pos, end, out)
        return pos, "".join(out)

    def _in_wrapper(self, text: str, pos: int, end: int) -> tuple[int, str] | None:
        """Look for a wrapper around the arguments, as `feed`; None: there is none so far."""
        machine, at = self._machine, pos + (self._machine.state == VALUE)
        while at < end and text[at] in WHITESPACE:
            at += 1
        if at >= end:
            return None
        self._may_wrap = False
        if text[at] != '"' or text[at + 1 : min(at + 2, end)] not in WRAPPER_FIRSTS:
            return None
        if self._wrapper is None:
            ways = (Around((f'"{key}"', ":"), ("}",)) for key in wrapper_keys(self._schema))
            self._wrapper = Wrapper(self._schema or {}, ways)
        found, mending = self._wrapper.find(text, at, end), self._mender()
        assert mending is not None
        mending.see(text, end)
        if found == "none" or (found is None and mending.final):
            return None
        out = [machine.feed(text, pos, at)[1]]
        if found is None or not self._tell("wrapper", out):
            self._may_wrap = True
            return at, out[0]
        self.done = True
        return found[1] + 1, out[0] + found[0][1:]

    def finish(self, rest: str) -> str:
        """See `ArgumentSource`."""
        if self._reading is not None:
            return json_text(rest) if self._reading == "quoted" else ""
        if self._machine.in_string:
            return rest if rest.startswith("u") else ""
        is_word = any(word.startswith(rest) for word in WORDS.values())
        return self._take_held() + (rest if is_word else _PYTHON_WORDS.get(rest, ""))

    def close(self, rest: str) -> str | None:
        """See `ArgumentSource`."""
        out: list[str] = []
        machine = self._machine
        if not self._repair:
            return None
        if self._reading == "bare value":
            self._end_of_bare_value(out)
        elif self._reading is None and rest in _PYTHON_WORDS and machine.state in _VALUE_STATES:
            self._tell("words", out)
            self._put(_PYTHON_WORDS[rest], out)
        elif self._reading is None and machine.state in _VALUE_STATES and _is_bare(rest):
            self._tell("value", out)
            self._put(json.dumps(rest.rstrip(WHITESPACE), ensure_ascii=False), out)
        elif self._reading is not None or rest:
            return None
        if machine.state == NUMBER:
            machine.feed(" ", 0, 1)
        if machine.state not in _MAY_END:
            return None
        self._end(out)
        self._tell("closer", out)
        return "".join(out)

    def _mender(self) -> Mending | None:
        """What finds the end of strings; opened at the first slip. None: nothing is repaired."""
        if self._mending is None and self._open_mending is not None:
            self._mending = self._open_mending()
            if self._mending is not None:
                self._mending.declare(self._schema)
        return self._mending

    def _tell(self, slip: Repair, out: list[str]) -> bool:
        """Whether a repair of this kind was reported before. If not, report it; the next `feed` makes it."""
        if slip in self._reported:
            return True
        if slip not in ("comma", "closer", "inner quotes", "zeros"):
            out.append(self._take_held())
        self._reported.add(slip)
        self._repairs.append(slip)
        return False

    def _put(self, text: str, out: list[str]) -> None:
        """Pass on the JSON text that replaces a slip."""
        out.append(self._take_held())
        self._machine.feed(text, 0, len(text))
        out.append(text)

    def _hold(self, text: str) -> None:
        if text:
            self._held.append(text)
            self.withheld += len(text)

    def _take_held(self) -> str:
        held = "".join(self._held)
        self._held.clear()
        self.withheld = 0
        return held

    def _passed(self, text: str, pos: int, after: int, fragment: str, out: list[str]) -> tuple[int, bool]:
        """Pass on the text that the machine has read, as far as it is certain.

        Returns:
            the position to go on from, and whether the text there is not JSON.
        """
        machine = self._machine
        is_stuck = machine.bad
        if machine.state in _AFTER_COMMA:
            machine.bad = False
            comma = text.rfind(",", pos, after)
            if comma >= 0:
                fragment = self._pass_on(fragment, len(fragment) - (after - comma), out)
            self._hold(fragment)
            return after, is_stuck
        if machine.state in _JSON_CLOSERS and self._open_mending is not None:
            machine.bad = False
            self._hold(self._pass_on(fragment, len(fragment), out))
            return after, is_stuck
        unfinished = machine.step_back()
        if unfinished:
            after, fragment = after - unfinished, fragment[:-unfinished]
        self.done = machine.done
        if fragment:
            out.append(self._certain(fragment))
        return after, is_stuck

    def _certain(self, fragment: str) -> str:
        """What was held and read, but not a zero at its end that begins a number: digits may follow."""
        machine = self._machine
        if machine.state != NUMBER or not machine.after_zero or self._open_mending is None:
            return self._take_held() + fragment
        dropped = self.withheld if self._held == [""] else 0
        fragment = self._take_held() + fragment
        self._hold(fragment[-1:])
        self.withheld += dropped
        return fragment[:-1]

    def _pass_on(self, fragment: str, size: int, out: list[str]) -> str:
        """Pass on as much of these characters as is certain, but not the quote that ended a value; returns the rest."""
        words = fragment[:size].rstrip(WHITESPACE)
        if not words and self._held:
            return fragment
        if words.endswith('"') and self._open_mending is not None:
            size = len(words) - 1
        elif self._machine.after_zero and words == fragment and words.endswith("0"):
            size -= 1  # what follows does not end a number
        dropped = self.withheld if self._held == [""] and not size else 0
        out += (self._take_held(), fragment[:size])
        self.withheld = dropped
        return fragment[size:]

    # ---- repairs; each returns the position to go on from, and whether to go on

    def _mend(self, text: str, pos: int, end: int, out: list[str]) -> tuple[int, bool]:
        """Repair the text at `pos`, which is not JSON."""
        machine = self._machine
        if not self._repair:
            return self._unreadable(pos, out)
        char, expects = text[pos], machine.state
        if machine.in_escape:
            return self._escape(text, pos, end, out)
        if expects in _AFTER_COMMA and char == machine.innermost:
            if self._tell("comma", out):
                self._drop_comma(out)
                return pos, True
            return pos, False
        if char == ")" and self._round and machine.innermost == "]" and expects in _MAY_END:
            self._round -= 1
            if expects == ITEM:
                self._drop_comma(out)
            self._put("]", out)
            return pos + 1, True
        closes = self._closes(text, pos, end)
        if closes is None:
            return pos, False
        if closes and expects in _MAY_END:
            if self._tell("closer", out):
                self._end(out)
            return pos, False
        if self._held and self._held[0][:1] == '"' and not (closes or self._round):
            mending = self._mender()
            after = self._inner_quote(mending, text, pos, end, out) if mending is not None else None
            if after is not None:
                return after
        if expects in _VALUE_STATES and not closes:
            return self._begin_value(text, pos, end, out)
        if expects in _KEY_STATES and not closes:
            return self._begin_key(text, pos, out)
        return self._drop_zero(text, pos, out)

    def _unreadable(self, pos: int, out: list[str]) -> tuple[int, bool]:
        out.append(self._take_held())
        self.bad = True
        return pos, False

    def _closes(self, text: str, pos: int, end: int) -> bool | None:
        """Whether the call's closer stands here; None: more text is needed."""
        if any(text.startswith(closer, pos, end) for closer in self._closers):
            return True
        is_cut = any(end - pos < len(closer) and closer.startswith(text[pos:end]) for closer in self._closers)
        return None if is_cut else False

    def _inner_quote(self, mending: Mending, text: str, pos: int, end: int, out: list[str]) -> tuple[int, bool] | None:
        """Go on with the string whose quote did not end it; None: it did."""
        machine = self._machine
        mending.see(text, end)
        if machine.state == KEY:
            size = mending.bare_key(text, pos)
            if size != 0:
                return None if size else (pos, False)
        elif machine.state not in _JSON_CLOSERS:
            return None
        ahead = mending.closing_quote(text, pos, '"', machine.brackets, _JSON_CLOSERS)
        if ahead is None:
            return pos, False
        if ahead == "none":
            return None
        if not self._tell("inner quotes", out):
            return pos, False
        if machine.state == KEY:
            machine.drop_comma()
        out += (json_text(self._take_held() + unescaped(text[pos : ahead.end])), '"')
        return ahead.after, True

    def _drop_zero(self, text: str, pos: int, out: list[str]) -> tuple[int, bool]:
        """Go on with the number without the zero before this digit, where the schema takes a number."""
        machine, schema = self._machine, self._schema
        path = machine.path if text[pos] in DIGITS and machine.after_zero and "".join(self._held) == "0" else []
        for key in path[: _MAX_PATH + 1]:
            schema = inner_schema(schema, self._schema, key)
        if not 0 < len(path) <= _MAX_PATH or not takes_number(allowed_types(schema, self._schema)):
            return self._unreadable(pos, out)
        if not self._tell("zeros", out):
            return pos, False
        self._held = [""]  # the zero stays withheld until the number goes on
        machine.begin_number()
        return pos, True

    def _drop_comma(self, out: list[str]) -> None:
        before, _, after = self._take_held().partition(",")
        out.append(before + after)
        self._machine.drop_comma()

    def _end(self, out: list[str]) -> None:
        """End the object where the call ends, and close what is open."""
        if self._machine.state in _AFTER_COMMA:
            self._drop_comma(out)
        self._put(self._machine.unclosed, out)
        self.done = True

    def _escape(self, text: str, pos: int, end: int, out: list[str]) -> tuple[int, bool]:
        """Repair an escape that JSON does not have, in double quotes; its backslash was passed on."""
        escape = read_escape("\\" + text[pos : min(end, pos + _LONGEST_ESCAPE)], 0, min(end - pos, _LONGEST_ESCAPE) + 1)
        if escape is None or not self._tell("escape", out):
            return pos, False
        size, meaning = escape
        spelled = json_text(meaning or "\n")
        if spelled[0] != "\\":
            spelled = json.dumps(spelled)[1:-1] if not spelled.isascii() else f"\\u{ord(spelled):04x}"
        out.append(spelled[1:])
        self._machine.end_escape()
        return pos + size - 1, True

    def _begin_quoted(self, pos: int, out: list[str]) -> tuple[int, bool]:
        if not self._tell("quotes", out):
            return pos, False
        self._put('"', out)
        self._reading = "quoted"
        return pos + 1, True

    def _begin_key(self, text: str, pos: int, out: list[str]) -> tuple[int, bool]:
        if text[pos] == "'":
            return self._begin_quoted(pos, out)
        if not _BEGINS_KEY.match(text, pos):
            return self._unreadable(pos, out)
        if not self._tell("key", out):
            return pos, False
        self._put('"', out)
        self._reading = "bare key"
        return pos, True

    def _begin_value(self, text: str, pos: int, end: int, out: list[str]) -> tuple[int, bool]:
        char = text[pos]
        if char == "'":
            return self._begin_quoted(pos, out)
        if char == "(":
            if not self._tell("round", out):
                return pos, False
            self._put("[", out)
            self._round += 1
            return pos + 1, True
        if not _BEGINS_VALUE.match(text, pos):
            return self._unreadable(pos, out)
        found = _WORD.match(text, pos, end)
        after = pos if found is None else found.end()
        word = text[pos:after]
        if word and after == end and any(one.startswith(word) for one in _ALL_WORDS):
            return pos, False
        if word in _PYTHON_WORDS:
            if not self._tell("words", out):
                return pos, False
            self._put(_PYTHON_WORDS[word], out)
            return after, True
        if word in _CUT_WORDS or word in _NUMBER_WORDS:
            is_json = any(one.startswith(word) for one in WORDS.values())
            out += (self._take_held(), word if is_json else "")
            return self._unreadable(after if is_json else pos, out)
        mending = self._mender() if not self._round else None
        if mending is not None:
            mending.see(text, end)
            ahead = mending.bare_end(text, pos, self._machine.brackets, _JSON_CLOSERS)
            if ahead is None and not mending.final:
                return pos, False
            if ahead is not None and ahead != "none":
                if not self._tell("opening quote" if ahead.quoted else "value", out):
                    return pos, False
                string = text[pos : ahead.end]
                words = string if ahead.quoted else string.rstrip(WHITESPACE)
                self._put(json.dumps(words, ensure_ascii=False), out)
                out.append(string[len(words) :])
                return ahead.after, True
        if not self._tell("value", out):
            return pos, False
        self._put('"', out)
        self._reading = "bare value"
        return pos, True

    # ---- parts that are not JSON

    def _quoted(self, text: str, pos: int, end: int, out: list[str]) -> tuple[int, bool]:
        """Read a string in single quotes."""
        stop = _ENDS_QUOTED.search(text, pos, end)
        at = end if stop is None else stop.start()
        out.append(json_text(text[pos:at]))
        if stop is None:
            return at, False
        if text[at] == "\\":
            escape = read_escape(text, at, end)
            if escape is None:
                return at, False
            size, meaning = escape
            out.append(json_text(meaning))
            return at + size, True
        mending = None if self._round or self._machine.in_key else self._mender()
        if mending is not None:
            mending.see(text, end)
            brackets = self._machine.brackets
            verdict = mending.fits(text, at + 1, brackets, _JSON_CLOSERS, sure=False)
            ahead = mending.closing_quote(text, at, "'", brackets, _JSON_CLOSERS) if verdict == "goes on" else None
            if verdict is None or (verdict == "goes on" and ahead is None):
                return at, False
            if ahead is not None and ahead != "none":
                if not self._tell("inner quotes", out):
                    return at, False
                out.append(json_text(unescaped(text[at : ahead.end])))
                at = ahead.end
        self._put('"', out)
        self._reading = None
        return at + 1, True

    def _bare_key(self, text: str, pos: int, end: int, out: list[str]) -> tuple[int, bool]:
        found = _KEY_WORD.match(text, pos, end)
        after = pos if found is None else found.end()
        out.append(text[pos:after])
        if after == end:
            return after, False
        self._put('"', out)
        self._reading = None
        return after, True

    def _bare_value(self, text: str, pos: int, end: int, out: list[str]) -> tuple[int, bool]:
        """Read a string without quotes, up to structure, a quote, or the call's closer."""
        if self._scanner is None:
            self._scanner = MarkerSet((*self._closers, *_ENDS_VALUE))
        at, stop = self._scanner.search(text, pos, final=False, end=end)
        piece = text[pos:at]
        words = piece.rstrip(WHITESPACE)
        if words:
            out += (json_text(self._take_held()), json_text(words))
        self._hold(piece[len(words) :])
        if stop is None:
            return at, False
        self._end_of_bare_value(out)
        return at, True

    def _end_of_bare_value(self, out: list[str]) -> None:
        after = self._take_held()
        self._put('"', out)
        out.append(after)
        self._reading = None

    _READERS: ClassVar[dict[str, Callable[[JsonArguments, str, int, int, list[str]], tuple[int, bool]]]] = {
        "quoted": _quoted,
        "bare value": _bare_value,
        "bare key": _bare_key,
    }
