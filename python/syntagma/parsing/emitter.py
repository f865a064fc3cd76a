"""Makes events from what the reader reports, by the options that say where text goes; and the message."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Literal

from syntagma.errors import ParseError
from syntagma.events import (
    ContentDelta,
    Event,
    FinishReason,
    Malformed,
    MessageEnd,
    ReasoningDelta,
    Span,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from syntagma.parsing.assembler import Assembler
from syntagma.parsing.code_fence import FenceFilter
from syntagma.parsing.fast_path import DeltaKind, DeltaSink
from syntagma.parsing.marker_watch import MarkerWatch
from syntagma.parsing.policies import Policies
from syntagma.parsing.text.text_buffer import TextBuffer

__all__ = ["Emitter"]

_LENGTH_REASONS = ("length", "max_tokens")


class Emitter:
    """Makes the events of one message.

    Args:
        policies: the caller's choices.
        inline: whether reasoning stays in content, with its markers.
        join: the text between the texts of two blocks of reasoning.
        stream_reasoning: whether reasoning comes as it is read; if not, in one piece at its end.
        unfence: whether to remove a code fence around the answer, since it was asked for as JSON.
        id_seed: the seed of the ids of calls that have none, which are hashes of it and the call's index.
        strict: whether to raise at the first malformed text.

    Attributes:
        assembler: the message so far.
        finish_reason: that of `MessageEnd`; None before it.
        is_cut: whether the stream has ended because of a length limit of the engine.
    """

    def __init__(
        self,
        policies: Policies,
        *,
        inline: bool,
        join: str,
        stream_reasoning: bool,
        unfence: bool,
        id_seed: str,
        strict: bool,
    ) -> None:
        self.assembler = Assembler(policies)
        self.finish_reason: FinishReason | None = None
        self.is_cut = False
        self._watch: MarkerWatch | None = None
        self._inline = inline
        self._join = join
        # Whether a block of reasoning with text has ended; the text of another is then joined to it.
        self._reasoned = self._joins = False
        self._stream_reasoning = stream_reasoning
        self._fence = FenceFilter() if unfence else None
        self._id_seed = id_seed
        self._strict = strict
        self._events: list[Event] = []
        self._reasoning = TextBuffer()
        self._reasoning_at = 0
        self._calls = 0
        self._prefilled = ""
        self._held: list[tuple[str, int]] = []
        # Whether text of the answer other than whitespace has come since the last reasoning or call.
        self._in_text = False
        self._after_marker = False
        self._whitespace: list[tuple[TextBuffer, int]] = []
        self._whitespace_end = -1
        # While the prompt's tail is read nothing is emitted, but its last call is kept, which may stay open.
        self._suppressed = False
        self._suppressed_call: tuple[str, str | None, list[str]] | None = None
        self._suppressed_end: tuple[bool, str | None] | None = None

    def take(self) -> list[Event]:
        """Take the events since the last time; adjacent deltas of the same kind are joined."""
        events, self._events = _joined(self._events), []
        return events

    def tell_markers(self, watch: MarkerWatch) -> None:
        """Report the markers that this finds in the answer and in reasoning, except in reasoning that is content."""
        self._watch = watch

    def suppress(self) -> None:
        """Discard events until `resume`."""
        self._suppressed = True

    def resume(self, prefilled: str, *, at_once: bool, inside_call: bool) -> None:
        """Emit again.

        Args:
            prefilled: the opener of reasoning at the end of the prompt; empty if there is none.
            at_once: whether the opener is content now; if not, it is content before the first reasoning, unless the
                model repeats it.
            inside_call: whether the last call of the prompt is still open; all of it is then emitted.
        """
        self._suppressed = False
        if at_once:
            self._of_content(prefilled, 0)
        else:
            self._prefilled = prefilled
        if inside_call and self._suppressed_call is not None:
            name, wire_id, parts = self._suppressed_call
            self.call_start(name, wire_id, (0, 0))
            self.call_delta("".join(parts), (0, 0))
            if self._suppressed_end is not None:
                complete, late_id = self._suppressed_end
                self.call_end(complete=complete, span=(0, 0), late_id=late_id)

    def sink(self, kind: DeltaKind) -> DeltaSink | None:
        """The sink for more text of this kind; None: it must be reported here."""
        if self._suppressed or self._prefilled or self._held or (self._fence is not None and kind != "arguments"):
            return None
        if self._watch is not None and self._watch.may_go_on and kind != "arguments":
            return None
        if kind == "reasoning" and self._inline:
            kind = "content"
        if kind == "content" and not self._in_text:
            return None
        if kind == "reasoning" and (not self._stream_reasoning or self._joins or self._in_text or self._whitespace):
            return None  # not streamed, or the first reasoning after text of the answer, which it ends
        return self.assembler.sink(kind)

    def content(self, text: str, start: int) -> None:
        """Report text of the answer, read from absolute position `start`."""
        if self._watch is None or self._suppressed or not self._watch.sees(text):
            self._of_content(text, start)
            return
        for piece, at in self._told(self._watch, "content", text, start):
            self._of_content(piece, at)

    def _of_content(self, text: str, start: int) -> None:
        if self._suppressed or not text:
            return
        if start < 0:
            text, start = text[-start:], 0
        self._content([(text, start)] if self._fence is None else self._fence.feed(text, start))

    def _told(
        self, watch: MarkerWatch, kind: Literal["content", "reasoning"], text: str, start: int
    ) -> Iterator[tuple[str, int]]:
        """A text in pieces, and after each that ends with a marker the diagnostic that says so."""
        begin = 0
        for end, marker in watch.ends(kind, text, start):
            yield text[begin:end], start + begin
            begin = end
            where = "the answer" if kind == "content" else "the reasoning"
            span = _after_zero((start + end - len(marker), start + end))
            self._add(Malformed("E-PARSE-MARKER", f"{marker!r}, a marker of the format, stands in {where}", span))
        if begin < len(text):
            yield text[begin:], start + begin

    def _content(self, pieces: list[tuple[str, int]]) -> None:
        for text, at in pieces:
            if not text:
                continue
            if not self._in_text:
                # Whitespace alone between reasoning and calls is no content, so it waits for what follows.
                if text.isspace():
                    self._hold_whitespace(text, at)
                    continue
                self._release_whitespace()
            self._add(ContentDelta(text, (at, at + len(text))))

    def marker_read(self) -> None:
        """Report that a marker was read that is no content."""
        self._after_marker = True

    def _end_of_text(self) -> None:
        """End text before reasoning or a call: whitespace between it and a marker is no content."""
        if self._whitespace and not self._after_marker:
            self._release_whitespace()
        self._whitespace.clear()
        self._in_text, self._after_marker = False, True

    def _release_whitespace(self) -> None:
        """Pass on the whitespace that waits: text of the answer follows it."""
        self._in_text = True
        waiting, self._whitespace = self._whitespace, []
        for run, at in waiting:
            text = run.take()
            self._add(ContentDelta(text, (at, at + len(text))))

    def _hold_whitespace(self, text: str, at: int) -> None:
        if not self._whitespace or self._whitespace_end != at:
            self._whitespace.append((TextBuffer(), at))
        self._whitespace[-1][0].write(text)
        self._whitespace_end = at + len(text)

    def reasoning(self, text: str, start: int) -> None:
        """Report text of reasoning, read from absolute position `start`."""
        if self._suppressed or not text:
            return
        if self._inline:
            if self._prefilled:
                # Whether the model repeats the opener is known at the first reasoning that is not whitespace.
                self._held.append((text, start))
                if not text.isspace():
                    at = max(0, self._held[0][1])
                    self._in_text = True
                    self._add(ContentDelta(self._prefilled, (at, at)))
                    self._release_held()
                return
            self._of_content(text, start)
            return
        if self._watch is None or not self._watch.sees(text):
            self._of_reasoning(text, start)
            return
        for piece, at in self._told(self._watch, "reasoning", text, start):
            self._of_reasoning(piece, at)

    def _of_reasoning(self, text: str, start: int) -> None:
        if start < 0:
            text, start = text[-start:], 0
        if not text:
            return
        self._reasoned = True
        if self._joins:
            self._joins = False
            self._push(ReasoningDelta(self._join, (start, start)))
        if self._stream_reasoning:
            self._push(ReasoningDelta(text, (start, start + len(text))))
        else:
            self._reasoning_at = start if not self._reasoning else self._reasoning_at
            self._reasoning.write(text)

    def reasoning_marker(self, text: str, start: int) -> None:
        """Report a marker of reasoning, with its whitespace; it is content if reasoning is."""
        self._after_marker = self._after_marker or not self._inline
        if not self._inline or self._suppressed:
            return
        if self._prefilled and text.isspace():
            self._held.append((text, start))
        else:
            self._release_held()
            self._of_content(text, start)

    def _release_held(self) -> None:
        self._prefilled = ""
        held, self._held = self._held, []
        for text, start in held:
            self._of_content(text, start)

    def reasoning_end(self) -> None:
        """Report the end of reasoning."""
        self._release_held()
        self._joins = self._reasoned and bool(self._join)
        if self._reasoning:
            text = self._reasoning.take()
            self._push(ReasoningDelta(text, (self._reasoning_at, self._reasoning_at + len(text))))

    def call_start(self, name: str, wire_id: str | None, span: Span) -> None:
        """Report a committed call."""
        if self._suppressed:
            self._suppressed_call, self._suppressed_end = (name, wire_id, []), None
            return
        index = self._calls
        self._calls += 1
        if not wire_id:
            wire_id = "call_" + hashlib.sha256(f"{self._id_seed}:{index}".encode()).hexdigest()[:24]
        self._push(ToolCallStart(index, wire_id, name, span if span[0] >= 0 else _after_zero(span)))

    def call_delta(self, text: str, span: Span) -> None:
        """Report a fragment of the open call's arguments."""
        if not text:
            return
        if self._suppressed:
            if self._suppressed_call is not None:
                self._suppressed_call[2].append(text)
            return
        self._push(ToolCallDelta(self._calls - 1, text, span if span[0] >= 0 else _after_zero(span)))

    def call_end(self, *, complete: bool, span: Span, late_id: str | None = None) -> None:
        """Report the end of the open call."""
        if self._suppressed:
            self._suppressed_end = (complete, late_id)
            return
        self._push(ToolCallEnd(self._calls - 1, complete, _after_zero(span), late_id))

    def malformed(self, code: str, message: str, span: Span) -> None:
        """Report malformed text.

        Raises:
            ParseError: the parser is strict.
        """
        if self._suppressed:
            return
        if self._strict:
            raise ParseError(code, message, offset=max(0, span[0]))
        self._push(Malformed(code, message, _after_zero(span)))

    def stray(self, span: Span) -> None:
        """Report closers that close nothing and were left out.

        Raises:
            ParseError: the parser is strict.
        """
        self.malformed("E-PARSE-STRAY", "a closing marker that closes nothing", span)

    def stopped(self, reason: str | None) -> None:
        """Note that the stream has ended, with the engine's `reason`."""
        self.is_cut = reason in _LENGTH_REASONS

    def message_end(self, end: int, *, inside_reasoning: bool) -> None:
        """Report the end of the message, at absolute position `end`."""
        self.reasoning_end()
        if self._fence is not None:
            self._content(self._fence.finish())
        if not self._calls or not self._after_marker:
            self._release_whitespace()
        finish: FinishReason = "stop"
        if self.is_cut:
            finish = "length"
        elif self.assembler.complete_calls:
            finish = "tool_calls"
        self.finish_reason = finish
        self.assembler.incomplete = inside_reasoning
        self._add(MessageEnd(finish, (end, end)))

    def _push(self, event: Event) -> None:
        if self._fence is not None:
            self._content(self._fence.release())
        if not isinstance(event, Malformed) and (self._in_text or self._whitespace or not self._after_marker):
            self._end_of_text()
        self.assembler.add(event)
        self._events.append(event)

    def _add(self, event: Event) -> None:
        self.assembler.add(event)
        self._events.append(event)


