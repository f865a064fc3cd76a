"""Reads one raw value between two markers."""

from __future__ import annotations

from collections.abc import Callable

from syntagma.parsing.arguments.json_machine import JsonMachine
from syntagma.parsing.arguments.json_string import json_text
from syntagma.parsing.arguments.literal_machine import LiteralMachine
from syntagma.parsing.arguments.source import OpenString
from syntagma.parsing.arguments.unescaper import Unescaper
from syntagma.parsing.text.scanner import MarkerSet
from syntagma.parsing.text.text_buffer import TextBuffer

__all__ = ["RawValue"]


class RawValue:
    """Reads the text of one value up to its closer. A string is passed on as it comes; any other text is collected.

    Args:
        ends: the closers, with and without the whitespace before them that belongs to them.
        is_string: whether the value is a string, whatever it looks like.
        structure: follows the structure of a value that is no string, since a closer in a string inside it is text.
        whole_brackets: whether a closer between the brackets of an object or array is text, too.
        whole_strings: whether a closer is text in any string, or only in one between brackets.
        unescaper: decodes XML escapes; None: the text has none.
        end_at: how much of a closer, found at an index, belongs to the value's end; -1: it is text that looks like one;
            None: more text decides.

    Attributes:
        is_string: see above.
        closer: the closer that was read; empty before.
        open_string: see `ArgumentSource`.
    """

    __slots__ = (
        *("_ends", "_end_at", "_structure", "_text", "_unescaper", "_unread", "_whole_brackets"),
        *("_whole_strings", "closer", "is_string", "open_string"),
    )

    def __init__(
        self,
        ends: MarkerSet,
        *,
        is_string: bool,
        structure: JsonMachine | LiteralMachine | None,
        unescaper: Unescaper | None = None,
        end_at: Callable[[int, str], int | None] | None = None,
        whole_brackets: bool = False,
        whole_strings: bool = True,
    ) -> None:
        self._ends = ends
        self.is_string = is_string
        self._structure = structure
        self._unescaper = unescaper
        self._end_at = end_at
        self._whole_brackets = whole_brackets
        self._whole_strings = whole_strings
        self._text = TextBuffer()
        self._unread = ""
        self.closer = ""
        is_plain = is_string and unescaper is None
        self.open_string = OpenString(ends.firsts, json_text) if is_plain else None

    def feed(self, text: str, pos: int, end: int, out: list[str]) -> tuple[int, bool]:
        """Read `text[pos:end]`; the text of a string is appended to `out` as JSON text.

        Returns:
            the index of the first character that was not read, and whether the closer was.
        """
        while True:
            at, closer = self._ends.search(text, pos, final=False, end=end)
            if at > pos:
                self._pass_on(text[pos:at], out)
            if closer is None:
                return at, False
            size = -1 if self._is_quoted else len(closer) if self._end_at is None else self._end_at(at, closer)
            if size is None:
                return at, False
            if size >= 0:
                break
            self._pass_on(text[at : at + 1], out)
            pos = at + 1
        if self._unescaper is not None:
            rest, self._unescaper = self._unescaper.finish(), None
            self._pass_on(rest, out)
        self.closer = closer[:size]
        return at + size, True

    def finish(self, rest: str) -> str:
        """At the end of the stream, the JSON text that the unread `rest` adds to a string."""
        if self._unescaper is not None:
            rest = self._unescaper.feed(rest) + self._unescaper.finish()
        return json_text(rest) if self.is_string else ""

    def take(self) -> str:
        """The collected text of a value that is no string."""
        return self._text.take()

    @property
    def _is_quoted(self) -> bool:
        """Whether the position is inside a string or brackets of the value, or inside a raw section."""
        structure = self._structure
        if structure is not None and self._whole_brackets and structure.in_brackets:
            return True
        in_string = structure is not None and self._whole_strings and structure.in_string
        return in_string or (self._unescaper is not None and self._unescaper.raw)

    def _pass_on(self, text: str, out: list[str]) -> None:
        if self._unescaper is not None:
            text = self._unescaper.feed(text)
        if self.is_string:
            out.append(json_text(text))
        elif text:
            self._text.write(text)
            structure = self._structure
            if structure is not None and not (structure.done or structure.bad):
                text = self._unread + text
                at, fragment = 0, "more"
                while fragment:
                    at, fragment = structure.feed(text, at, len(text))
                self._unread = text[at:]
