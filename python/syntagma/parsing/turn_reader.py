"""What a reader of a turn offers, and what both readers do at the edges of text."""

from __future__ import annotations

from typing import Protocol

from syntagma.format_schema import Markers
from syntagma.parsing.emitter import Emitter
from syntagma.parsing.fast_path import PlainRun
from syntagma.parsing.states import State
from syntagma.parsing.text.window import Window

__all__ = ["EdgeWhitespace", "TurnReader", "end_of_first"]

_MAX_WHITESPACE = 64
"""whitespace, at most, in front of a marker that is looked for at the very start"""


class TurnReader(Protocol):
    """Reads one turn from a window and tells an emitter what it is.

    Attributes:
        window: the text.
        state: what is being read.
        reasoning_done: no further block of reasoning may come.
        wrapper_open: inside the wrapper of the answer.
        ends_in_reasoning: the last text was reasoning that stood in a header, or outside of messages.
    """

    window: Window
    state: State
    reasoning_done: bool
    wrapper_open: bool
    ends_in_reasoning: bool

    def read(self, *, final: bool = False) -> None:
        """Read as far as possible; `final`: no more text comes."""
        ...

    def plain_run(self) -> PlainRun | None:
        """What the reader is in the middle of, if more of it may pass without being read."""
        ...

    def skip(self, run: PlainRun, size: int) -> None:
        """As many characters of what the reader is in the middle of passed without being read."""
        ...

    # ---- where the output begins: what the prompt's tail or the caller says

    def read_prompt(self, tail: str, *, certain: bool) -> bool:
        """Read the end of the prompt; whether it says anything about reasoning.

        Args:
            tail: what may be the beginning of the assistant's turn.
            certain: it is; else it may hold other messages, too.
        """
        ...

    def open_reasoning(self, opener: str | None) -> None:
        """Start inside reasoning; `opener` is the text of the block's opener, or None for any."""
        ...

    def close_reasoning(self) -> None:
        """Start outside reasoning."""
        ...

    def begin_output(self) -> None:
        """The prompt was read; what comes now is output."""
        ...

    @property
    def prompted_opener(self) -> str:
        """The opener of the reasoning that is open, as the prompt has it, if no reasoning has followed it."""
        ...

    @property
    def inside_call(self) -> bool:
        """A call has begun, and what closes it, or the section that it is the last of, was not read yet."""
        ...

    @property
    def opener(self) -> str:
        """What opens the block of reasoning that is open; empty where that is not known."""
        ...

    @property
    def undecided(self) -> str:
        """What was read and decides nothing yet: the beginning of a marker."""
        ...


class EdgeWhitespace:
    """Whitespace that belongs to a marker: exactly this run is taken off, where it is there.

    Attributes:
        text: the run.
        is_reasoning: it belongs to a marker of reasoning, which stays in content where reasoning does.
    """

    __slots__ = ("is_reasoning", "text")

    def __init__(self) -> None:
        self.text = ""
        self.is_reasoning = False

    def expect(self, text: str, *, is_reasoning: bool) -> None:
        """A marker was read; this run belongs to it."""
        self.text, self.is_reasoning = text, is_reasoning

    def read(self, window: Window, out: Emitter, *, final: bool) -> str | None:
        """What was taken off; None: more text decides."""
        if window.text.startswith(self.text, window.pos):
            if self.is_reasoning:
                out.reasoning_marker(self.text, window.here)
            window.pos += len(self.text)
            return self.text
        return None if not final and window.cut_at(window.pos, self.text) else ""


def end_of_first(window: Window, texts: tuple[str, ...], markers: Markers, *, final: bool) -> int | None:
    """The index after the first of `texts`, if the unread text begins with it, or with whitespace and it.

    0: it begins with none of them. None: more text decides.
    """
    text, pos = window.text, window.pos
    ahead = text[pos : pos + _MAX_WHITESPACE]
    whitespace = len(ahead) - len(ahead.lstrip())
    at = pos + whitespace
    for one in texts:
        if one and text.startswith(one, at):
            if window.are_markers(at, markers.placed(one)):
                return at + len(one)
        elif one and not final and whitespace < _MAX_WHITESPACE and window.cut_at(at, one):
            return None
    return 0
