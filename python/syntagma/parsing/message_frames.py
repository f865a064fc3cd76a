"""Finds the markers around messages in a turn: the opener, those of fields and of the body, the end.

`message_markers` decides the effect of a marker, `message_header` the meaning of a header.
"""

from __future__ import annotations

from syntagma.parsing.header_router import HeaderRouter
from syntagma.parsing.text.scanner import MarkerSet
from syntagma.parsing.text.window import Window

__all__ = ["MessageFrames"]


class MessageFrames:
    """Finds the markers around messages in the text of a window. Text tokens that look like a marker are ignored."""

    __slots__ = ("_all", "_ends", "_markers", "_window")

    def __init__(self, window: Window, router: HeaderRouter) -> None:
        self._window = window
        self._markers = router.markers
        self._all = router.frame_markers
        self._ends = router.end_markers

    @property
    def end_chars(self) -> frozenset[str]:
        """The first characters of the markers that end a message."""
        return self._ends.firsts

    def next_marker(self, *, final: bool) -> tuple[int, str | None]:
        """Find the next marker from the cursor on: one that begins or ends a message, a field or a header.

        Returns:
            its index, and the marker; or the index from which on the text may be the beginning of one, and None.
        """
        return self.search(self._all, final=final)

    def next_end(self, *, final: bool) -> tuple[int, str | None]:
        """Find the next marker from the cursor on that ends a message; returns as `next_marker`."""
        return self.search(self._ends, final=final)

    def search(self, markers: MarkerSet, *, final: bool) -> tuple[int, str | None]:
        """Find the next text of these texts; returns as `next_marker`."""
        window = self._window
        start = window.pos
        while True:
            at, marker = markers.search(window.text, start, final=final)
            if marker is None or not window.knows_tokens or window.are_markers(at, self._markers.placed(marker)):
                return at, marker
            start = at + 1
