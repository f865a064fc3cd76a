"""What every reader of messages with headers shares: what the markers do, and the header that is being read.

A message is opener, role, fields, marker of the body, body, end; each may be missing. `marker_effect` decides
what a marker outside of bodies does; `HeaderText` collects a header up to the marker of the body. Neither knows where
text comes from, what a header means (`message_header` reads it) or what a body holds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal, TypeAlias

from syntagma.parsing.message_header import WHITESPACE, Header, HeaderShape, read_header

__all__ = ["MARKER_EFFECTS", "HeaderText", "MarkerEffect", "MarkerKind", "Where", "marker_effect"]

MarkerKind: TypeAlias = Literal["begin", "section", "body", "end"]
"""what a marker is: the opener of a message, of a field, or of the body; or the end of a message"""

Where: TypeAlias = Literal["between", "after stop", "empty header", "header"]
"""between messages; there, after a message that may end the turn; in a header without text; in a header"""

MarkerEffect: TypeAlias = Literal[
    "begins",  # a message begins
    "begins unopened",  # a header has begun whose opener is missing; the marker is read in it
    "begins again",  # the header at hand begins anew
    "begins next",  # the header at hand is over without a body, and the next message begins
    "section",  # a field of the header begins
    "body",  # the header is complete
    "ends header",  # the message ends without the marker of its body: what is no field is the body
    "ends nothing",  # the end of a message that was not begun
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
    """A header as it is read: the text of each section, and where it stands.

    Args:
        text: the text that it begins with.
        end: absolute position where this text ends.
        role: the word that says that the model writes.
        prompted: the prompt has begun it, perhaps with the role.
        repaired: what begins it was missing, or stood there twice.

    Attributes:
        given: code points of the text that it begins with.
        size: code points that were added.
        prompted: the prompt has begun it.
        repaired: what begins it was missing, or stood there twice.
        has_marker: a marker was read in it, or its opener.
    """

    __slots__ = (
        *("_marker", "_parts", "_places", "_role", "_sections"),
        *("given", "has_marker", "prompted", "repaired", "size"),
    )

    def __init__(
        self, text: str = "", end: int = 0, *, role: str = "", prompted: bool = False, repaired: bool = False
    ) -> None:
        self._sections: list[tuple[str, str]] = []  # the complete ones
        self._marker = ""  # of the section that is open
        self._parts = [text]  # its text
        self._places = [end - len(text)]
        self.given = len(text)
        self._role = role
        self.size = 0
        self.has_marker = not prompted
        self.prompted = prompted
        self.repaired = repaired

    def add(self, text: str) -> None:
        """More text of the section that is open."""
        self._parts.append(text)
        self.size += len(text)

    def begin_section(self, marker: str, at: int) -> None:
        """A further section begins after this marker, at an absolute position."""
        self._sections.append((self._marker, "".join(self._parts)))
        self._marker, self._parts = marker, []
        self._places.append(at)

    @property
    def sections(self) -> list[tuple[str, str]]:
        """Every section, as `(marker before it, text)`."""
        return [*self._sections, (self._marker, "".join(self._parts))]

    @property
    def is_empty(self) -> bool:
        """It has nothing but whitespace and, if the prompt began it, the role."""
        if self._sections:
            return False
        text = "".join(self._parts).strip(WHITESPACE)
        return not (text.removeprefix(self._role) if self.prompted else text)

    def is_role_alone(self, roles: Collection[str]) -> bool:
        """It has nothing but whitespace and, perhaps, one of these words.

        Without any format, whitespace is an answer.
        """
        if self._sections or (self.is_unformatted and self.size):
            return False
        return "".join(self._parts).strip(WHITESPACE) in ("", self._role, *roles)

    @property
    def is_unformatted(self) -> bool:
        """No marker was read at all since the prompt: the model answers without any format."""
        return self.prompted and not self.has_marker

    def without_format(self) -> Header:
        """What it says where it is unformatted: nothing, and all text that was added is the body."""
        return Header(rest=[(0, self.given)])

    def read(self, shape: HeaderShape, *, closed: bool) -> Header:
        """What the header says.

        Args:
            shape: what may stand in it.
            closed: whether the marker of the body followed.
        """
        header = read_header(self.sections, shape, closed=closed)
        header.guessed = header.guessed or self.repaired
        return header

    def text_outside_fields(self, header: Header) -> list[tuple[int, str]]:
        """The text that belongs to no field, each piece with its absolute position."""
        sections = self.sections
        return [(self._places[n] + at, sections[n][1][at:]) for n, at in header.rest]


def marker_effect(kind: MarkerKind, header: HeaderText | None, *, stopped: bool) -> MarkerEffect:
    """What a marker outside of bodies does.

    Args:
        kind: what the marker is.
        header: the header at hand; None between messages.
        stopped: the last message may have ended the turn.
    """
    if header is None:
        return MARKER_EFFECTS["after stop" if stopped else "between"][kind]
    return MARKER_EFFECTS["empty header" if kind == "begin" and header.is_empty else "header"][kind]
