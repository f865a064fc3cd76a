"""Arguments that are literals, each with its key, as in a call of a program."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from typing import Any, Literal

from syntagma.format_schema.names import KEYWORD_SIGNS
from syntagma.json_types import WHITESPACE
from syntagma.parsing.arguments.literal_machine import LiteralMachine
from syntagma.parsing.arguments.mending import Mending, Verdict
from syntagma.parsing.arguments.source import ArgumentSource
from syntagma.parsing.arguments.wrapper import Around, Wrapper, wrapper_keys
from syntagma.parsing.call_patterns import Form, Op
from syntagma.parsing.end_of_call import after_whitespace, stands_at
from syntagma.parsing.text.scanner import is_cut

__all__ = ["KeywordArguments"]


_NEVER = re.compile("(?!)")


@functools.lru_cache(maxsize=256)
def _plain(closer: str, separator: str, opener: str, between: str, value_closer: str) -> re.Pattern[str]:
    """What follows a value: its closer, the closer of the arguments, or a separator, a key and what follows that."""
    if value_closer:
        return re.compile(rf"\s*{re.escape(value_closer)}")
    if closer in (separator, opener) or (separator or opener).startswith(closer):
        return re.compile(rf"\s*{re.escape(separator)}\s*{re.escape(opener)}\s*[\w.$-]+\s*{re.escape(between)}")
    return re.compile(
        rf"\s*(?:{re.escape(closer)}|{re.escape(separator)}\s*{re.escape(opener)}\s*[\w.$-]+\s*{re.escape(between)})"
    )


class KeywordArguments(ArgumentSource):
    """Reads keys and literal values, with the format's literals before each key and after each value.

    Starts after the literal before the arguments.

    Args:
        form: the form of the calls.
        closer: the literal after the arguments; None: they end where no further argument begins.
        mending: the repairs; None: nothing is repaired.

    Attributes:
        done: whether the literal after the arguments was found (it is not read), or no further argument begins.
        bad: whether the next character fits neither an argument nor the end.
    """

    __slots__ = (
        "_between",
        "_closer",
        "_comma",
        "_ends",
        "_form",
        "_key",
        "_machine",
        "_mending",
        "_opened",
        "_opener",
        "_state",
        "_value_closer",
        "_wrapped",
        "_wrapper",
        "bad",
        "done",
    )

    def __init__(self, form: Form, closer: Op | None, mending: Mending | None = None) -> None:
        assert form.value is not None
        self._form = form
        self._closer = closer.text if closer is not None else ""
        # If the call has no closer, a value that goes on cannot be told from text after the call: nothing is repaired.
        self._mending: Mending | None = mending if closer is not None else None
        if self._mending is not None:
            self._mending.after = self._may_follow
            self._mending.signs += form.argument_separator[:1] + form.argument_opener[:1] + form.value.closer[:1]
            literals = (form.argument_separator, form.argument_opener, form.value.opener)
            plain = _NEVER if form.value_tail else _plain(self._closer, *literals, form.value.closer)
            self._mending.plain = {**self._mending.plain, "": plain}
        self._opener = form.argument_opener
        self._between, self._value_closer = form.value.opener, form.value.closer
        ends = form.argument_separator[:1] + self._closer[:1] + self._value_closer[:1] + self._opener[:1]
        self._ends = "".join(sign for sign in ends if not (sign.isalnum() or sign in "+-."))
        """characters that end a number or word, except those that may stand in one"""
        self._key = ""
        self._comma = ""
        self._machine: LiteralMachine | None = None
        self._opened = False
        self._wrapped: Mapping[str, Any] | None = None  # the schema, as long as a wrapper may begin
        self._wrapper: Wrapper | None = None
        self._state: Literal["first", "key", "between", "value", "close", "after", "next", "object", "end"] = "first"
        self.done = False
        self.bad = False

    def declare(self, schema: Mapping[str, Any] | None) -> None:
        """See `ArgumentSource`."""
        if self._mending is not None:
            self._mending.declare(schema)
            self._wrapped = schema

    @property
    def pending(self) -> str:
        """See `ArgumentSource`."""
        return self._machine.pending if self._machine is not None else ""

    def feed(self, text: str, pos: int, end: int) -> tuple[int, str]:
        """See `ArgumentSource`."""
        out: list[str] = []
        if self._mending is not None:
            self._mending.see(text, end)
        if not self._opened:
            self._opened = True
            out.append("{")
        elif self._wrapped is not None:
            after = self._in_wrapper(self._wrapped, text, pos, end, out)
            if after is not None:
                return after, "".join(out)
        # One fragment at a time, so that its span does not depend on the chunks.
        while pos < end and not (self.done or self.bad or out):
            if self._machine is not None:
                after, fragment = self._machine.feed(text, pos, end)
                out.append(fragment)
                if self._machine.bad:
                    self.bad = True
                elif self._machine.done:
                    self._machine = None
                    self._state = "end" if self._state == "object" else "close" if self._value_closer else "after"
                elif after == pos:
                    break
                pos = after
            elif text[pos] in WHITESPACE and not self._key:
                pos += 1
            else:
                before = (pos, self._state)
                pos = self._structure(text, pos, end, out)
                if before == (pos, self._state) or self._machine is not None:
                    break
        return pos, "".join(out)

    def _structure(self, text: str, pos: int, end: int, out: list[str]) -> int:
        """Read a key, the text around it, its value, a separator, or the end."""
        if self._state == "between":
            return self._value(text, pos, end)
        if self._state == "close":
            return self._literal(self._value_closer, "after", text, pos, end)
        if self._state == "first" and text[pos] == "{" and self._opener[:1] != "{" and self._mending is not None:
            if self._mending.tell_object():
                self._mending.depth, self._state = 1, "object"
                self._machine = LiteralMachine(self._form.notation, mending=self._mending)
                # What it begins with was passed on before.
                return self._machine.feed(text, pos, pos + 1)[0]
            return pos
        if self._state == "end":
            self.done = text.startswith(self._closer, pos, end)
            self.bad = not (self.done or is_cut(self._closer, text, pos, end))
            return pos
        if self._key or self._state == "key":
            return self._read_key(text, pos, end, out)
        separator = self._form.argument_separator if self._state == "after" else ""
        if not self._closer:
            follows = self._argument_follows(separator, text, pos, end)
            if follows is False:
                self.done = True
                out.append("}")
            if not follows:
                return pos
        elif text.startswith(self._closer, pos, end) and not self._may_go_on(separator or self._opener, text, pos, end):
            self.done = True
            out.append("}")
            return pos
        elif is_cut(self._closer, text, pos, end):
            return pos
        if separator:
            return self._literal(separator, "next", text, pos, end)
        if self._opener and not text.startswith(self._opener, pos, end):
            self.bad = not is_cut(self._opener, text, pos, end)
            return pos
        self._comma = ", " if self._state in ("after", "next") else ""
        self._state = "key"
        return pos + len(self._opener)

    def _in_wrapper(self, schema: Mapping[str, Any], text: str, pos: int, end: int, out: list[str]) -> int | None:
        """Look for a wrapper around the arguments; returns the index to go on from; None: there is none."""
        mending, form = self._mending, self._form
        assert mending is not None
        if self._wrapper is None:
            opener = (self._opener,) if self._opener else ()
            ways = (
                Around((*opener, key, self._between), (*filter(None, (tail, self._closer)),))
                for key in wrapper_keys(schema)
                for tail in (form.value_tail.replace("{key}", key) or self._value_closer,)
            )
            self._wrapper = Wrapper(schema, ways, form.notation)
        at = after_whitespace(text, pos, end)
        found = self._wrapper.find(text, at, end) if at < end else None
        if found == "none" or (found is None and mending.final):
            self._wrapped = None
            return None
        if found is None or not mending.tell("wrapper"):
            return at
        out.append(found[0][1:])
        self.done = True
        return found[1]

    def begins(self, text: str, pos: int) -> bool | None:
        """Whether arguments, an object in their place, or their end stand at `pos`; None: more text is needed."""
        end = len(text)
        if text[pos] == "{" or (self._closer and text.startswith(self._closer, pos)):
            return True
        if self._opener:
            found = text.startswith(self._opener, pos)
            return True if found else None if self._is_begun(text, pos) else False
        return None if self._is_begun(text, pos) else self._argument_follows("", text, pos, end)

    def _is_begun(self, text: str, pos: int) -> bool:
        return any(is_cut(one, text, pos, len(text)) for one in (self._closer, self._opener) if one)

    @property
    def ends_with_text(self) -> bool:
        """See `ArgumentSource`."""
        return not self._closer

    def _argument_follows(self, separator: str, text: str, pos: int, end: int) -> bool | None:
        """Whether a separator and an argument up to its value stand here; None: more text is needed."""
        for literal in (separator, self._opener):
            if not text.startswith(literal, pos, end):
                return None if is_cut(literal, text, pos, end) else False
            pos += len(literal)
            while literal and pos < end and text[pos] in WHITESPACE:
                pos += 1
        start = pos
        while pos < end and (text[pos].isalnum() or text[pos] in KEYWORD_SIGNS):
            pos += 1
        key_end = pos
        while pos < end and text[pos] in WHITESPACE:
            pos += 1
        if pos == end:
            return None
        if key_end == start:
            return False
        if text.startswith(self._between, pos, end):
            return True
        return None if is_cut(self._between, text, pos, end) else False

    def close(self, rest: str) -> str | None:
        """See `ArgumentSource`."""
        if self._closer:
            return None
        # The line break ends a number or word; the NUL after it begins no argument.
        text, made, pos = rest + "\n\0", "", 0
        while pos < len(text) and not (self.done or self.bad):
            after, fragment = self.feed(text, pos, len(text))
            made += fragment
            if after == pos and not fragment:
                break
            pos = after
        return made if self.done else None

    def _may_go_on(self, literal: str, text: str, pos: int, end: int) -> bool:
        """Whether a literal that begins with the closer of the arguments is here, or may be cut by the chunk's end."""
        if not literal.startswith(self._closer) or literal == self._closer:
            return False
        return text.startswith(literal, pos, end) or is_cut(literal, text, pos, end)

    def _may_follow(self, text: str, pos: int, sure: bool) -> Verdict:
        """Whether what follows a value stands here: its closer, the end of the arguments, or a further argument."""
        mending = self._mending
        assert mending is not None
        end, final = mending.look, mending.final
        if self._value_closer:
            found = stands_at(self._value_closer, text, pos, end, final=final)
            if not found or not sure:
                return None if found is None else "ends" if found else "goes on"
            pos = after_whitespace(text, pos + len(self._value_closer), end)
        if pos >= end:
            return None if not final else "goes on" if sure else "ends"
        separator = self._form.argument_separator
        if text.startswith(self._closer, pos, end) and not self._may_go_on(separator or self._opener, text, pos, end):
            return mending.ends_call(text, pos, sure)
        for literal in (separator, self._opener):
            if not text.startswith(literal, pos, end):
                could_be = (literal, self._closer) if literal == separator else (literal,)
                return None if not final and any(is_cut(one, text, pos, end) for one in could_be) else "goes on"
            pos = after_whitespace(text, pos + len(literal), end) if literal else pos
            if literal == separator and (found := stands_at(self._closer, text, pos, end, final=final)) is not False:
                return None if found is None else mending.ends_call(text, pos, sure)
        start = pos
        while pos < end and (text[pos].isalnum() or text[pos] in KEYWORD_SIGNS):
            pos += 1
        after = after_whitespace(text, pos, end)
        if after >= end and not final:
            return None
        found = stands_at(self._between, text, after, end, final=final) if pos > start else False
        return None if found is None else mending.key_fits(text[start:pos], sure=sure) if found else "goes on"

    def _literal(self, literal: str, then: Literal["after", "next"], text: str, pos: int, end: int) -> int:
        """Read a literal that must stand here."""
        if text.startswith(literal, pos, end):
            self._state = then
            return pos + len(literal)
        self.bad = not is_cut(literal, text, pos, end)
        return pos

    def _value(self, text: str, pos: int, end: int) -> int:
        """Read the text between a key and its value."""
        if text[pos] in WHITESPACE:
            return pos + 1
        if text.startswith(self._between, pos, end):
            self._state, self._key = "value", ""
            self._machine = LiteralMachine(self._form.notation, self._ends, self._mending)
            return pos + len(self._between)
        self.bad = not is_cut(self._between, text, pos, end)
        return pos

    def _read_key(self, text: str, pos: int, end: int, out: list[str]) -> int:
        start = pos
        while pos < end and (text[pos].isalnum() or text[pos] in KEYWORD_SIGNS):
            pos += 1
        self._key += text[start:pos]
        if pos < end:
            if not self._key:
                self.bad = True
                return start
            out.append(self._comma + json.dumps(self._key, ensure_ascii=False) + ": ")
            if self._mending is not None:
                self._mending.key_read(self._key)
            if self._form.value_tail:
                self._value_closer = self._form.value_tail.replace("{key}", self._key)
            self._state = "between"
        return pos
