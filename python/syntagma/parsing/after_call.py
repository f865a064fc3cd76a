"""What may follow the arguments of a call: closers, a separator, the next call, the end of the section."""

from __future__ import annotations

import re
from typing import Any, Literal, NamedTuple, TypeAlias

from syntagma.format_schema import PlacedPiece
from syntagma.parsing.arguments.unescaper import unescaped
from syntagma.parsing.call_patterns import CallPattern, Op, Section
from syntagma.parsing.call_steps import Step as PatternStep
from syntagma.parsing.call_steps import characters_of
from syntagma.parsing.compiled_format import CompiledFormat
from syntagma.parsing.emitter import Emitter
from syntagma.parsing.repairs import REPAIRS, Repair
from syntagma.parsing.text.window import Window

__all__ = ["MAX_AHEAD", "AfterCall", "CallsOver", "NextCall"]

_TAG = re.compile(r"</[^<>\s]{1,64}>")
_BEGUN_TAG = re.compile(r"(?:<(?:/[^<>\s]{0,64})?)?")
MAX_AHEAD = 256
"""the most characters that are looked through after a closer that seems to close nothing"""
_SEPARATORS = (",", ";")
"""the signs that are read as a separator of calls where another is expected"""
_MAX_KNOWN = 64
"""positions after calls whose expected texts are cached"""


class NextCall(NamedTuple):
    """A further call may begin here.

    Attributes:
        candidates: its patterns.
        slips: what is wrong before it.
    """

    candidates: tuple[CallPattern, ...]
    slips: tuple[Repair, ...] = ()


class CallsOver(NamedTuple):
    """No further call begins here. The text from the window's mark on is content, without this whitespace."""

    whitespace: str


class Expected(NamedTuple):
    """A text that may come after a call.

    Attributes:
        text: the text; empty: a call that begins with its name.
        kind: a closer of the call or of its section, a separator, a call, (`other`) an opener of the answer or of
            reasoning, or (`stray`) a closer that closes nothing.
        pieces: its parts that may be tokens.
        number: for a closer, how many closers are expected before it.
    """

    text: str
    kind: Literal["closer", "separator", "call", "other", "stray"]
    pieces: tuple[PlacedPiece, ...] = ()
    number: int = 0


Step: TypeAlias = NextCall | CallsOver | Literal["read"] | None
"""`read`: something was read, and there may be more; None: more text is needed"""