def _after_zero(span: Span) -> Span:
    """The part of a span that lies in the output, if it begins in the prompt's tail."""
    return span if span[0] >= 0 else (0, max(0, span[1]))


def _joined(events: list[Event]) -> list[Event]:
    """The events, with adjacent deltas of the same kind joined."""
    if len(events) < 2:
        return events
    joined: list[Event] = []
    run: list[Event] = []
    last = events[0]
    for event in events:
        # If a marker stood between them, their spans do not touch: a span covers its own text only.
        if run and (type(event) is not type(last) or last.span[1] != event.span[0] or type(event) not in _DELTAS):
            joined.append(run[0] if len(run) == 1 else _one(run))
            run = []
        run.append(event)
        last = event
    joined.append(run[0] if len(run) == 1 else _one(run))
    return joined


_DELTAS = (ContentDelta, ReasoningDelta, ToolCallDelta)


def _one(run: list[Event]) -> Event:
    """One event for adjacent deltas of the same kind; deltas of two calls are never adjacent."""
    first = run[0]
    span = (first.span[0], run[-1].span[1])
    if isinstance(first, ToolCallDelta):
        text = "".join(event.arguments for event in run if isinstance(event, ToolCallDelta))
        return ToolCallDelta(first.index, text, span)
    text = "".join(event.text for event in run if isinstance(event, ContentDelta | ReasoningDelta))
    return ContentDelta(text, span) if isinstance(first, ContentDelta) else ReasoningDelta(text, span)
