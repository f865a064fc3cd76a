"""Repairs that look ahead: where a string ends that has quotes inside, or that lacks them.

A value may end where what follows fits: a closing bracket and what follows that, a comma and a further member, or what
stands after the arguments (`EndOfCall`). As long as nothing was wrong, a quote ends a string if something of the
notation follows. After a quote that did not end it, more is asked: the next key is declared and not written yet, and
a call that only signs close is followed by what may follow a call. What two readings fit is not repaired.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from syntagma.format_schema import Notation
from syntagma.json_types import JSON_TYPES
from syntagma.parsing.arguments.declared_types import allowed_types, inner_schema, takes_number
from syntagma.parsing.end_of_call import EndOfCall, after_whitespace
from syntagma.parsing.repairs import Repairs
from syntagma.parsing.text.scanner import is_cut
from syntagma.parsing.text.window import Window

__all__ = ["Ahead", "Mending", "Verdict"]

Verdict: TypeAlias = Literal["ends", "goes on", "two ways"] | None
"""whether a value ends at a place; two ways: both can be; None: more text is needed"""

_LOOK = 4096
"""the most code points that are looked at for a key or a literal"""
_MAX_HELD = 1 << 18
"""the most code points of a string that are held until its end is certain"""
_MAX_BRACKETS = 64
"""the most closing brackets in a row that are compared with the open ones"""


_BEGINS_VALUE = re.compile(r"[^\W\d]|[/.~@#$]")
_REST_OF_OBJECT = re.compile(r"(?:\}\s*)+")
_BARE_WORD = re.compile(r"[^\W\d][\w$-]*")
_EVERY = frozenset(JSON_TYPES)
_BEGINS_MEMBER = frozenset("0123456789-+.[({")
_NUMBER_WORDS = frozenset(("NaN", "nan", "Infinity", "infinity", "inf"))
_WORDS = ("True", "False", "None", "true", "false", "null")
_CUT_WORDS = frozenset(word[:size] for word in _WORDS for size in range(1, len(word)))
"""beginnings of words, which may become either the word or a string without quotes"""
_SHORT_STRING = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"", re.DOTALL)
_SHORT_STRING_BEGINS = re.compile(r"'(?:\\.|[^'\\])*\\?|\"(?:\\.|[^\"\\])*\\?", re.DOTALL)


_Asked = TypeVar("_Asked", bound=Callable[..., Any])


def _asking(method: _Asked) -> _Asked:
    """Note whether the answer needs more text."""

    @functools.wraps(method)
    def asked(self: Mending, *args: Any, **options: Any) -> Any:
        answer = method(self, *args, **options)
        self.waits = answer is None
        return answer

    return asked  # type: ignore[return-value]


_BARE_KEY = re.compile(r"[^{}\[\]():,=]++")
_BARE_KEY_WORD = re.compile(r"[^\s{}\[\](),:\"']++")
_BRACKETS = {"[": re.compile(r"\s*[\],]"), "(": re.compile(r"\s*[),]"), "set": re.compile(r"\s*[},]")}
_ANY_KEY = r"[^{}\[\]():,=]{1,1024}"
_KEY_IN_WORD = r"[^\s{}\[\](),:\"']{1,1024}\s*"
_KEY_IN_QUOTES = r"""'(?:\\.|[^'\\]){0,1024}'\s*|"(?:\\.|[^"\\]){0,1024}"\s*"""
_KEY_OF_JSON = r""""(?:\\.|[^"\\]){0,1024}"\s*"""


@functools.lru_cache(maxsize=64)
def _plain(notation: Notation) -> Mapping[Any, re.Pattern[str]]:
    """For each bracket: what follows a value in it. Nothing else than what is found by looking further."""
    firsts = "".join(quote[0] for quote in notation.quotes) + '"'
    if notation.bare_keys:
        member = re.compile(rf"\s*(?:\}}|,\s*(?![{re.escape(firsts)}\s]){_ANY_KEY}:)")
    elif "'" in notation.quotes:
        member = re.compile(rf"\s*(?:\}}|,\s*(?:{_KEY_IN_QUOTES}|(?![{re.escape(firsts)}]){_KEY_IN_WORD}):)", re.DOTALL)
    else:
        member = re.compile(rf"\s*(?:\}}|,\s*(?:{_KEY_OF_JSON}|(?![{re.escape(firsts)}]){_KEY_IN_WORD}):)", re.DOTALL)
    return {**_BRACKETS, "{": member}


class _Found(NamedTuple):
    """A key, or the text of a string, and the index after it; None: there is none."""

    key: str | None
    end: int


_NOTHING, _CUT = _Found(None, 0), _Found(None, -1)
"""no key or string; the beginning of one, so that more text decides"""


