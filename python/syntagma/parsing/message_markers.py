"""What all readers of messages with headers share: the effects of markers, and the header that is being read.

A message has an opener, a role, fields, the marker of the body, the body and an end; each may be missing.
`marker_effect` decides the effect of a marker outside of bodies; `HeaderText` collects a header up to the marker of the
body. Neither knows where the text comes from, the meaning of a header (see `message_header`), or the body.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal, TypeAlias

from syntagma.json_types import WHITESPACE
from syntagma.parsing.message_header import Header, HeaderShape, read_header

__all__ = ["MARKER_EFFECTS", "HeaderText", "MarkerEffect", "MarkerKind", "Where", "marker_effect"]

MarkerKind: TypeAlias = Literal["begin", "section", "body", "end"]
"""the opener of a message, the marker of a field or of the body, or the end of a message"""

Where: TypeAlias = Literal["between", "after stop", "empty header", "header"]
"""between messages; the same, after a message that may end the turn; in a header without text; in a header"""

MarkerEffect: TypeAlias = Literal[
    "begins",  # a message begins
    "begins unopened",  # a header begins without its opener; the marker is read in it
    "begins again",  # the current header begins again
    "begins next",  # the current header ends without a body, and the next message begins
    "section",  # a field of the header begins
    "body",  # the header is complete
    "ends header",  # the message ends without the marker of its body: text outside of fields is the body
    "ends nothing",  # the end of a message that has not begun
    "turn is over",
]

_IN_HEADER: Mapping[MarkerKind, MarkerEffect] = {
    "begin": "begins next",
    "section": "section",
    "body": "body",
    "end": "ends header",
}

MARKER_EFFECTS: Mapping[Where, Mapping[MarkerKind, MarkerEffect]] = {
    "between": {
        "begin": "begins",
        "section": "begins unopened",
        "body": "begins unopened",
        "end": "ends nothing",
    },
    "after stop": {
        "begin": "begins",
        "section": "turn is over",
        "body": "turn is over",
        "end": "turn is over",
    },
    "empty header": {**_IN_HEADER, "begin": "begins again"},
    "header": _IN_HEADER,
}


class HeaderText:
    """A header that is being read: the text of each section, and its position.

    Args:
        text: its first text.
        end: absolute position after this text.
        role: the word for the model's role.
        prompted: whether the prompt has begun it, perhaps with the role.
        repaired: whether its opener was missing or repeated.

    Attributes:
        given: the length of its first text, code points.
        size: the number of code points that were added.
        prompted: whether the prompt has begun it.
        repaired: whether its opener was missing or repeated.
        has_marker: whether its opener, or a marker in it, was read.
    """

    __slots__ = (
        *("_marker", "_parts", "_places", "_role", "_sections"),
        *("given", "has_marker", "prompted", "repaired", "size"),
    )

    def __init__(
        self, text: str = "", end: int = 0, *, role: str = "", prompted: bool = False, repaired: bool = False
    ) -> None:
        self._sections: list[tuple[str, str]] = []  # the complete ones
        self._marker = ""  # of the open section
        self._parts = [text]  # its text
        self._places = [end - len(text)]
        self.given = len(text)
        self._role = role
        self.size = 0
        self.has_marker = not prompted
        self.prompted = prompted
        self.repaired = repaired

    def add(self, text: str) -> None:
        """Add text to the open section."""
        self._parts.append(text)
        self.size += len(text)

    def begin_section(self, marker: str, at: int) -> None:
        """Begin a further section after this marker, at absolute position `at`."""
        self._sections.append((self._marker, "".join(self._parts)))
        self._marker, self._parts = marker, []
        self._places.append(at)

    @property
    def sections(self) -> list[tuple[str, str]]:
        """All sections, each as `(marker before it, text)`."""
        return [*self._sections, (self._marker, "".join(self._parts))]

    @property
    def is_empty(self) -> bool:
        """Whether it has only whitespace and, if the prompt began it, the role."""
        if self._sections:
            return False
        text = "".join(self._parts).strip(WHITESPACE)
        return not (text.removeprefix(self._role) if self.prompted else text)

    def is_role_alone(self, roles: Collection[str]) -> bool:
        """Whether it has only whitespace and at most one of these words.

        If it is unformatted, whitespace is an answer.
        """
        if self._sections or (self.is_unformatted and self.size):
            return False
        return "".join(self._parts).strip(WHITESPACE) in ("", self._role, *roles)

    @property
    def is_unformatted(self) -> bool:
        """Whether no marker was read since the prompt: the model answers without the format."""
        return self.prompted and not self.has_marker

    def without_format(self) -> Header:
        """The header of an unformatted answer: it is empty, and all text that was added is the body."""
        return Header(rest=[(0, self.given)])

    def read(self, shape: HeaderShape, *, closed: bool) -> Header:
        """The content of the header.

        Args:
            shape: its possible content.
            closed: whether the marker of the body followed.
        """
        return read_header(self.sections, shape, closed=closed, prompted=self.prompted, repaired=self.repaired)

    def text_outside_fields(self, header: Header) -> list[tuple[int, str]]:
        """The text that belongs to no field, each piece with its absolute position."""
        sections = self.sections
        return [(self._places[n] + at, sections[n][1][at:]) for n, at in header.rest]


def marker_effect(kind: MarkerKind, header: HeaderText | None, *, stopped: bool) -> MarkerEffect:
    """The effect of a marker outside of bodies.

    Args:
        kind: the kind of the marker.
        header: the current header; None: between messages.
        stopped: whether the last message may have ended the turn.
    """
    if header is None:
        return MARKER_EFFECTS["after stop" if stopped else "between"][kind]
    return MARKER_EFFECTS["empty header" if kind == "begin" and header.is_empty else "header"][kind]
