"""Text that goes straight on: most chunks are more of what is being read, and hold nothing that could end it."""

from __future__ import annotations

import re
from collections.abc import Callable, Set
from typing import Literal, NamedTuple, TypeAlias

from syntagma.events import ContentDelta, ReasoningDelta, ToolCallDelta
from syntagma.parsing.text.text_buffer import TextBuffer

__all__ = ["FAR", "Course", "Lane", "Straight"]

Delta: TypeAlias = ContentDelta | ReasoningDelta | ToolCallDelta
_SURROGATE = re.compile("[\ud800-\udfff]")
_LONG = 256
"""code points, at most, that are looked at one by one; longer chunks are searched"""


FAR = 1 << 40
"""code points that nothing limits"""


class Straight(NamedTuple):
    """What a reader is in the middle of.

    Attributes:
        kind: what its text is.
        stops: characters that must be looked at.
        room: code points that may pass before a limit must be looked at.
        spell: how the text is passed on; None: as it is.
    """

    kind: Literal["content", "reasoning", "arguments"]
    stops: frozenset[str]
    room: int
    spell: Callable[[str], str] | None = None


class Course(NamedTuple):
    """Where the text of a lane goes: what makes events of it, and the buffer of the message."""

    make: Callable[[str, tuple[int, int]], Delta]
    buffer: TextBuffer


class Lane:
    """Passes chunks on, each as one event, as long as nothing in them must be looked at.

    Args:
        way: what the reader is in the middle of.
        course: where its text goes.
        at: absolute position of the next character.
        identity: what is known of the tokens of its text.
        end: the first character of what ends the turn, or nothing.

    Attributes:
        passed: code points that went through.
        identity: as above.
    """

    __slots__ = ("_at", "_limit", "_make", "_spell", "_start", "_stops", "_write", "identity")

    def __init__(self, way: Straight, course: Course, at: int, *, identity: bool | Set[str] | None, end: str) -> None:
        self._start = self._at = at
        self._limit = at + way.room
        self._stops = way.stops if not end or end in way.stops else way.stops | {end}
        self._spell = way.spell
        self._make = course.make
        self._write = course.buffer.write
        self.identity = identity

    @property
    def passed(self) -> int:
        """How many code points went through."""
        return self._at - self._start

    def take(self, text: str) -> Delta | None:
        """The event of a chunk that is not empty; None: it must be looked at."""
        at = self._at
        end = at + len(text)
        if end >= self._limit or end - at > _LONG or not self._stops.isdisjoint(text):
            return None
        if not text.isascii() and _SURROGATE.search(text) is not None:
            return None
        self._at = end
        if self._spell is not None:
            text = self._spell(text)
        self._write(text)
        return self._make(text, (at, end))
