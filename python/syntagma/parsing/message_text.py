"""Passes on the bodies of messages that are reasoning or the answer."""

from __future__ import annotations

from syntagma.format_schema.facts import Block
from syntagma.parsing.emitter import Emitter
from syntagma.parsing.fast_path import PlainRun
from syntagma.parsing.header_router import HeaderRouter, RouteKind
from syntagma.parsing.states import Outcome
from syntagma.parsing.text.scanner import MarkerSet
from syntagma.parsing.text.window import Window
from syntagma.parsing.turn_reader import EdgeWhitespace

__all__ = ["MessageText"]


class MessageText:
    """Reads the text of a turn of messages, one body at a time.

    Args:
        window: the text.
        router: the markers of messages.
        out: receives the text.
        told: the characters at which markers begin that are reported.

    Attributes:
        kind: the kind of the last body.
        content_begun: whether the answer has a character other than whitespace, or a call was read.
        header: the header that led to the open reasoning, as long as no reasoning has followed it; else None.
    """

    def __init__(self, window: Window, router: HeaderRouter, out: Emitter, told: frozenset[str]) -> None:
        self._window = window
        self._router = router
        self._out = out
        self._edge = EdgeWhitespace()
        # The texts that end the last body, or are dropped from it.
        self._ends: dict[str, str] = {}
        self._scanner: MarkerSet | None = None
        self._told = self._stops = told
        self.kind: RouteKind = "content"
        self.content_begun = False
        self.header: str | None = None

    def begin(self, kind: RouteKind, block: Block | None, *, loose: bool = False) -> None:
        """Begin a body of text, with the whitespace before it.

        Args:
            kind: its kind.
            block: the whitespace around it, as the format shows it; None: none is removed.
            loose: whether it may also end at the beginning of the next message.
        """
        self.kind = kind
        edge = block.before_closer if block is not None else ""
        exits = self._router.body_exits[kind, edge, loose]
        self._ends, self._scanner = exits.markers, exits.texts
        self._stops = exits.texts.firsts | self._told
        self._edge.expect(block.after_opener if block is not None else "", is_reasoning=kind == "reasoning")

    def read_edge(self, *, final: bool) -> Outcome | None:
        """Read the whitespace before the body; None: more text is needed."""
        taken = self._edge.read(self._window, self._out, final=final)
        if taken is None:
            return None
        if self.header is not None:
            self.header += taken
        return "whitespace"

    def read(self, *, final: bool) -> str | None:
        """Read the body; returns the marker that ends it, which is next, or None: more text is needed."""
        window, scanner = self._window, self._scanner
        assert scanner is not None
        while True:
            at, text = self._router.find(window, scanner, final=final)
            if at > window.pos:
                start = window.here
                self.pass_on(self.kind, window.take(at), start)
            if text is None:
                return None
            end = self._ends[text]
            if end:
                if self.kind == "reasoning" and text != end:
                    self._out.reasoning_marker(text[: -len(end)], window.here)
                window.move(window.pos + len(text) - len(end))
                return end
            window.move(window.pos + len(text))

    def plain_run(self) -> PlainRun | None:
        """The plain run of the body, if the fast path may pass more of it on; else None."""
        if self._scanner is not None and (self.kind == "reasoning" or self.content_begun):
            return PlainRun("reasoning" if self.kind == "reasoning" else "content", self._stops)
        return None

    def pass_on(self, kind: RouteKind, text: str, start: int) -> None:
        """Report text of a message, from absolute position `start` on."""
        if kind == "reasoning":
            self.header = None
            self._out.reasoning(text, start)
        else:
            self._out.content(text, start)
            self.content_begun = self.content_begun or not text.isspace()

    def end(self, kind: RouteKind) -> None:
        """End the text of a message."""
        if kind == "reasoning":
            self.header = None
            self._out.reasoning_end()
