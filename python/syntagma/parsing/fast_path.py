"""Fast path: a chunk with no character that can change state becomes one delta.

A turn reader says what it is in the middle of (`PlainRun`), the message says where such text goes (`DeltaSink`), and
`FastPath` passes chunks on until one must be read with care.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

from syntagma.events import ContentDelta, ReasoningDelta, ToolCallDelta
from syntagma.parsing.text.text_buffer import TextBuffer

__all__ = ["UNLIMITED", "DeltaKind", "DeltaSink", "FastPath", "PlainRun"]

Delta: TypeAlias = ContentDelta | ReasoningDelta | ToolCallDelta
DeltaKind: TypeAlias = Literal["content", "reasoning", "arguments"]

_SURROGATE = re.compile("[\ud800-\udfff]")
_MAX_CHUNK = 256
"""code points, at most, of a chunk that is tested character by character; longer ones are searched"""
UNLIMITED = 1 << 40
"""code points that no limit ends"""


class PlainRun(NamedTuple):
    """What a turn reader is in the middle of.

    Attributes:
        kind: what its text is.
        stops: characters that the turn reader must see.
        room: code points that may pass before it must check a limit.
        spell: how the text is passed on; None: as it is.
    """

    kind: DeltaKind
    stops: frozenset[str]
    room: int = UNLIMITED
    spell: Callable[[str], str] | None = None


class DeltaSink(NamedTuple):
    """Where deltas of one kind go: the event that is made of a text and its span, and the message's buffer."""

    make: Callable[[str, tuple[int, int]], Delta]
    buffer: TextBuffer


class FastPath:
    """Passes chunks on, each as one event, as long as none holds a character that must be seen.

    Args:
        run: what the turn reader is in the middle of.
        sink: where its text goes.
        at: absolute position of the next character.
        special: what `feed` is told of its chunks; others are not for this path.
        end_chars: the characters with which the end of the turn may begin.

    Attributes:
        run: as above.
        position: absolute position of the next character.
        special: as above.
    """

    __slots__ = ("_limit", "_make", "_spell", "_start", "_stops", "_write", "position", "run", "special")

    def __init__(self, run: PlainRun, sink: DeltaSink, at: int, *, special: bool | None, end_chars: str) -> None:
        self.run = run
        self.position = self._start = at
        self._limit = at + run.room
        self._stops = run.stops if run.stops.issuperset(end_chars) else run.stops.union(end_chars)
        self._spell = run.spell
        self._make = sink.make
        self._write = sink.buffer.write
        self.special = special

    @property
    def passed(self) -> int:
        """How many code points were passed on."""
        return self.position - self._start

    def take(self, text: str) -> Delta | None:
        """The event of a chunk that is not empty; None: it must be read with care."""
        at = self.position
        end = at + len(text)
        if end >= self._limit or end - at > _MAX_CHUNK or not self._stops.isdisjoint(text):
            return None
        if not text.isascii() and _SURROGATE.search(text) is not None:
            return None
        self.position = end
        if self._spell is not None:
            text = self._spell(text)
        self._write(text)
        return self._make(text, (at, end))
