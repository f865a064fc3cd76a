"""Fast path: a chunk with no character that can change state becomes one delta.

A turn reader gives its plain run (`PlainRun`), the message gives the sink of its text (`DeltaSink`), and `FastPath`
passes chunks on until one must go through the reader.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

from syntagma.events import ContentDelta, Event, ReasoningDelta, ToolCallDelta
from syntagma.parsing.end_of_turn import EndOfTurn
from syntagma.parsing.text.text_buffer import TextBuffer
from syntagma.parsing.text.token_kind import TokenKind

__all__ = ["UNLIMITED", "DeltaKind", "DeltaSink", "FastPath", "PlainRun"]

Delta: TypeAlias = ContentDelta | ReasoningDelta | ToolCallDelta
DeltaKind: TypeAlias = Literal["content", "reasoning", "arguments"]

_SURROGATE = re.compile("[\ud800-\udfff]")
_MAX_CHUNK = 256
"""the most code points of a chunk that is tested character by character; longer ones are searched"""
UNLIMITED = 1 << 40
"""a number of code points that stands for no limit"""


class PlainRun(NamedTuple):
    """Text that the fast path may pass on.

    Attributes:
        kind: the kind of the text.
        stops: characters that the turn reader must see.
        room: code points that may pass before it must check a limit.
        spell: spells the text for its delta; None: it is passed on as it is.
    """

    kind: DeltaKind
    stops: frozenset[str]
    room: int = UNLIMITED
    spell: Callable[[str], str] | None = None


class DeltaSink(NamedTuple):
    """The sink of deltas of one kind: the function that makes events of a text and a span, and the message's buffer."""

    make: Callable[[str, tuple[int, int]], Delta]
    buffer: TextBuffer


class FastPath:
    """Passes chunks on, each as one event, as long as none has a stop character.

    Args:
        run: the plain run.
        sink: the sink of its text.
        at: absolute position of the next character.
        kind: the token kind of the chunks that it takes.
        ends: the end of the turn.

    Attributes:
        run: see above.
        position: absolute position of the next character.
        kind: see above.
        held: text that was taken but not passed on, since it may begin the end of the turn.
    """

    __slots__ = (
        *("_ends", "_limit", "_looked_at", "_make", "_spell", "_start", "_write"),
        *("held", "kind", "position", "run"),
    )

    def __init__(self, run: PlainRun, sink: DeltaSink, at: int, *, kind: TokenKind, ends: EndOfTurn) -> None:
        self.run = run
        self.position = self._start = at
        self._limit = at + run.room
        self._ends = ends
        self._looked_at = run.stops if run.stops.issuperset(ends.first_chars) else run.stops.union(ends.first_chars)
        self._spell = run.spell
        self._make = sink.make
        self._write = sink.buffer.write
        self.kind = kind
        self.held = ""

    @property
    def passed(self) -> int:
        """The number of code points that were passed on."""
        return self.position - self._start

    def take(self, text: str) -> list[Event] | None:
        """The events of a chunk that is not empty: at most one. None: the chunk must go through the reader."""
        held = ""
        if self.held:
            text = self.held + text
        at = self.position
        end = at + len(text)
        if end >= self._limit or end - at > _MAX_CHUNK:
            return None
        if not self._looked_at.isdisjoint(text):
            if not self.run.stops.isdisjoint(text):
                return None
            begins = self._ends.beginning_in(text)
            held = text[begins:]
            if held and not self._ends.is_cut(held):
                return None
            text, end = text[:begins], at + begins
        if not text.isascii() and _SURROGATE.search(text) is not None:
            return None
        self.held = held
        if not text:
            return []
        self.position = end
        if self._spell is not None:
            text = self._spell(text)
        self._write(text)
        return [self._make(text, (at, end))]
