"""Reads turns in which markers in the text separate reasoning, the answer and calls.

`INLINE` in `states` has every transition; `STEPS` at the end has the method for each state.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar

from syntagma.format_schema import stands_alone
from syntagma.format_schema.facts import Block
from syntagma.parsing.after_call import MAX_AHEAD, NextCall
from syntagma.parsing.call_patterns import Section
from syntagma.parsing.call_reader import CallReader, NotACall, ReaderParts
from syntagma.parsing.compiled_format import Exit, Exits
from syntagma.parsing.fast_path import PlainRun
from syntagma.parsing.misspelt import Misspelling
from syntagma.parsing.states import INLINE, Outcome, State
from syntagma.parsing.text.scanner import MarkerSet
from syntagma.parsing.turn_reader import EdgeWhitespace, Steps, TurnReader, end_of_first

__all__ = ["InlineTurnReader"]

_BLOCK = 256
"""characters in which markers and other spellings of them are searched for together; four times as many each time"""
_IN_CALL = (State.MATCHING, State.ARGUMENTS, State.ENVELOPE, State.CLOSERS)


class InlineTurnReader(TurnReader):
    """A `TurnReader`, which documents the methods and attributes."""

    FOLLOWING: ClassVar = INLINE.following

    def __init__(self, parts: ReaderParts) -> None:
        super().__init__(State.ANSWER, reasoning_done=not parts.compiled.blocks)
        self.content_begun = False
        self._compiled, self._out, self._policies = parts.compiled, parts.emitter, parts.policies
        self._call = CallReader(self.window, parts)
        self._edge = EdgeWhitespace()
        self._exits: Exits | None = None
        self._exits_for: tuple[bool, Section | None] = (False, None)
        self._block: Block | None = None
        self._reasoning_exits = parts.compiled.reasoning_exits[None, True]
        self._prompted: str | None = None
        self._dropping_exits: Exits

    @property
    def pending(self) -> str:
        """See `TurnReader`."""
        return self._call.pending

    def plain_run(self) -> PlainRun | None:
        """See `TurnReader`."""
        if not self.window.is_empty:
            return None
        if self.state is State.ARGUMENTS:
            return self._call.plain_run()
        if self.state is State.REASONING and self._prompted is None:
            return PlainRun("reasoning", self._reasoning_exits.stops)
        if self.state is State.ANSWER and self.content_begun:
            return PlainRun("content", self._answer_exits().stops)
        return None

    def skip(self, run: PlainRun, size: int) -> None:
        """See `TurnReader`."""
        self.window.skip(size)
        if run.kind == "arguments":
            self._call.skip(size)

    # ---- where the output begins

    def read_prompt(self, tail: str, *, certain: bool) -> bool:
        """See `TurnReader`.

        If the tail may hold other messages, only the last marker of reasoning or of the answer's wrapper counts.
        """
        compiled = self._compiled
        before = self.reasoning_done
        closes = max((tail.rfind(block.closer) for block in compiled.blocks if block.closer.strip()), default=-1)
        if certain:
            self.window.begin(tail)
            self.read()
            decided = self.state.is_reasoning or self.reasoning_done != before or self.wrapper_open
            if closes >= 0 and not decided:
                # A closer without its opener: reasoning was open from the start, or opened before the tail.
                self.reasoning_done = decided = True
            return decided
        opens = max((tail.rfind(block.opener) for block in compiled.blocks if block.opener), default=-1)
        answers = max((tail.rfind(block.opener) for block in compiled.wrappers if block.opener), default=-1)
        last = max(opens, closes, answers)
        if last < 0:
            return False
        if last == closes:
            self.open_reasoning(None)
        self.window.begin(tail[last:])
        self.read()
        if self.state in _IN_CALL:
            # A call that the tail seems to begin belongs to another message.
            self.window.unmark()
            self.window.move(len(self.window.text))
            self.state = State.ANSWER
        if self.content_begun:
            # The block may belong to an earlier message on the same line.
            self.reasoning_done = before
        self.reasoning_done = self.reasoning_done or self.wrapper_open
        return True

    def open_reasoning(self, opener: str | None) -> None:
        """See `TurnReader`."""
        blocks = self._compiled.blocks
        self._block = next((block for block in blocks if opener and block.opener == opener.strip()), None)
        self._reasoning_exits = self._compiled.reasoning_exits[self._block, True]
        self.reasoning_done = False
        self.state = State.REASONING
        # The prompt may end inside the closer, which was text as long as reasoning was not known to be open.
        window = self.window
        at, whole = self._reasoning_exits.markers.search(window.text, 0, final=False)
        if whole is None:
            window.move(at)

    def close_reasoning(self) -> None:
        """See `TurnReader`."""
        self.state = State.ANSWER

    def begin_output(self) -> None:
        """See `TurnReader`."""
        self.content_begun = False
        if self.state in (State.REASONING, State.BEFORE_REASONING):
            self.state = State.START_IN_REASONING
        elif self.wrapper_open or self.window.unread or not self._compiled.blocks:
            # The closer of the wrapper comes next, which may be spelled like the closer of reasoning.
            return
        elif self.state in (State.ANSWER, State.BEFORE_ANSWER):
            self.state = State.START_IN_ANSWER

    @property
    def undecided(self) -> str:
        """See `TurnReader`."""
        return self.window.unread

    @property
    def inside_call(self) -> bool:
        """See `TurnReader`."""
        return self.state.now == "call" and not (self.state is State.CLOSERS and self._call.after.is_closed)

    @property
    def opener(self) -> str:
        """See `TurnReader`."""
        return self._block.opener if self._block is not None else ""

    @property
    def prompted_opener(self) -> str:
        """See `TurnReader`."""
        return self._prompted or "" if self.state in (State.REASONING, State.BEFORE_REASONING) else ""

    def _repeated_opener(self, final: bool) -> Outcome | None:
        """Remove an opener of reasoning that is repeated although reasoning is open already."""
        blocks = self._compiled.blocks if self._block is None else (self._block,)
        end = end_of_first(self.window, tuple(block.opener for block in blocks), self._compiled.markers, final=final)
        if end is None:
            return None
        if not end:
            return "text"
        opener = self._take_marker(end)
        block = next(block for block in blocks if block.opener == opener.lstrip())
        self._edge.expect(block.after_opener, is_reasoning=True)
        return "reasoning"

    def _unmatched_closer(self, final: bool) -> Outcome | None:
        """Report and remove a closer of reasoning that is written first although reasoning is closed already."""
        blocks, markers = self._compiled.blocks, self._compiled.markers
        opened = end_of_first(self.window, self._compiled.openers_like_closers, markers, final=final)
        openers = tuple(block.opener for block in blocks if block.opener)
        alone = (block.closer for block in blocks if block.closer.strip() and stands_alone(block.closer))
        closers = tuple(closer for closer in alone if not closer.startswith(openers))
        end = end_of_first(self.window, closers, markers, final=final)
        if opened is None or (end is None and not opened):
            return None
        if opened or not end:
            return "text"
        start = self.window.here
        closer = self._take_marker(end)
        self._out.malformed("E-PARSE-STRAY", "the end of reasoning that was not open", (start, self.window.here))
        block = next(block for block in blocks if block.closer == closer.lstrip())
        self._edge.expect(block.after, is_reasoning=True)
        return "closer"

    def _take_marker(self, end: int) -> str:
        """Read the marker of reasoning up to index `end`; returns it with the whitespace before it."""
        window = self.window
        start, marker = window.here, window.take(end)
        self._out.reasoning_marker(marker, start)
        return marker

    # ---- the answer

    def _answer_exits(self) -> Exits:
        """The texts that leave the answer now. Looked up only when they change: to compare sections takes long."""
        may_reason, section = not self.reasoning_done, self._call.after.open_section
        if self._exits is None or may_reason is not self._exits_for[0] or section is not self._exits_for[1]:
            self._exits_for = (may_reason, section)
            self._exits = self._compiled.answer_exits[self._exits_for]
        return self._exits

    def _answer(self, final: bool) -> Outcome | None:
        window = self.window
        compiled = self._compiled
        if not self.content_begun and (compiled.bare_starts or compiled.unlisted) and self._begin_bare_call():
            return "call"
        exits = self._answer_exits()
        start = window.pos
        begun = self.content_begun or self.wrapper_open
        while True:
            at, marker, spelled = self._search(exits, start, self._compiled.misspellings.openers, final=final)
            if spelled is not None:
                before = {call.before for calls in self._compiled.section_calls.values() for call in calls}
                edges = [len(edge) for edge in before if window.text.endswith(edge, window.pos, spelled.at)]
                self._pass_answer(spelled.at - max(edges, default=0))
                return self._begin_misspelt(spelled)
            if marker is None:
                self._pass_answer(at)
                return None
            begun = begun or window.after_whitespace(window.pos) < at
            found = [
                one
                for one in exits.by_text[marker]
                if window.are_markers(at, one.pieces) and not (begun and one.only_first)
            ]
            if not found:
                start = at + 1
            elif found[0].kind == "call" and self._call.cannot_match(
                marker[found[0].edge :], at + found[0].edge, self._pass_answer
            ):
                start = at + found[0].edge + 1
                # The opener of a section may have been read; its closer counts from here on.
                exits = self._answer_exits()
            else:
                self._pass_answer(at)
                return self._leave_answer(marker, found[0])

    def _begin_bare_call(self) -> bool:
        """Try a call at the first character of the answer, if one may begin there without a marker."""
        window = self.window
        at = window.after_whitespace(window.pos)
        if at == len(window.text):
            return False
        candidates = [one for one in self._compiled.bare_starts if one.first == window.text[at]]
        alone = not candidates and self._call.may_stand_alone(at)
        if not (candidates or alone):
            return False
        self._pass_answer(at)
        self._call.begin(candidates or self._compiled.unlisted, alone=alone)
        return True

    def _pass_answer(self, end: int) -> None:
        """Pass on the text up to index `end` as content."""
        window = self.window
        if end > window.pos:
            start, text = window.here, window.take(end)
            self._out.content(text, start)
            self.content_begun = self.content_begun or not text.isspace()

    def _leave_answer(self, text: str, found: Exit) -> Outcome:
        window, block = self.window, found.block
        if found.kind == "call":
            at = window.pos + found.edge
            window.mark()  # before the whitespace, which is content if no call begins
            window.move(at)
            self._call.begin(self._compiled.openings[text[found.edge :]])
            return "call"
        start = window.here
        window.move(window.pos + len(text))
        if found.kind == "reasoning" and block is not None:
            self._out.reasoning_marker(text, start)
            self._block = block
            self._reasoning_exits = self._compiled.reasoning_exits[block, True]
            self._prompted = text[found.edge :]
            self._edge.expect(block.after_opener, is_reasoning=True)
            return "reasoning"
        self._out.marker_read()
        edge = ""
        if found.kind == "section":
            edge = self._call.after.close_section()
        elif block is not None:
            self.wrapper_open = found.opens
            edge = block.after_opener if found.opens else block.after
        self._edge.expect(edge)
        return "marker"

    def _search(
        self, exits: Exits, start: int, among: Collection[str], *, final: bool
    ) -> tuple[int, str | None, Misspelling | None]:
        """The next text that leaves a state, as in `MarkerSet.search`, and another spelling of an opener before it.

        Like that, it looks no further than a few times the distance.

        Args:
            exits: the texts.
            start: the index from which on to search.
            among: the openers of which other spellings count.
            final: whether no more text comes.
        """
        text, known = self.window.text, self._compiled.misspellings
        size = len(text)
        if not (among and self._policies.repair):
            return *exits.markers.search(text, start, final=final), None
        block = _BLOCK
        while True:
            end = min(size, start + block)
            at, marker = exits.markers.search(text, start, final=final and end == size, end=end)
            spelled = known.search(text, start, at, final=final, among=among) if start < at else None
            if spelled is not None and spelled.size and spelled.at + spelled.size <= at:
                return at, marker, spelled
            if marker is not None:
                return at, marker, None
            if end == size:
                return at, None, None if spelled is None else spelled._replace(size=0)
            start, block = at if spelled is None else spelled.at, block * 4

    def _begin_misspelt(self, found: Misspelling) -> Outcome | None:
        """Begin a call after another spelling of its section's opener, if that is whole."""
        if not found.size:
            return None
        self.window.mark()  # before the whitespace, which is content if no call begins
        self.window.move(found.at)
        self._call.begin(self._compiled.section_calls[found.opener], opener=found.size, slips=("opener",))
        return "call"

    # ---- whitespace that belongs to a marker

    def _before_answer(self, final: bool) -> Outcome | None:
        return None if self._edge.read(self.window, self._out, final=final) is None else "whitespace"

    def _before_reasoning(self, final: bool) -> Outcome | None:
        taken = self._edge.read(self.window, self._out, final=final)
        if taken is None:
            return None
        if self._prompted is not None:
            self._prompted += taken
        return "whitespace"

    # ---- reasoning

    def _next_exit(self, exits: Exits, start: int, *, final: bool) -> tuple[int, str | None, Exit | None]:
        """The next text from index `start` on that leaves a state: its index, itself, its meaning; see `MarkerSet`."""
        window = self.window
        while True:
            at, text = exits.markers.search(window.text, start, final=final)
            if text is None:
                return at, None, None
            for one in exits.by_text[text]:
                if window.are_markers(at, one.pieces):
                    return at, text, one
            start = at + 1

    def _reasoning(self, final: bool) -> Outcome | None:
        window, interrupts, openers = self.window, self._compiled.interrupts, self._compiled.interrupting_openers
        start, found = window.pos, None
        while True:
            at, text, spelled = self._search(self._reasoning_exits, start, openers, final=final)
            if spelled is not None:
                self._pass_reasoning(spelled.at)
                return self._begin_misspelt(spelled)
            if text is None:
                break
            meanings = self._reasoning_exits.by_text[text]
            found = next((one for one in meanings if window.are_markers(at, one.pieces)), None)
            if found is None:
                start = at + 1
                continue
            if found.kind == "stray":
                end = self._end_of_strays(at, final=final)
                if end is None:
                    text = None
                    break
                if end:
                    self._pass_reasoning(at)
                    window.move(end)
                    self._out.stray((window.base + at, window.here))
            elif found.kind != "interrupt" or not self._call.is_ruled_out(interrupts[text], at):
                break
            start = max(at + 1, window.pos)
        self._pass_reasoning(at)
        if text is None or found is None:
            return None
        if found.kind == "close" and found.block is not None:
            return self._reasoning_closed(text, found.block)
        if found.kind == "cut" and found.block is not None:
            text = text[: found.edge] + found.block.short
            span = (window.here, window.here + len(text))
            self._out.malformed("E-PARSE-CLOSER", "the closer of reasoning is cut", span)
            return self._reasoning_closed(text, found.block)
        if found.kind == "next":
            self._end_reasoning()
            self._edge.expect(text[: found.edge], is_reasoning=True)
            return "closer"
        if interrupts[text]:
            self._call.begin(interrupts[text])
            return "call"
        return self._interrupt("marker", at_once=any(text.startswith(one.opener) for one in self._compiled.wrappers))

    def _pass_reasoning(self, end: int) -> None:
        """Pass on the text up to index `end` as reasoning."""
        window = self.window
        if end > window.pos:
            self._prompted = None
            start = window.here
            self._out.reasoning(window.take(end), start)

    def _end_of_strays(self, begin: int, *, final: bool) -> int | None:
        """The index after closers from `begin` on that close nothing, if the turn ends there or something else opens.

        0: reasoning goes on; None: more text is needed.
        """
        window, text = self.window, self.window.text
        known = [(one, exits[0].kind) for one, exits in self._reasoning_exits.by_text.items()]
        strays = [one for one, kind in known if kind == "stray"]
        openers = tuple(one for one, kind in known if kind in ("interrupt", "next"))
        end = index = begin
        while True:
            if index - begin > MAX_AHEAD:
                return 0
            if index == len(text):
                return end if final else None
            if end > begin and text.startswith(openers, index):
                return end
            # What begins like an opener may be one, although a stray closer stands there, too.
            if end > begin and not final and any(window.cut_at(index, one) for one in openers):
                return None
            stray = next((one for one in strays if text.startswith(one, index)), "")
            if not stray:
                return None if not final and any(window.cut_at(index, one) for one in strays) else 0
            end = index + len(stray)
            index = window.after_whitespace(end)

    def _call_in_reasoning(self, final: bool) -> Outcome | None:
        window = self.window
        begins = self._call.has_begun(final=final)
        if begins is None:
            return None
        window.rewind()
        if begins:
            return self._interrupt("call", at_once=self._compiled.calls_close_reasoning)
        self._pass_reasoning(window.pos + 1)
        return "text"

    def _interrupt(self, outcome: Outcome, *, at_once: bool = False) -> Outcome:
        """End the reasoning here, or hold what follows until it is known whether it is a quotation."""
        if at_once or self._policies.interrupt == "now":
            self._end_reasoning()
            return "end"
        self.window.mark()
        self._reasoning_exits = self._compiled.reasoning_exits[self._block, False]
        return outcome

    def _interrupted(self, final: bool) -> Outcome | None:
        window = self.window
        at, text, found = self._next_exit(self._reasoning_exits, window.pos, final=final)
        window.move(at)
        is_closed = text is not None and found is not None and found.block is not None
        if not is_closed and not final:
            return None
        if not is_closed and not self._out.is_cut:
            window.rewind()
            self._end_reasoning()
            return "end"
        quoted = window.marked()
        self._out.reasoning(quoted, window.here - len(quoted))
        window.unmark()
        if text is None or found is None or found.block is None:
            return "text"
        return self._reasoning_closed(text, found.block)

    def _reasoning_closed(self, closer: str, block: Block) -> Outcome:
        self._take_marker(self.window.pos + len(closer))
        self._end_reasoning()
        self._edge.expect(block.after, is_reasoning=True)
        return "closer"

    def _end_reasoning(self) -> None:
        self.reasoning_done = not self._compiled.repeats
        self._prompted = None
        self._out.reasoning_end()

    # ---- calls

    def _matching(self, final: bool) -> Outcome | None:
        found = self._call.match(final=final)
        if isinstance(found, NotACall):
            return self._not_a_call(found)
        if found == "truncated":
            self._call.fail(truncated=True)
        self.content_begun = self.content_begun or found == "call"
        return found

    def _not_a_call(self, found: NotACall) -> Outcome:
        """Make the text content, and read it again for other markers."""
        window, call = self.window, self._call
        dropped = found.is_malformed and self._policies.malformed == "drop"
        between_calls = call.after.open_section is not None
        call.report(found, dropped=dropped)
        goes_on = found.object_end is not None and call.after.section is not None
        release_to = found.object_end if goes_on and found.object_end is not None else found.start + 1
        window.rewind()
        if dropped:
            if not between_calls:
                self._pass_answer(found.start - window.base)
            window.move(min(len(window.text), max(release_to, found.end) - window.base))
        else:
            self._pass_answer(release_to - window.base)
        if goes_on:
            call.after.begin_after_object()
            return "object"
        if not dropped:
            return "text"
        leaving = {
            text: [one for one in exits if one.kind in ("call", "section")]
            for text, exits in self._answer_exits().by_text.items()
        }
        for op in found.closers:
            leaving.setdefault(op.text, []).insert(0, Exit("close", 0, op.pieces))
        self._dropping_exits = Exits(leaving, MarkerSet(leaving))
        return "malformed"

    def _dropping(self, final: bool) -> Outcome | None:
        """Leave out a malformed call, up to its closer, the next call, or the end of the section."""
        at, text, found = self._next_exit(self._dropping_exits, self.window.pos, final=final)
        self.window.move(at)
        if text is None or found is None:
            return None
        if found.kind != "close":
            return "end"
        self.window.move(at + len(text))
        if self._call.after.section is None:
            return "end"
        self._call.after.begin_after_object()
        return "closer"

    def _arguments(self, final: bool) -> Outcome | None:
        found = self._call.read_arguments(final=final)
        if found == "whole":
            return self._call.close()
        if found is not None:
            self._call.fail(truncated=found == "truncated")
        return found

    def _envelope(self, final: bool) -> Outcome | None:
        return self._call.read_envelope(final=final)

    def _closers(self, final: bool) -> Outcome | None:
        found = self._call.read_closers(final=final)
        if found is None:
            return None
        if isinstance(found, NextCall):
            self._call.begin(found.candidates, slips=found.slips)
            return "call"
        window = self.window
        window.rewind()
        if window.text.startswith(found.whitespace, window.pos):
            window.move(window.pos + len(found.whitespace))
        return "end"

    STEPS: ClassVar[Steps] = {
        State.START_IN_REASONING: _repeated_opener,
        State.START_IN_ANSWER: _unmatched_closer,
        State.ANSWER: _answer,
        State.BEFORE_ANSWER: _before_answer,
        State.REASONING: _reasoning,
        State.BEFORE_REASONING: _before_reasoning,
        State.CALL_IN_REASONING: _call_in_reasoning,
        State.INTERRUPTED: _interrupted,
        State.MATCHING: _matching,
        State.DROPPING: _dropping,
        State.ARGUMENTS: _arguments,
        State.ENVELOPE: _envelope,
        State.CLOSERS: _closers,
    }
