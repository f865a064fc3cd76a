"""Cuts the text of a turn into the frames of messages: opener, header, body, end.

A message is `opener, role, fields, marker of the body, body, end`. `MessageFrames` finds the marker that comes next,
and `HeaderText` collects a header up to the marker of the body. Neither knows what a header means (`message_header`
reads it, `header_router` says where it leads) nor what a body holds.
"""

from __future__ import annotations

from syntagma.parsing.call_patterns import marker_pieces
from syntagma.parsing.header_router import HeaderRouter
from syntagma.parsing.message_header import Header, HeaderShape, read_header
from syntagma.parsing.text.scanner import Scanner
from syntagma.parsing.text.window import Window

__all__ = ["HeaderText", "MessageFrames"]


class MessageFrames:
    """Finds the markers around messages in the text of a window. Look-alikes that are text tokens are passed over."""

    __slots__ = ("_all", "_ends", "_window")

    def __init__(self, window: Window, router: HeaderRouter) -> None:
        self._window = window
        self._all = Scanner(router.frame_markers)
        self._ends = Scanner(router.end_markers)

    @property
    def end_chars(self) -> frozenset[str]:
        """The first characters of what ends a message."""
        return self._ends.markers.firsts

    def next_marker(self, *, final: bool) -> tuple[int, str | None]:
        """The next marker from the cursor on: one that begins or ends a message, a field or a header.

        Returns:
            its index, and the marker; without one, the index from which on the text may be the beginning of one, and
            None.
        """
        return self.search(self._all, final=final)

    def next_end(self, *, final: bool) -> tuple[int, str | None]:
        """The next marker from the cursor on that ends a message; as `next_marker`."""
        return self.search(self._ends, final=final)

    def search(self, scanner: Scanner, *, final: bool) -> tuple[int, str | None]:
        """The next text that a scanner looks for; as `next_marker`."""
        window = self._window
        start = window.pos
        while True:
            at, marker = scanner.search(window.text, start, final=final)
            if marker is None or window.are_markers(at, marker_pieces(marker)):
                return at, marker
            start = at + 1


class HeaderText:
    """A header as it is read: the text of each section, and where it stands.

    Args:
        text: the text that it begins with.
        end: absolute position where this text ends.

    Attributes:
        size: code points that were added.
    """

    __slots__ = ("_places", "_sections", "size")

    def __init__(self, text: str, end: int) -> None:
        self._sections = [("", text)]
        self._places = [end - len(text)]
        self.size = 0

    def add(self, text: str) -> None:
        """More text of the section that is open."""
        marker, before = self._sections[-1]
        self._sections[-1] = (marker, before + text)
        self.size += len(text)

    def begin_section(self, marker: str, at: int) -> None:
        """A further section begins behind this marker, at an absolute position."""
        self._sections.append((marker, ""))
        self._places.append(at)

    @property
    def is_one_section(self) -> bool:
        """No marker was read in it."""
        return len(self._sections) == 1

    @property
    def first(self) -> str:
        """The text of the first section."""
        return self._sections[0][1]

    def read(self, shape: HeaderShape, *, closed: bool) -> Header:
        """What the header says; `closed`: the marker of the body followed it."""
        return read_header(self._sections, shape, closed=closed)

    def text_outside_fields(self, header: Header) -> list[tuple[int, str]]:
        """The text that belongs to no field, each piece with its absolute position."""
        return [(self._places[n] + at, self._sections[n][1][at:]) for n, at in header.rest]
