"""The interface of turn readers, and what both readers do at the edges of text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeAlias

from syntagma.format_schema import Markers
from syntagma.parsing.emitter import Emitter
from syntagma.parsing.fast_path import PlainRun
from syntagma.parsing.states import Outcome, State
from syntagma.parsing.text.window import Window

__all__ = ["EdgeWhitespace", "Steps", "TurnReader", "end_of_first"]

_MAX_WHITESPACE = 64
"""the most characters of whitespace before a marker at the very start"""


Steps: TypeAlias = Mapping[State, Callable[[Any, bool], Outcome | None]]
"""the method of each state"""


class TurnReader(ABC):
    """Reads one turn from a window and reports to an emitter.

    Attributes:
        window: the text.
        state: what is being read. Once the output has begun, it changes in `read` only.
        reasoning_done: whether no further block of reasoning may come.
        wrapper_open: whether the wrapper of the answer is open.
        ends_in_reasoning: whether the last text was reasoning in a header, or outside of messages.
        STEPS: the method of each state, which returns what it has read; None: more text is needed.
        FOLLOWING: see `Transitions.following`.
    """

    STEPS: ClassVar[Steps]
    FOLLOWING: ClassVar[Mapping[State, Mapping[Outcome, State]]]

    def __init__(self, state: State, *, reasoning_done: bool) -> None:
        self.window = Window()
        self.state = state
        self.reasoning_done = reasoning_done
        self.wrapper_open = False
        self.ends_in_reasoning = False

    def read(self, *, final: bool = False) -> None:
        """Read as far as possible; `final`: no more text comes."""
        self.window.is_final = final
        steps, following = self.STEPS, self.FOLLOWING
        while (outcome := steps[self.state](self, final)) is not None:
            self.state = following[self.state][outcome]

    @abstractmethod
    def plain_run(self) -> PlainRun | None:
        """The plain run that the reader is in; None: all text must go through the reader."""

    @property
    @abstractmethod
    def pending(self) -> str:
        """See `CallReader`."""

    @abstractmethod
    def skip(self, run: PlainRun, size: int) -> None:
        """Account for `size` characters of the plain run, which the fast path has passed on."""

    # ---- the start state, from the prompt's tail or the caller

    @abstractmethod
    def read_prompt(self, tail: str, *, certain: bool) -> bool:
        """Read the end of the prompt; returns whether it decides about reasoning.

        Args:
            tail: the possible beginning of the assistant's turn.
            certain: whether it is certain; if not, the tail may also hold other messages.
        """

    @abstractmethod
    def open_reasoning(self, opener: str | None) -> None:
        """Start inside reasoning; `opener` is the text of the block's opener, or None for any."""

    @abstractmethod
    def close_reasoning(self) -> None:
        """Start outside reasoning."""

    @abstractmethod
    def begin_output(self) -> None:
        """Begin the output; the prompt has been read."""

    @property
    @abstractmethod
    def prompted_opener(self) -> str:
        """The opener of the open reasoning in the prompt, if no reasoning has followed it; else empty."""

    @property
    @abstractmethod
    def inside_call(self) -> bool:
        """Whether a call has begun, and its closer, or that of its section, was not read yet."""

    @property
    @abstractmethod
    def opener(self) -> str:
        """The opener of the open block of reasoning; empty if it is unknown."""

    @property
    @abstractmethod
    def undecided(self) -> str:
        """The undecided text at the end: the possible beginning of a marker."""


class EdgeWhitespace:
    """Whitespace that belongs to a marker: exactly this run is removed, if present.

    Attributes:
        text: the run.
        is_reasoning: whether it belongs to a marker of reasoning, which stays in content if reasoning does.
    """

    __slots__ = ("is_reasoning", "text")

    def __init__(self) -> None:
        self.text = ""
        self.is_reasoning = False

    def expect(self, text: str, *, is_reasoning: bool = False) -> None:
        """Expect this run after a marker, to which it belongs."""
        self.text, self.is_reasoning = text, is_reasoning

    def read(self, window: Window, out: Emitter, *, final: bool) -> str | None:
        """Read the run if it is there; returns it, or an empty string; None: more text is needed."""
        text = self.text
        if text and window.text.startswith(text, window.pos):
            if self.is_reasoning:
                out.reasoning_marker(text, window.here)
            window.move(window.pos + len(text))
        elif text and not final and window.cut_at(window.pos, text):
            return None
        else:
            text = ""
        self.text = ""
        return text


def end_of_first(window: Window, texts: tuple[str, ...], markers: Markers, *, final: bool) -> int | None:
    """The index after the first of `texts` with which the unread text begins, perhaps after whitespace.

    0: it begins with none of them. None: more text is needed.
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