class Ahead(NamedTuple):
    """The end of a string, found ahead.

    Attributes:
        end: the index after its text.
        after: the index after its closing quote.
        quoted: whether it has one.
    """

    end: int
    after: int
    quoted: bool


class Mending(Repairs):
    """The repairs of one call: what surrounds its values, and which repairs were reported.

    Args:
        window: the text; it knows whether more comes.
        end_of_call: what stands after the arguments.
        notation: how values are spelled.
        depth: the number of brackets that are open around a value of an argument.
        in_object: whether the arguments are inside the object of the call.

    Attributes:
        after: whether a value that no bracket surrounds ends at a place.
        signs: the first characters of what may follow a value.
        written: the keys of arguments that were read.
        look: the index up to which text may be looked at.
        final: whether nothing comes after it.
        plain: what follows a value, by the innermost bracket; found without looking further.
        waits: whether more text decides what was asked last.
    """

    __slots__ = (
        *(
            "_argument",
            "_bare_keys",
            "_end_of_call",
            "_in_object",
            "_properties",
            "_quotes",
            "_schema",
            "_seen",
            "_window",
            "after",
            "depth",
        ),
        *("final", "look", "plain", "repairs", "signs", "waits", "written"),
    )

    def __init__(
        self, window: Window, end_of_call: EndOfCall, notation: Notation, depth: int, *, in_object: bool = False
    ) -> None:
        super().__init__()
        self._window = window
        self._end_of_call = end_of_call
        self._quotes = tuple(dict.fromkeys((*sorted(notation.quotes, key=len, reverse=True), '"')))
        self._bare_keys = notation.bare_keys
        self._seen = 0
        self._schema: Any = None
        self._properties: Mapping[str, Any] | None = None
        self.depth = depth
        self._in_object = in_object
        self.plain = _plain(notation)
        self.after: Callable[[str, int, bool], Verdict] = self.ends_call
        self.signs = "]}),\n"
        self.written: set[str] = set()
        self._argument: Any = None
        self.look = 0
        self.waits = False
        self.final = False

    def declare(self, schema: Mapping[str, Any] | None) -> None:
        """Take the schema of the tool's parameters."""
        properties = schema.get("properties") if schema is not None else None
        self._schema, self._properties = schema, properties if isinstance(properties, Mapping) else None

    def see(self, text: str, end: int) -> None:
        """Note the text that may be looked at, before it is read."""
        window = self._window
        self.look = end
        self.final = (window.is_final and end == len(text)) or window.base + end == window.message_end
        self.waits = False

    # ---- keys

    def key_read(self, key: str) -> None:
        """Note that the key of an argument was read."""
        self.written.add(key)
        self._argument = (self._properties or {}).get(key)

    def key_fits(self, key: str, *, sure: bool, declared: bool = True) -> Verdict:
        """Whether a value ends before this key; `sure`: it must be declared, if `declared` says that it can be."""
        if not sure:
            return "ends"
        if self._properties is None or not declared:
            return "two ways"
        return "ends" if key in self._properties and key not in self.written else "goes on"

    # ---- what a value may be

    def _types(self, brackets: Sequence[Any]) -> frozenset[str] | None:
        """The types of a value inside these brackets; None: they are not declared."""
        inner = brackets[self.depth :]
        schema = self._argument
        if schema is None or any(one not in ("[", "(") for one in inner):
            return None
        for _ in inner:
            schema = inner_schema(schema, self._schema, None)
        types = None if schema is None else allowed_types(schema, self._schema)
        return None if types is None or types >= _EVERY else types

    def takes_number(self, brackets: Sequence[Any]) -> bool:
        """Whether a value inside these brackets is a number, as the schema says."""
        types = self._types(brackets)
        return types is not None and takes_number(types)

    def takes_string(self, word: str, brackets: Sequence[Any]) -> bool:
        """Whether a value inside these brackets may be a string without quotes that begins with this word."""
        types = self._types(brackets)
        if types is not None:
            return "string" in types
        return _BEGINS_VALUE.match(word) is not None and word not in _CUT_WORDS and word not in _NUMBER_WORDS

    def _string_at(self, text: str, pos: int, end: int) -> _Found:
        """A string in quotes."""
        quote = next((one for one in self._quotes if text.startswith(one, pos, end)), None)
        if quote is None:
            return _CUT if any(is_cut(one, text, pos, end) for one in self._quotes) else _NOTHING
        found = _rest_of_string(quote).match(text, pos + len(quote), end)
        return _CUT if found is None else _Found(text[pos + len(quote) : found.end() - len(quote)], found.end())

    def _key_at(self, text: str, pos: int, *, bare: bool) -> _Found:
        """A key and its colon; `bare`: it may be one of a notation that has keys without quotes."""
        end = min(self.look, pos + _LOOK)
        found = self._string_at(text, pos, end)
        if found is _NOTHING:
            key = (_BARE_KEY if bare else _BARE_KEY_WORD).match(text, pos, end)
            found = _NOTHING if key is None else _Found(key.group().strip(), key.end())
        if found.key is not None:
            after = after_whitespace(text, found.end, end)
            found = _CUT if after == end else found if text[after] == ":" else _NOTHING
        return _NOTHING if found is _CUT and (self.final or end < self.look) else found

    @_asking
    def quoted_key(self, text: str, pos: int) -> Literal["string", "no"] | None:
        """Whether a key in quotes and its colon stand here; None: more text is needed."""
        found = self._key_at(text, pos, bare=False)
        return None if found is _CUT else "no" if found.key is None else "string"

    @_asking
    def bare_key(self, text: str, pos: int) -> int | None:
        """The size of a key without quotes, if one and its colon stand here; None: more text is needed."""
        end = min(self.look, pos + _LOOK)
        found = _BARE_WORD.match(text, pos, end)
        size = 0 if found is None else found.end() - pos
        after = after_whitespace(text, pos + size, end)
        if not size or after < end:
            return size if size and text[after] == ":" else 0
        return None if end == self.look and not self.final else 0

    @_asking
    def begins_set(self, text: str, pos: int, end: int) -> bool | None:
        """Whether the brace at `pos` opens a set: its first member is no key. None: more text is needed."""
        end = min(end, pos + _LOOK)
        at = after_whitespace(text, pos + 1, end)
        if at == end:
            return None if end == self.look and not self.final else False
        if text[at] == "}" or _BARE_WORD.match(text, at, end):
            return False
        quote = next((one for one in self._quotes if text.startswith(one, at, end)), None)
        if quote is None and not self.final and any(is_cut(one, text, at, self.look) for one in self._quotes):
            return None
        if quote is None:
            return text[at] in _BEGINS_MEMBER
        found = self._key_at(text, at, bare=False)
        if found is _CUT or found.key is not None:
            return None if found is _CUT else False
        member = self._string_at(text, at, end)
        after = after_whitespace(text, member.end, end)
        return member.key is not None and text[after : after + 1] in (",", "}")

    @_asking
    def adjacent(self, text: str, pos: int, brackets: Sequence[Any], closers: Mapping[Any, str]) -> int | None:
        """The index of a further string's quote that stands right after a string; 0: there is none.

        It must be whole, and a value may end after it, or after those beside it.
        """
        end = min(self.look, pos + _LOOK)
        at = first = after_whitespace(text, pos, end)
        while True:
            if at == end:
                return None if end == self.look and not self.final else 0
            found = _SHORT_STRING.match(text, at, end)
            if found is None:
                is_cut_off = end == self.look and not self.final and _SHORT_STRING_BEGINS.fullmatch(text, at, end)
                return None if is_cut_off else 0
            verdict = self.fits(text, found.end(), brackets, closers, sure=True)
            if verdict != "goes on":
                return None if verdict is None else first
            at = after_whitespace(text, found.end(), end)

    # ---- where a value ends

    def ends_call(self, text: str, pos: int, sure: bool) -> Verdict:
        """Whether the call may end here; without doubt about what was read, it is not asked."""
        if not sure:
            return "ends"
        if self._in_object:
            after = _REST_OF_OBJECT.match(text, pos, self.look)
            if after is None:
                return (
                    None if pos >= self.look and not self.final else "ends" if text[pos : pos + 1] == "," else "goes on"
                )
            pos = after.end()
            if text[pos : pos + 1] == ",":
                return "ends"
        found = self._end_of_call.stands_at(text, pos, self.look, final=self.final)
        return None if found is None else "ends" if found else "goes on"

    @_asking
    def fits(self, text: str, pos: int, brackets: Sequence[Any], closers: Mapping[Any, str], *, sure: bool) -> Verdict:
        """Whether a value inside these brackets may end before `pos`.

        Args:
            text: the text.
            pos: the index after the value.
            brackets: the open brackets.
            closers: what closes each of them.
            sure: whether a quote was found that does not end the value, so that more must fit.
        """
        depth, end = len(brackets), self.look
        while True:
            pos = after_whitespace(text, pos, end)
            if not depth:
                return self.after(text, pos, sure)
            if pos >= end:
                return None if not self.final else "goes on" if sure else "ends"
            closer = closers[brackets[depth - 1]]
            if text[pos] == closer:
                depth, pos = depth - 1, pos + 1
                if len(brackets) - depth > _MAX_BRACKETS:
                    return "ends"
                continue
            if text[pos] == ",":
                is_object = closer == "}" and brackets[depth - 1] != "set"
                return self._member(text, pos + 1, closer, is_object, sure=sure, declared=depth == self.depth)
            found = (
                self._end_of_call.stands_at(text, pos, end, final=self.final) if self._end_of_call.closers else False
            )
            return None if found is None else "ends" if found else "goes on"

    def _member(self, text: str, pos: int, closer: str, is_object: bool, *, sure: bool, declared: bool) -> Verdict:
        """Whether a further member of an object or array stands after a comma."""
        end = self.look
        pos = after_whitespace(text, pos, end)
        if pos >= end:
            return None if not self.final else "goes on" if sure else "ends"
        if text[pos] == closer:
            return "ends"
        if not is_object:
            return "two ways" if sure else "ends"
        found = self._key_at(text, pos, bare=self._bare_keys)
        if found.key is not None:
            return self.key_fits(found.key, sure=sure, declared=declared)
        return None if found is _CUT else "goes on"

    @_asking
    def closing_quote(
        self, text: str, start: int, quote: str, brackets: Sequence[Any], closers: Mapping[Any, str]
    ) -> Ahead | Literal["none"] | None:
        """The end of a string that has quotes inside; none: it has no end, or two.

        Args:
            text: the text.
            start: the index of the quote that did not end it.
            quote: its delimiter.
            brackets: the open brackets.
            closers: what closes each of them.
        """
        event = _quotes_and_escapes(quote)
        at, end = start + self._seen, self.look
        stop, marker = self._end_of_call.stops.search(text, at, final=self.final, end=end)
        while True:
            found = event.search(text, at, end)
            if found is None or found.start() >= stop:
                return self._not_found(start, min(max(at, end - len(quote)), stop), stopped=marker is not None)
            at = found.end()
            if text[found.start()] == "\\" != quote:
                continue
            verdict = self.fits(text, at, brackets, closers, sure=True)
            if verdict is None:
                return self._not_found(start, found.start(), stopped=False)
            if verdict != "goes on":
                self._seen = 0
                return Ahead(found.start(), at, quoted=True) if verdict == "ends" else "none"

    @_asking
    def bare_end(
        self, text: str, start: int, brackets: Sequence[Any], closers: Mapping[Any, str]
    ) -> Ahead | Literal["none"] | None:
        """The end of a string without an opening quote: its closing quote, the next declared key, or the end.

        Args:
            text: the text.
            start: the index of its first character.
            brackets: the open brackets.
            closers: what closes each of them.
        """
        at, end = start + self._seen, self.look
        in_array = bool(brackets) and closers[brackets[-1]] != "}"
        stop, marker = self._end_of_call.stops.search(text, at, final=self.final, end=end)
        event = _events(self.signs, (*self._quotes, *self._end_of_call.closers))
        while True:
            found = event.search(text, at, min(end, stop + 1))
            if found is None and marker is None and self.final:
                return None  # it is cut
            if found is None:
                return self._not_found(start, min(end, stop), stopped=marker is not None)
            here = found.start()
            quote = next((one for one in self._quotes if text.startswith(one, here, end)), "")
            is_cut_off = not (quote or self.final) and any(is_cut(one, text, here, end) for one in self._quotes)
            is_cut_off = is_cut_off or (here == stop < end and marker is None)
            verdict = None if is_cut_off else self.fits(text, here + len(quote), brackets, closers, sure=True)
            if verdict is None:
                return self._not_found(start, here, stopped=False)
            if verdict == "goes on" and here < stop and (len(quote) < 2 and quote != '"'):
                at = found.end()
                continue
            self._seen = 0
            if verdict == "goes on" or (verdict == "two ways" and not in_array):
                return "none"
            return Ahead(here, here + len(quote), quoted=bool(quote))

    def _not_found(self, start: int, at: int, *, stopped: bool) -> Literal["none"] | None:
        """No end was found up to `at`, from where the search goes on with more text, unless it is over."""
        is_over = stopped or self.final or at - start > _MAX_HELD
        self._seen = 0 if is_over else max(0, at - start)
        return "none" if is_over else None


@functools.lru_cache(maxsize=256)
def _events(signs: str, literals: tuple[str, ...]) -> re.Pattern[str]:
    """The next place where a string without an opening quote may end."""
    firsts = "".join(sorted({*signs, *(one[0] for one in literals)}))
    return re.compile(f"[{re.escape(firsts)}]")


@functools.lru_cache(maxsize=64)
def _quotes_and_escapes(quote: str) -> re.Pattern[str]:
    if len(quote) > 1:
        return re.compile(re.escape(quote))
    return re.compile(rf"\\.|{re.escape(quote)}", re.DOTALL)


@functools.lru_cache(maxsize=64)
def _rest_of_string(quote: str) -> re.Pattern[str]:
    """The text of a string and its closing quote."""
    if len(quote) > 1:
        return re.compile(rf"(?:(?!{re.escape(quote)}).)*{re.escape(quote)}", re.DOTALL)
    return re.compile(rf"(?:\\.|[^{re.escape(quote)}\\])*{re.escape(quote)}", re.DOTALL)
