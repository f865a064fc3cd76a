"""What may follow the arguments of a call: closers, a separator, the next call, the end of the section."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from syntagma.parsing.arguments.unescaper import unescaped
from syntagma.parsing.call_patterns import CallPattern, Op, Section
from syntagma.parsing.call_results import NEED_MORE, NeedMore
from syntagma.parsing.call_steps import Step as PatternStep
from syntagma.parsing.call_steps import characters_of
from syntagma.parsing.compiled_format import CompiledFormat
from syntagma.parsing.emitter import Emitter
from syntagma.parsing.text.window import Window

__all__ = ["AfterCall", "CallsOver", "NextCall"]


class NextCall(NamedTuple):
    """A further call may begin here: the candidates for it."""

    candidates: tuple[CallPattern, ...]


class CallsOver(NamedTuple):
    """No further call begins here. What comes is content, from the window's mark on, without this whitespace."""

    whitespace: str


Step: TypeAlias = NextCall | CallsOver | NeedMore | None
"""None: something was read, and there may be more"""


class AfterCall:
    """Reads on after a call, and remembers the section that is open.

    Args:
        window: the text.
        compiled: the format.
        out: what is told what was read.
        max_capture: code points, at most, of an id or a name after the arguments.

    Attributes:
        section: the section that calls were read in, or whose opener was; None outside.
    """

    __slots__ = (
        *(
            "_after_edge",
            "_alike",
            "_call_closer",
            "_compiled",
            "_edge",
            "_implied",
            "_live",
            "_max_capture",
            "_name",
            "_next",
        ),
        *("_out", "_owes_end", "_section_closer", "_separated", "_separator", "_unescapes", "_window", "section"),
    )

    def __init__(self, window: Window, compiled: CompiledFormat, out: Emitter, max_capture: int) -> None:
        self._window = window
        self._compiled = compiled
        self._out = out
        self.section: Section | None = None
        self._live = False
        self._call_closer: tuple[Op, ...] = ()
        self._section_closer: tuple[Op, ...] = ()
        self._implied: tuple[Op, ...] = ()
        self._max_capture = max_capture
        self._name = ""
        self._alike: tuple[CallPattern, ...] = ()
        self._owes_end = False
        self._unescapes = False
        self._edge = ""
        self._after_edge = ""
        self._separator = ""
        self._separated = False
        self._next: tuple[CallPattern, ...] = ()

    @property
    def open_section(self) -> Section | None:
        """The section whose closer is removed from content: one that holds a call."""
        return self.section if self._live else None

    def section_seen(self, section: Section | None, *, live: bool = False) -> None:
        """The opener of a section was read; `live`: with a call."""
        if section is not None:
            self.section = section
        self._live = self._live or (live and self.section is not None)

    def close_section(self) -> str:
        """The closer of the section was read in content; the whitespace after it that belongs to it."""
        section, self.section, self._live = self.section, None, False
        return section.after if section is not None else ""

    def begin(
        self, call: CallPattern, name: str, *, owes_end: bool = False, alike: tuple[CallPattern, ...] = ()
    ) -> None:
        """The arguments of a call, or its object, have just ended.

        Args:
            call: the way in which the call is written.
            name: the tool's name.
            owes_end: an id may still come, so that the end of the call was not reported.
            alike: ways that differ from it only in what follows the arguments.
        """
        self._name, self._owes_end = name, owes_end
        self._alike = tuple(one for one in alike if one.closer and one.closer != call.closer)
        self._unescapes = "attributes" in call.form.escape
        if call.section is not None:
            self.section = call.section
        self._live = self.section is not None
        self._implied = self._compiled.closer_after(call) if self.section is None else ()
        self._call_closer = call.closer
        self._edge = "" if call.closer else call.after
        self._after_edge = call.after
        self._restart(call.form.separator)

    def begin_after_object(self) -> None:
        """The object of what was no call has just ended, inside a section where calls are bare objects."""
        self._call_closer = self._implied = ()
        self._alike = ()
        self._edge = ""
        separators = [form.separator for form, sections, _ in self._compiled.forms if self.section in sections]
        self._restart(separators[0] if separators else "")

    def _restart(self, separator: str) -> None:
        section = self.section
        self._section_closer = section.closer if section is not None and self._live else self._implied
        self._separator, self._separated = separator, not separator
        self._next = (self._compiled.inner(section) if section is not None else ()) + self._compiled.starts
        self._window.mark()

    def read(self, *, final: bool) -> NextCall | CallsOver | NeedMore:
        """Read on, as far as the text at hand goes."""
        window = self._window
        while True:
            window.pos = window.after_whitespace(window.pos)
            if window.pos == len(window.text) and not final:
                return NEED_MORE
            found = self._step(final=final)
            if found is not None:
                if found is not NEED_MORE:
                    self.report_end()
                return found

    def report_end(self, late_id: str | None = None) -> None:
        """The call is over, if that was not reported yet; with the id that was read after its arguments."""
        if self._owes_end:
            self._owes_end = False
            here = self._window.here
            self._out.call_end(complete=True, span=(here, here), late_id=late_id)

    def _capture(self, op: Op, *, final: bool) -> NeedMore | bool:
        """An id, a name or a number after the arguments; whether there is one."""
        window = self._window
        text, pos = window.text, window.pos
        following = self._call_closer[1] if len(self._call_closer) > 1 else None
        ends = following.text if following is not None and following.kind == "literal" else ""
        step = PatternStep("capture", op.text, characters=characters_of(op.text), end=ends)
        end = step.end_of_capture(text, pos, len(text))
        if end - pos > self._max_capture:
            return False
        if not final and (end == len(text) or _ends_inside(text, pos, end, ends)):
            return NEED_MORE
        if end == pos and not step.may_be_empty:
            return False
        captured = unescaped(text[pos:end]) if self._unescapes else text[pos:end]
        window.pos = end
        window.unmark()
        window.mark()
        self._call_closer = self._call_closer[1:]
        self._edge = "" if self._call_closer else self._after_edge
        if op.text == "id":
            self.report_end(captured)
        elif op.text == "name" and captured != self._name:
            span = (window.here - len(captured), window.here)
            self._out.malformed("E-PARSE-NAME", f"{self._name!r} and {captured!r} name one call", span)
        return True

    def _pick_closer(self, *, final: bool) -> bool:
        """Which of the ways to write the call the closer belongs to; False: more text is needed."""
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
            return NEED_MORE
        if self._call_closer and self._call_closer[0].kind == "placeholder":
            found = self._capture(self._call_closer[0], final=final)
            if found is not False:
                return NEED_MORE if found is NEED_MORE else None
        text, pos = window.text, window.pos
        for n, op in enumerate((*self._call_closer, *self._section_closer)):
            if op.kind == "placeholder":
                continue
            if text.startswith(op.text, pos):
                if window.are_markers(pos, op.pieces):
                    self._closed(n, op)
                    return None
            elif pos < len(text) and window.cut_at(pos, op.text):
                if not final:
                    return NEED_MORE
                window.pos = len(text)
                self._missing("is cut")
                window.unmark()
                window.mark()
                return CallsOver("")
        separator = self._separator
        if separator and not self._separated:
            if text.startswith(separator, pos):
                self._separated = True
                window.pos += len(separator)
                return None
            if not final and window.cut_at(pos, separator):
                return NEED_MORE
        return self._next_call(text, pos, final=final)

    def _next_call(self, text: str, pos: int, *, final: bool) -> Step:
        """Whether a further call begins here."""
        window = self._window
        # What opens the answer or reasoning may begin as a call does; it is longer, then.
        for opener in self._compiled.longer_openers if pos < len(text) else ():
            if text.startswith(opener, pos):
                return CallsOver(self._edge)
            if not final and window.cut_at(pos, opener):
                return NEED_MORE
        starts = []
        for one in self._next if pos < len(text) else ():
            first = one.first
            if text.startswith(first, pos) and (first or self._separated):
                starts.append(one)
            elif not final and window.cut_at(pos, first):
                return NEED_MORE
        if self._call_closer:
            self._missing("is missing")
        return NextCall(tuple(starts)) if starts else CallsOver(self._edge)

    def _closed(self, n: int, op: Op) -> None:
        """The n-th of the closers that are still expected was read."""
        window = self._window
        calls = len(self._call_closer)
        if n > 0 and self._call_closer:
            self._missing("is missing")
        window.pos += len(op.text)
        window.unmark()
        window.mark()
        self._separated = not self._separator
        if n < calls:
            self._call_closer = self._call_closer[n + 1 :]
            self._edge = "" if self._call_closer else self._after_edge
            return
        self._call_closer = ()
        self._section_closer = self._section_closer[n - calls + 1 :]
        self._separator = ""
        self._next = self._compiled.starts
        if not self._section_closer:
            self._edge = self.close_section()

    def _missing(self, how: str) -> None:
        here = self._window.here
        self.report_end()
        self._call_closer = ()
        self._out.malformed("E-PARSE-CLOSER", f"the closing marker of a call {how}", (here, here))


def _ends_inside(text: str, start: int, end: int, literal: str) -> bool:
    """Whether the text ends inside what may be the literal that follows a capture of `text[start:end]`."""
    if not literal or text.startswith(literal, end):
        return False
    first = max(start, len(text) - len(literal) + 1)
    return any(literal.startswith(text[at:]) for at in range(first, min(end + 1, len(text))))
