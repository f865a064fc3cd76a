"""Finds the markers around messages in a turn: opener, fields, marker of the body, end.

`message_markers` says what a marker does, `message_header` what a header means.
"""

from __future__ import annotations

from syntagma.parsing.header_router import HeaderRouter
from syntagma.parsing.text.scanner import Scanner
from syntagma.parsing.text.window import Window

__all__ = ["MessageFrames"]


class MessageFrames:
    """Finds the markers around messages in the text of a window. Look-alikes that are text tokens are passed over."""

    __slots__ = ("_all", "_ends", "_markers", "_window")

    def __init__(self, window: Window, router: HeaderRouter) -> None:
        self._window = window
        self._markers = router.markers
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
            if marker is None or not window.knows_tokens or window.are_markers(at, self._markers.placed(marker)):
                return at, marker
            start = at + 1