class AfterCall:
    """Reads what follows a call, and remembers the open section.

    Args:
        window: the text.
        compiled: the format.
        out: receives what was read.
        max_capture: the most code points of an id or a name after the arguments.
        repair: whether another separator than the format's is read.

    Attributes:
        section: the section of the last call, or whose opener was read; None: outside of sections.
        owes_end: whether the end of the call is not reported yet, since an id may still come.
    """

    __slots__ = (
        *("_after_edge", "_alike", "_by_section", "_call_closer", "_compiled", "_edge", "_expected", "_inside"),
        *("_live", "_max_capture", "_name", "_next", "_other", "_out", "_repair", "_section_closer"),
        *("_separated", "_separator", "_unescapes", "_window", "owes_end", "section"),
    )

    def __init__(
        self, window: Window, compiled: CompiledFormat, out: Emitter, max_capture: int, *, repair: bool
    ) -> None:
        self._window = window
        self._compiled = compiled
        self._out = out
        self.section: Section | None = None
        self._live = False
        # Whether a closer was read, and another is awaited.
        self._inside = False
        self._call_closer: tuple[Op, ...] = ()
        self._section_closer: tuple[Op, ...] = ()
        self._max_capture = max_capture
        self._repair = repair
        self._name = ""
        self._alike: tuple[CallPattern, ...] = ()
        self.owes_end = False
        self._unescapes = False
        self._edge = ""
        self._after_edge = ""
        self._separator = ""
        self._separated = False
        # Whether another sign, or nothing, was read in place of the separator.
        self._other = False
        self._next: tuple[CallPattern, ...] = ()
        # `_next` by the `id()` of a section: to compare sections takes long.
        self._by_section: dict[int, tuple[CallPattern, ...]] = {}
        # The texts that may come now, the longest first, empty until they are needed.
        self._expected: tuple[Expected, ...] = ()

    @property
    def open_section(self) -> Section | None:
        """The section whose closer is removed from content: one that holds a call."""
        return self.section if self._live else None

    @property
    def is_closed(self) -> bool:
        """Whether the closers of the call and its section were read, or a separator after it."""
        separated = bool(self._separator) and self._separated
        return separated or not (self._call_closer or self._section_closer)

    def section_seen(self, section: Section | None, *, live: bool = False) -> None:
        """Note that the opener of a section was read; `live`: with a call."""
        if section is not None:
            self.section = section
        self._live = self._live or (live and self.section is not None)

    def close_section(self) -> str:
        """Note that the section's closer was read in content; returns the whitespace after it that belongs to it."""
        section, self.section, self._live = self.section, None, False
        return section.after if section is not None else ""

    def begin(self, call: CallPattern, name: str, alike: tuple[CallPattern, ...] = ()) -> None:
        """Begin to read after the arguments of a call, or after its object.

        Args:
            call: the pattern of the call.
            name: the tool's name.
            alike: patterns that differ from it only after the arguments.
        """
        self._name = name
        self._alike = tuple(one for one in alike if one.closer and one.closer != call.closer)
        self._unescapes = "attributes" in call.form.escape
        if call.section is not None:
            self.section = call.section
        self._live = self.section is not None
        self._call_closer = call.closer
        self._edge = "" if call.closer else call.after
        self._after_edge = call.after
        self._restart(call.form.separator, self._compiled.closer_after(call) if self.section is None else ())

    def begin_after_object(self) -> None:
        """Begin to read after an object that is not a call, in a section where calls are bare objects."""
        self._call_closer, self._alike = (), ()
        self._edge = ""
        separators = [form.separator for form, sections, _ in self._compiled.forms if self.section in sections]
        self._restart(separators[0] if separators else "")

    def _restart(self, separator: str, implied: tuple[Op, ...] = ()) -> None:
        section = self.section
        self._section_closer = section.closer if section is not None and self._live else implied
        self._separator, self._separated, self._other = separator, not separator, False
        self._inside = False
        self._expected = ()
        following = self._by_section.get(id(section))
        if following is None:
            following = self._by_section[id(section)] = self._compiled.next_calls[section]
        self._next = following
        self._window.mark()

    def read(self, *, final: bool) -> NextCall | CallsOver | None:
        """Read on, as far as the available text goes."""
        window = self._window
        while True:
            window.move(window.after_whitespace(window.pos))
            if window.pos == len(window.text) and not final:
                return None
            found = self._step(final=final)
            if found != "read":
                if found is not None:
                    self.report_end()
                return found

    def report_end(self, late_id: str | None = None) -> None:
        """Report the end of the call, unless that is done; with the id that was read after its arguments."""
        if self.owes_end:
            self.owes_end = False
            self._out.call_end(complete=True, span=self._window.place, late_id=late_id)

    def _capture(self, op: Op, *, final: bool) -> bool | None:
        """Read an id, a name or a number after the arguments, if there is one; None: more text is needed."""
        window = self._window
        text, pos = window.text, window.pos
        following = self._call_closer[1] if len(self._call_closer) > 1 else None
        ends = following.text if following is not None and following.kind == "literal" else ""
        step = PatternStep("capture", op.text, characters=characters_of(op.text), ends=(ends,) if ends else ())
        end = step.end_of_capture(text, pos, len(text))
        if end - pos > self._max_capture:
            return False
        if not final and (end == len(text) or _ends_inside(text, pos, end, ends)):
            return None
        if end == pos:
            return False
        captured = unescaped(text[pos:end]) if self._unescapes else text[pos:end]
        window.move(end)
        window.mark_again()
        self._call_closer = self._call_closer[1:]
        self._expected = ()
        self._edge = "" if self._call_closer else self._after_edge
        if op.text == "id":
            self.report_end(captured)
        elif op.text == "name" and captured != self._name:
            span = (window.here - len(captured), window.here)
            self._out.malformed("E-PARSE-NAME", f"{self._name!r} and {captured!r} name one call", span)
        return True

    def _pick_closer(self, *, final: bool) -> bool:
        """Decide which pattern of the call the closer belongs to; False: more text is needed."""
        window = self._window
        text, pos = window.text, window.pos
        literals = [ops[0].text if ops and ops[0].kind == "literal" else "" for ops in self._closers_alike()]
        if not final and any(one and window.cut_at(pos, one) for one in literals):
            return False
        longest = max((one for one in literals if text.startswith(one, pos)), key=len, default="")
        found = literals.index(longest) if longest else 0
        if found:
            way = self._alike[found - 1]
            self._call_closer, self._after_edge, self._edge = way.closer, way.after, ""
        self._alike = ()
        return True

    def _closers_alike(self) -> list[tuple[Op, ...]]:
        return [self._call_closer, *(way.closer for way in self._alike)]

    def _step(self, *, final: bool) -> Step:
        window = self._window
        if self._alike and not self._pick_closer(final=final):
            return None
        if self._call_closer and self._call_closer[0].kind == "placeholder":
            found = self._capture(self._call_closer[0], final=final)
            if found is not False:
                return "read" if found else None
        text, pos = window.text, window.pos
        if pos == len(text):
            return self._over()
        found_here = self._stands_here(text, pos, final=final)
        if found_here == "more":
            return None
        if isinstance(found_here, Expected):
            return self._found(found_here, text, pos)
        if found_here == "cut":
            window.move(len(text))
            self._missing("is cut")
            window.mark_again()
            return CallsOver("")
        if self._takes_other(text, pos):
            return "read"
        if self._inside and text.startswith("<", pos):
            end = self._foreign(text, pos, final=final)
            if end is None:
                return None
            if end:
                self._stray(end)
                return "read"
        return self._over()

    def _stands_here(self, text: str, pos: int, *, final: bool) -> Expected | Literal["more", "cut"] | None:
        """The text that was expected and stands here; `cut`: a closer that the end of the text cuts."""
        is_cut = False
        for one in self._expected or self._expect():
            size = len(one.text)
            if not size and text.startswith(_SEPARATORS, pos):
                break  # no name
            if text.startswith(one.text, pos):
                if self._window.are_markers(pos, one.pieces):
                    return one
            elif len(text) - pos < size and one.text.startswith(text[pos:]):
                if not final:
                    return "more"
                is_cut = is_cut or one.kind == "closer"
        return "cut" if is_cut else None

    def _expect(self) -> tuple[Expected, ...]:
        """The texts that may come, the longest first, since a closer and a call may begin alike."""
        separator = "" if self._separated else self._separator
        # The same few objects come after every call. They are kept, so that no other object gets their `id()`.
        of = (self._call_closer, self._section_closer, self._next, separator, self._separated)
        key = tuple(map(id, of))
        known = self._compiled.after_calls
        found: tuple[Any, tuple[Expected, ...]] | None = known.get(key)
        if found is None:
            if len(known) >= _MAX_KNOWN:
                known.clear()
            found = known[key] = (of, self._longest_first(separator))
        self._expected = found[1]
        return self._expected

    def _longest_first(self, separator: str) -> tuple[Expected, ...]:
        closers = (*self._call_closer, *self._section_closer)
        found = [Expected(op.text, "closer", op.pieces, n) for n, op in enumerate(closers) if op.kind == "literal"]
        if separator:
            found.append(Expected(separator, "separator"))
        found += [Expected(opener, "other") for opener in self._compiled.longer_openers]
        firsts = dict.fromkeys(one.first for one in self._next)
        found += [Expected(first, "call") for first in firsts if first or self._separated]
        known = {one.text for one in found}
        found += [Expected(op.text, "stray", op.pieces) for op in self._compiled.strays if op.text not in known]
        return tuple(sorted(found, key=lambda one: -len(one.text)))

    def _found(self, one: Expected, text: str, pos: int) -> Step:
        """Read the text that stands at the cursor."""
        if one.kind == "closer":
            if one.number >= len(self._call_closer) and self._after_separator:
                if not self._repair:
                    return self._over()
                self.report_end()
                self._out.malformed("E-PARSE-REPAIRED", REPAIRS["last"], self._window.place)
            self._closed(one.number, len(one.text))
        elif one.kind == "separator":
            self._separated = True
            self._window.move(pos + len(one.text))
        elif one.kind == "stray":
            self._stray(pos + len(one.text))
        elif one.kind == "other":
            return CallsOver(self._edge)
        else:
            starts = [call for call in self._next if text.startswith(call.first, pos)]
            if self._call_closer:
                self._missing("is missing")
            candidates = tuple(call for call in starts if call.first or self._separated)
            if self._separated and not self._other:
                return NextCall(candidates)
            return self._unseparated(candidates)
        self._expected = ()
        return "read"

    @property
    def _in_list(self) -> bool:
        """Whether a section with a closer is open, of which nothing was read yet."""
        section = self.section
        return self._live and section is not None and bool(section.closer) and self._section_closer is section.closer

    @property
    def _after_separator(self) -> bool:
        """Whether a separator was read last, the format's or another, in an open section."""
        return self._in_list and (self._other or (bool(self._separator) and self._separated))

    def _takes_other(self, text: str, pos: int) -> bool:
        """Take another sign for the separator, or none where a name begins, if one may stand here."""
        is_sign = text.startswith(_SEPARATORS, pos)
        if self._other or not (self._repair and self._in_list) or self._call_closer:
            return False
        if not is_sign and (self._separated or not (text[pos].isalpha() or text[pos] == "_")):
            return False
        self._other = self._separated = True
        self._expected = ()
        if is_sign:
            self._window.move(pos + 1)
        return True

    def _unseparated(self, candidates: tuple[CallPattern, ...]) -> NextCall | CallsOver:
        """A further call that the separator does not stand before: a slip, if it is one of the open section."""
        if not self._in_list or not any(
            self.section in each and call in calls for _, each, calls in self._compiled.forms for call in candidates
        ):
            return NextCall(candidates)
        return NextCall(candidates, ("between",)) if self._repair else self._over()

    def _stray(self, end: int) -> None:
        """Remove a closer that closes nothing, up to index `end`."""
        window = self._window
        start = window.here
        self.report_end()
        window.move(end)
        window.mark_again()
        self._out.stray((start, window.here))

    def _foreign(self, text: str, pos: int, *, final: bool) -> int | None:
        """The index after closing tags of another notation, if a closer that is awaited follows; 0: there are none.

        None: more text is needed.
        """
        awaited = [op.text for op in (*self._call_closer, *self._section_closer) if op.kind == "literal"]
        end = pos
        while (found := _TAG.match(text, end)) is not None:
            end = self._window.after_whitespace(found.end())
            if end - pos > MAX_AHEAD:
                return 0
            if any(text.startswith(one, end) for one in awaited):
                return end
        may_go_on = _BEGUN_TAG.fullmatch(text, end) or any(self._window.cut_at(end, one) for one in awaited)
        return None if may_go_on and not final else 0

    def _over(self) -> CallsOver:
        if self._call_closer:
            self._missing("is missing")
            return CallsOver(self._edge)
        window = self._window
        if self._live and self._section_closer and (self._other or window.pos < len(window.text)):
            self.report_end()
            self._out.malformed("E-PARSE-CALL", "text among the calls of a section that is no call", window.place)
        return CallsOver(self._edge)

    def _closed(self, n: int, size: int) -> None:
        """Note that the n-th of the closers still expected was read."""
        window = self._window
        calls = len(self._call_closer)
        if n > 0 and self._call_closer:
            self._missing("is missing", self._call_closer[:n])
        window.move(window.pos + size)
        window.mark_again()
        self._separated = not self._separator
        if n < calls:
            self._call_closer = self._call_closer[n + 1 :]
            self._edge = "" if self._call_closer else self._after_edge
            self._inside = bool(self._call_closer or self._section_closer)
            return
        self._call_closer = ()
        self._section_closer = self._section_closer[n - calls + 1 :]
        self._separator, self._other = "", False
        self._next = self._compiled.starts
        self._inside = bool(self._section_closer)
        if not self._inside:
            self._edge = self.close_section()

    def _missing(self, how: str, unread: tuple[Op, ...] | None = None) -> None:
        """Report what of a call was not read: its id, or else its closing marker; None: all that is expected."""
        self.report_end()
        awaited = self._call_closer if unread is None else unread
        what = "id" if any(op.kind == "placeholder" and op.text == "id" for op in awaited) else "closing marker"
        self._call_closer, self._expected = (), ()
        self._out.malformed("E-PARSE-CLOSER", f"the {what} of a call {how}", self._window.place)


def _ends_inside(text: str, start: int, end: int, literal: str) -> bool:
    """Whether the text ends inside a possible beginning of the literal that follows a capture of `text[start:end]`."""
    if not literal or text.startswith(literal, end):
        return False
    first = max(start, len(text) - len(literal) + 1)
    return any(literal.startswith(text[at:]) for at in range(first, min(end + 1, len(text))))
