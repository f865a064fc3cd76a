"""What may come behind the arguments of a call: closers, a separator, the next call, the end of the section."""

from __future__ import annotations

from typing import Literal

from syntagma.parsing.call_patterns import Alternative, Op, Section
from syntagma.parsing.compiled_format import CompiledFormat
from syntagma.parsing.emitter import Emitter
from syntagma.parsing.text.window import Window

__all__ = ["CallEnd"]


class CallEnd:
    """Reads on behind a call, and remembers the section that is open.

    Attributes:
        section: the section that calls were read in, or whose opener was; None outside.
    """

    def __init__(self, window: Window, compiled: CompiledFormat, out: Emitter) -> None:
        self._window = window
        self._compiled = compiled
        self._out = out
        self.section: Section | None = None
        self._live = False
        self._call_closer: tuple[Op, ...] = ()
        self._section_closer: tuple[Op, ...] = ()
        self._implied: tuple[Op, ...] = ()
        self._edge = ""
        self._after_edge = ""
        self._separator = ""
        self._separated = False
        self._next: tuple[Alternative, ...] = ()

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
        """The closer of the section was read in content; the blanks behind it that belong to it."""
        section, self.section, self._live = self.section, None, False
        return section.after if section is not None else ""

    def begin(self, call: Alternative) -> None:
        """The arguments of a call, or its object, have just ended."""
        if call.section is not None:
            self.section = call.section
        self._live = self.section is not None
        self._implied = self._compiled.closer_behind(call) if self.section is None else ()
        self._call_closer = call.closer
        self._edge = "" if call.closer else call.after
        self._after_edge = call.after
        self._restart(call.form.separator)

    def begin_loose(self) -> None:
        """The object of what was no call has just ended, inside a section where calls are bare objects."""
        self._call_closer = self._implied = ()
        self._edge = ""
        separators = [form.separator for form, sections, _ in self._compiled.forms if self.section in sections]
        self._restart(separators[0] if separators else "")

    def _restart(self, separator: str) -> None:
        section = self.section
        self._section_closer = section.closer if section is not None and self._live else self._implied
        self._separator, self._separated = separator, not separator
        self._next = (self._compiled.inner(section) if section is not None else ()) + self._compiled.starts
        self._window.mark()

    def read(self, *, final: bool) -> Literal["more"] | list[Alternative] | str:
        """Read on: `more` text is needed, the calls that may begin here, or the blanks that belong to what was read.

        In the last case what comes is content, from the window's mark on.
        """
        window = self._window
        while True:
            window.pos = window.behind_blanks(window.pos)
            if window.pos == len(window.text) and not final:
                return "more"
            found = self._step(final=final)
            if found is not None:
                return found

    def _step(self, *, final: bool) -> Literal["more"] | list[Alternative] | str | None:
        window = self._window
        text, pos = window.text, window.pos
        for n, op in enumerate((*self._call_closer, *self._section_closer)):
            if text.startswith(op.text, pos):
                if window.are_markers(pos, op.pieces):
                    self._closed(n, op)
                    return None
            elif pos < len(text) and window.cut_at(pos, op.text):
                if not final:
                    return "more"
                window.pos = len(text)
                self._missing("is cut")
                window.unmark()
                window.mark()
                return ""
        separator = self._separator
        if separator and not self._separated:
            if text.startswith(separator, pos):
                self._separated = True
                window.pos += len(separator)
                return None
            if not final and window.cut_at(pos, separator):
                return "more"
        # What opens the answer or thoughts may begin as a call does; it is longer, then.
        for opener in self._compiled.longer_openers if pos < len(text) else ():
            if text.startswith(opener, pos):
                return self._edge
            if not final and window.cut_at(pos, opener):
                return "more"
        starts = []
        for one in self._next if pos < len(text) else ():
            first = one.first
            if text.startswith(first, pos) and (first or self._separated):
                starts.append(one)
            elif not final and window.cut_at(pos, first):
                return "more"
        if self._call_closer:
            self._missing("is missing")
        return starts or self._edge

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
        self._call_closer = ()
        self._out.malformed("E-PARSE-CLOSER", f"the closing marker of a call {how}", (here, here))
