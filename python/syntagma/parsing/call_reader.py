"""Reads calls, part by part: the candidates, the arguments, the rest of the object, the closers.

Each part is a method that reads as far as the available text goes, and returns what it has read, or None if more text
is needed. They are called in this order::

    begin ─▶ match ─▶ read_arguments ─▶ close ─▶ read_envelope ─▶ read_closers ─▶ begin …
               │            │                                          │
           NotACall     malformed                                  CallsOver

`match` and `read_arguments` report to the emitter. The reader of the turn, which owns the state, decides about text
that is no call, and about what follows a call.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Literal, NamedTuple

from syntagma.events import Span
from syntagma.limits import Limits
from syntagma.messages import Tool
from syntagma.parsing.after_call import AfterCall, CallsOver, NextCall
from syntagma.parsing.arguments.source import ArgumentSource
from syntagma.parsing.call_choice import CallChoice, LoneCall, Way, by_commit, ways_of
from syntagma.parsing.call_matcher import CallMatcher
from syntagma.parsing.call_patterns import CallPattern, Op, Section
from syntagma.parsing.compiled_format import CompiledFormat
from syntagma.parsing.emitter import Emitter
from syntagma.parsing.fast_path import PlainRun
from syntagma.parsing.policies import Policies
from syntagma.parsing.repairs import REPAIRS, Repair
from syntagma.parsing.states import Outcome
from syntagma.parsing.text.scanner import is_cut
from syntagma.parsing.text.window import Window

__all__ = ["CallReader", "NotACall", "ReaderParts"]

_LONGEST_NAME = 64
"""code points of a name that are compared with declared ones"""
_MIN_PREFILTER = 1024
"""code points: with a lower limit on a call's header, the prefilter, which knows no limit, is not used"""


class ReaderParts(NamedTuple):
    """The parts that the readers of one turn share.

    Attributes:
        compiled: the format.
        emitter: receives what was read.
        limits: bounds on text that is held back.
        policies: the caller's choices.
        tools: the declared tools by name; None: undeclared.
    """

    compiled: CompiledFormat
    emitter: Emitter
    limits: Limits
    policies: Policies
    tools: Mapping[str, Tool] | None


class NotACall(NamedTuple):
    """Text that looked like a call.

    Attributes:
        start: absolute position where it began.
        end: absolute position up to which it looked like one.
        code: the code of the diagnostic, if it was meant as a call; else None.
        section: the section whose opener was read, or None.
        closers: the literals that close such a call, if it was meant as one.
        is_malformed: whether it was meant as a call and is none; False for a call whose tool is left in content.
        object_end: absolute position after a complete object that is no call, where calls are bare objects; or None.
    """

    start: int
    end: int
    code: str | None
    section: Section | None
    closers: tuple[Op, ...]
    is_malformed: bool
    object_end: int | None = None


class CallReader:
    """Reads the calls of one turn.

    Args:
        window: the text.
        parts: see `ReaderParts`.

    Attributes:
        after: reads what follows a call.
        call: the pattern of the last call that has committed, and what was read of it.
        source: the source of its arguments.
    """

    __slots__ = (
        *("_alike", "_argument_chars", "_choice", "_compiled", "_cut_reported", "_id", "_limits", "_matchers"),
        *("_lone", "_may_prefilter", "_name", "_opener", "_out", "_policies", "_slips", "_start", "_tools", "_window"),
        *("after", "call", "source"),
    )

    call: CallMatcher
    source: ArgumentSource

    def __init__(self, window: Window, parts: ReaderParts) -> None:
        self._window = window
        self._compiled, self._out, self._limits, self._policies, self._tools = parts
        self.after = AfterCall(
            window, parts.compiled, parts.emitter, parts.limits.parser_header_chars, repair=parts.policies.repair
        )
        self._may_prefilter = parts.policies.malformed != "drop" and parts.limits.parser_header_chars >= _MIN_PREFILTER
        self._matchers: list[CallMatcher] = []
        self._choice: CallChoice | None = None
        self._lone: LoneCall | Literal["possible"] | None = None
        self._alike: tuple[CallPattern, ...] = ()
        self._start = 0
        self._name: str | None = None
        self._id: str | None = None
        self._opener = 0
        self._slips: tuple[Repair, ...] = ()
        self._argument_chars = 0
        self._cut_reported = False

    # ---- which call it is

    def begin(
        self,
        candidates: Sequence[CallPattern],
        *,
        name: str | None = None,
        call_id: str | None = None,
        opener: int = 0,
        slips: tuple[Repair, ...] = (),
        alone: bool = False,
    ) -> None:
        """Begin to match candidates at the cursor.

        Args:
            candidates: the patterns that may begin here.
            name: the tool's name, if it was read before.
            call_id: the call's id, if it was read before.
            opener: the size of another spelling of their section's opener, with which they begin; 0: there is none.
            slips: what was wrong before them.
            alone: whether they count only if one of them is all of the answer.
        """
        self._lone = "possible" if alone else None
        window = self._window
        window.mark()
        self._start, self._name, self._id, self._opener = window.here, name, call_id, opener
        self._slips = slips
        self._matchers = [self._matcher(one, candidates) for one in candidates]

    def may_stand_alone(self, at: int) -> bool:
        """Whether a call of a declared tool that is all of the answer, without its list, may begin at index `at`."""
        if not (self._tools and self._compiled.unlisted and self._policies.repair):
            return False
        text, size = self._window.text, len(self._window.text)
        return any(
            is_cut(name, text, at, size)
            or (text.startswith(name, at) and not (text[at + len(name)].isalnum() or text[at + len(name)] == "_"))
            for name in self._tools
        )

    def _matcher(self, pattern: CallPattern, beside: Sequence[CallPattern] = ()) -> CallMatcher:
        return CallMatcher(
            pattern,
            self._start,
            self._limits,
            self._infer,
            name=self._name,
            call_id=self._id,
            repair=self._policies.repair,
            beside=beside,
            opener=self._opener,
            slips=self._slips,
        )

    def is_ruled_out(self, patterns: Sequence[CallPattern], at: int) -> bool:
        """Whether the available text rules out all calls of these patterns, if there are any, at index `at`."""
        window = self._window
        if window.knows_tokens or not patterns:
            return False
        return not any(
            one.steps.may_begin(window.text, at) and one.steps.ruled_out(window.text, at) is None for one in patterns
        )

    def has_begun(self, *, final: bool) -> bool | None:
        """Whether a candidate matches up to its commit point; None: more text is needed. Nothing is reported.

        At the end of a text that no limit has cut, the name of a tool is enough.
        """
        window = self._window
        alive = self._run_matchers()
        if any(one.status == "commit" for one in self._matchers):
            return True
        if not alive:
            return False
        window.move(min(matcher.pos for matcher in alive) - window.base)
        return None if not final else not self._out.is_cut and self._cut_call(alive) is not None

    def cannot_match(self, marker: str, at: int, pass_on: Callable[[int], None]) -> bool:
        """Whether the available text rules out all calls that may begin with the marker at index `at`.

        If so, the diagnostics of matching are reported; before that, `pass_on` is called with the index up to which
        the text is content.
        """
        window = self._window
        if window.knows_tokens or not self._may_prefilter:
            return False
        patterns, text = self._compiled.openings[marker], window.text
        if not any(pattern.steps.may_begin(text, at) for pattern in patterns):
            return True
        last, meant = at, False
        section: Section | None = None
        inside = self.after.open_section is not None
        for pattern in patterns:
            stopped = pattern.steps.ruled_out(text, at)
            if stopped is None:
                return False
            end, named = stopped
            last = max(last, end)
            if named:
                meant = meant or inside or pattern.intended
                section = section or pattern.section
        if meant:
            pass_on(at)
            self._no_call("E-PARSE-CALL", (window.base + at, window.base + last))
        if section is not None:
            self.after.section_seen(section)
        return True

    def _no_call(self, code: str, span: Span) -> None:
        cut = code == "E-PARSE-TRUNCATED"
        self._out.malformed(
            code, "the text ends before the name of a call" if cut else "this is not a call after all", span
        )

    def match(self, *, final: bool, before_end: bool = False) -> Outcome | NotACall | None:
        """Match the candidates, up to the commit point.

        If one commits, the emitter gets the start of the call, and the window's mark is removed. If none can, the
        window stays as it is.

        Args:
            final: whether no more text comes.
            before_end: whether the available text may be the beginning of the end of the call's message.
        """
        window = self._window
        if self._choice is not None:
            return self._choose(self._choice, final=final)
        if self._lone is not None:
            return self._match_lone(final=final)
        alive = self._run_matchers()
        if len(self._matchers) == 1 and self._matchers[0].status == "commit":
            return self._commit(self._matchers[0], Way(self._matchers[0].pattern, ()))
        committed = by_commit(self._matchers)
        shared = len(self._slips)
        if any(len(one.slips) > shared for one in committed):
            # One without a slip is better, even if it commits later.
            whole = [one for one in committed if len(one.slips) == shared]
            rest = [one for one in alive if len(one.slips) == shared]
            if not whole and rest and not final:
                window.move(min(matcher.pos for matcher in (*alive, *committed)) - window.base)
                return None
            committed, alive = whole or committed, rest
        ways = ways_of(committed)
        if ways:
            return self._first_way(ways, alive, final=final)
        if alive and final:
            # The stream has ended before the arguments, perhaps after the name.
            cut = self._cut_call(alive)
            if cut is not None and cut.known_name:
                return self._cut(cut.known_name, cut.id)
        if final or not alive:
            if before_end and self._name is not None:
                return self._cut(self._name, self._id)
            return self._no_match(is_cut=bool(alive) and self._out.is_cut)
        window.move(min(matcher.pos for matcher in alive) - window.base)
        return None

    def _match_lone(self, *, final: bool) -> Outcome | NotACall | None:
        """Match a call that is all of the answer, up to its end."""
        window = self._window
        alive = self._run_matchers()
        committed = [one for one in self._matchers if one.status == "commit" and not one.slips]
        if self._lone == "possible" and committed and (self._tools or {}).get(committed[0].name or ""):
            source = self._declared(committed[0])
            self._lone = LoneCall(window, committed[0], source, self._limits.parser_argument_chars)
        if isinstance(self._lone, LoneCall):
            stands = self._lone.read(final=final)
        else:
            stands = None if alive and not final and self.may_stand_alone(window.pos) else False
        if stands is None:
            return None
        lone, self._lone = self._lone, None
        if not stands or self._out.is_cut or not isinstance(lone, LoneCall):
            end, self._matchers = max(matcher.pos for matcher in self._matchers), []
            return NotACall(self._start, end, None, None, (), is_malformed=False)
        window.rewind()
        window.mark()
        matcher = self._matcher(lone.pattern)
        matcher.slips.append("list")
        matcher.run(window)
        return self._commit(matcher, Way(lone.pattern, ()))

    def _run_matchers(self) -> list[CallMatcher]:
        """Let the candidates read on; returns those that need more text."""
        for matcher in self._matchers:
            if matcher.status == "more":
                matcher.run(self._window)
            if matcher.status == "commit" and not self._is_allowed(matcher):
                matcher.status = "no match"
        return [matcher for matcher in self._matchers if matcher.status == "more"]

    def _cut_call(self, alive: Sequence[CallMatcher]) -> CallMatcher | None:
        """The candidate whose name was read, if the text ends here; None: there is none."""
        named = (one for one in alive if one.known_name and (one.pattern.framed or self._name))
        return next((one for one in named if self._is_allowed(one)), None)

    def _first_way(
        self, ways: list[tuple[CallMatcher, Way]], alive: list[CallMatcher], *, final: bool
    ) -> Outcome | None:
        """Commit the first candidate, unless its arguments may turn out to be those of another."""
        window = self._window
        matcher, way = ways[0]
        whole = matcher.source is not None and matcher.source.done
        if alive and not final and matcher.pattern.without_arguments and not matcher.pattern.ends_itself:
            whole = False  # arguments may follow
        if whole or (len(ways) == 1 and (final or not alive)):
            return self._commit(matcher, way)
        if alive and not final:
            window.move(min(one.pos for one in (*alive, *(one for one, _ in ways))) - window.base)
            return None
        self._choice = CallChoice(window, ways, self._declared, self._limits.parser_argument_chars)
        return self._choose(self._choice, final=final)

    def _choose(self, choice: CallChoice, *, final: bool) -> Outcome | None:
        """Try the arguments in several ways."""
        way = choice.read(final=final)
        if way is None:
            return None
        window = self._window
        window.rewind()
        window.mark()
        matcher = self._matcher(way.pattern)
        matcher.run(window)
        return self._commit(matcher, way)

    def _declared(self, matcher: CallMatcher) -> ArgumentSource:
        """The source of the arguments, with the schema of the tool's parameters."""
        assert matcher.source is not None
        tool = self._tools.get(matcher.name or "") if self._tools is not None else None
        matcher.source.declare(tool.parameters if tool is not None else None)
        return matcher.source

    def _commit(self, matcher: CallMatcher, way: Way) -> Outcome:
        window = self._window
        assert matcher.name is not None
        assert matcher.source is not None
        window.move(matcher.pos - window.base)
        window.unmark()
        span = (self._start, matcher.commit_at)
        if self._tools is not None and matcher.name not in self._tools:
            near = get_close_matches(matcher.name[:_LONGEST_NAME], self._tools, n=1)
            meant = f"; the nearest is {near[0]!r}" if near else ""
            self._out.malformed("E-PARSE-TOOL", f"no tool {matcher.name!r} was declared{meant}", span)
        if matcher.header_name not in (None, matcher.name):
            self._out.malformed("E-PARSE-NAME", f"{matcher.header_name!r} and {matcher.name!r} name one call", span)
        for slip in matcher.slips:
            self._out.malformed("E-PARSE-REPAIRED", REPAIRS[slip], span)
        self._out.call_start(matcher.name, matcher.id, span)
        self.call, self.source, self._choice = matcher, self._declared(matcher), None
        # The whole of a call without arguments was read, with its closer.
        self._alike = () if matcher.pattern.without_arguments else way.alike
        self._argument_chars = 0
        self._matchers = []
        return "call"

    def _cut(self, name: str, wire_id: str | None) -> Outcome:
        """Report a call whose text has ended between its name and its arguments."""
        window = self._window
        window.move(len(window.text))
        window.unmark()
        self._out.call_start(name, wire_id, (self._start, window.here))
        return "truncated"

    def _no_match(self, *, is_cut: bool = False) -> NotACall:
        """The result if no candidate matches; `is_cut`: because a limit has cut the text."""
        matchers, self._matchers = self._matchers, []
        end = max(matcher.pos for matcher in matchers)
        if self._opener:
            # What follows is read again, and reported there.
            return NotACall(self._start, end, None, None, (), is_malformed=False)
        inside = self.after.open_section is not None
        meant = [one for one in matchers if one.begun and (inside or one.pattern.intended)]
        code = None
        if meant:
            code = "E-LIMIT-HEADER" if any(one.over_limit for one in meant) else "E-PARSE-CALL"
        if is_cut and any(inside or one.pattern.intended for one in matchers if one.status == "more"):
            # Reported once: inner text may look like the beginning of a call, too.
            code = None if self._cut_reported else "E-PARSE-TRUNCATED"
            self._cut_reported = True
        opened = [one.pattern.section for one in matchers if one.pattern.section is not None and one.begun]
        objects = [one.object_end for one in matchers if one.object_end is not None and one.pattern.bare_call]
        closers = tuple(op for one in meant for op in one.pattern.closer[-1:])
        section = opened[0] if opened else None
        is_malformed = code is not None and all(one.source is None for one in matchers)
        if self._slips and code is None and not is_cut:
            # A name without a call: other text between the calls of a section.
            code = "E-PARSE-CALL"
        return NotACall(self._start, end, code, section, closers, is_malformed, objects[0] if objects else None)

    def report(self, found: NotACall, *, dropped: bool) -> None:
        """Report text that was no call, and remember the section that was opened with it.

        Args:
            found: the text that looked like a call.
            dropped: whether its text is left out, so that the closer of its section is no content either.
        """
        if found.code is not None:
            self._no_call(found.code, (found.start, found.end))
        self.after.section_seen(found.section, live=dropped)

    def _infer(self, arguments: str) -> str | None:
        """The name of the only declared tool that has the keys of these arguments; None: there is not exactly one."""
        try:
            keys = set(json.loads(arguments))
        except (ValueError, RecursionError):
            return None
        takers = []
        for tool in (self._tools or {}).values():
            schema = tool.parameters or {}
            properties, required = schema.get("properties"), schema.get("required", [])
            if not isinstance(properties, Mapping) or not isinstance(required, list):
                continue
            if keys <= set(properties) and all(key in keys for key in required):
                takers.append(tool.name)
        return takers[0] if len(takers) == 1 else None

    def _is_allowed(self, matcher: CallMatcher) -> bool:
        known = self._tools is None or matcher.known_name in self._tools
        return known or (self._policies.unknown_tool == "pass" and not matcher.pattern.needs_known_name)

    # ---- the arguments

    @property
    def pending(self) -> str:
        """The text of the arguments that is passed on unless what follows shows a slip; empty without a call."""
        return self.source.pending if hasattr(self, "source") else ""

    @property
    def has_closer(self) -> bool:
        """Whether a part of the call follows its arguments: the rest of its object, or a closer."""
        return self.call.envelope is not None or bool(self.call.pattern.closer)

    @property
    def closers(self) -> set[str]:
        """The literals that close the call."""
        return {op.text for op in self.call.pattern.closer if op.kind == "literal"}

    def read_arguments(self, *, final: bool, end: int | None = None) -> Outcome | None:
        """Read the arguments.

        Args:
            final: whether no more text comes.
            end: index in the window's text up to which they may go; None: the end of the text.
        """
        window = self._window
        source = self.source
        while True:
            text, pos, base = window.text, window.pos, window.base
            size = len(text) if end is None else end
            room = self._limits.parser_argument_chars - self._argument_chars
            start = base + pos - source.withheld
            after, fragment = source.feed(text, pos, size if size - pos <= room else pos + room)
            self._argument_chars += after - pos
            window.move(after)
            self._out.call_delta(fragment, (start, base + after - source.withheld))
            repaired = source.has_repair
            if repaired:
                self._report_repairs(source)
            if source.done:
                return "whole"
            if source.bad or self._argument_chars >= self._limits.parser_argument_chars:
                code = "E-PARSE-ARGUMENTS" if source.bad else "E-LIMIT-ARGUMENT"
                here = window.place
                if source.withheld:
                    self._out.call_delta(source.finish(""), (window.here - source.withheld, window.here))
                self._out.malformed(code, "the arguments cannot be read from here on", here)
                return "malformed"
            if repaired:
                continue
            if after == size and not final:
                return None
            if fragment or after > pos:
                continue
            if not final:
                return None
            is_whole = self.end_arguments(len(text), closes=source.ends_with_text)
            return "whole" if is_whole else "truncated"

    def end_arguments(self, end: int, *, closes: bool) -> bool:
        """End incomplete arguments at this index of the window's text.

        Args:
            end: the index.
            closes: whether the call's own end stands there, so that the arguments are completed if that is certain.

        Returns:
            whether they are complete now; if not, they are cut there.
        """
        window = self._window
        source = self.source
        start, rest = window.here - source.withheld, window.text[window.pos : end]
        missing = source.close(rest) if closes else None
        window.move(end)
        self._report_repairs(source)
        self._out.call_delta(source.finish(rest) if missing is None else missing, (start, window.here))
        return missing is not None

    def _report_repairs(self, source: ArgumentSource) -> None:
        """Report the repairs at the cursor."""
        here = self._window.place
        while (repair := source.take_repair()) is not None:
            self._out.malformed("E-PARSE-REPAIRED", repair, here)

    def plain_run(self) -> PlainRun | None:
        """The plain run of the arguments, inside a string that is passed on as it comes; else None."""
        string = self.source.open_string
        if string is None:
            return None
        room = self._limits.parser_argument_chars - self._argument_chars
        return PlainRun("arguments", string.stops, room, string.spell)

    def skip(self, size: int) -> None:
        """Skip `size` characters of the arguments, which the fast path has passed on."""
        self._argument_chars += size

    # ---- the end

    def fail(self, *, truncated: bool = False) -> None:
        """End a call with incomplete arguments; `truncated`: because the text has ended.

        If they cannot be read, the call's section stays open.
        """
        here = self._window.place
        if truncated:
            self._out.malformed("E-PARSE-TRUNCATED", "the text ends inside a call", here)
        self._out.call_end(complete=False, span=here)
        if not truncated:
            self.after.section_seen(self.call.pattern.section, live=True)

    def close(self, *, may_have_id: bool = True) -> Outcome:
        """End complete arguments; returns what the rest of the call is: its object, or what follows the whole call.

        Args:
            may_have_id: whether the text that follows is read, so that an id after the arguments is found.
        """
        call, after = self.call, self.after
        envelope = call.envelope
        goes_on = envelope is not None and envelope.status == "commit"
        late_id = (goes_on and call.pattern.form.late_id) or self._may_have_late_id
        after.owes_end = True
        if call.id is not None or not (late_id and may_have_id):
            after.report_end()
        if envelope is not None and goes_on:
            envelope.resume()
            return "object"
        after.begin(call.pattern, call.name or "", self._alike)
        return "whole"

    @property
    def _may_have_late_id(self) -> bool:
        """Whether an id may stand after the arguments, or after the object that holds them."""
        return any(one.late_id for one in (self.call.pattern, *self._alike))

    def read_envelope(self, *, final: bool) -> Outcome | None:
        """Read the rest of the object that holds the call."""
        window, call = self._window, self.call
        assert call.envelope is not None
        reader = call.envelope
        window.move(reader.run(window.text, window.pos, len(window.text)))
        if reader.status == "more" and not final:
            return None
        if reader.id or not self._may_have_late_id:
            self.after.report_end(reader.id)
        if reader.status != "end":
            self._out.malformed("E-PARSE-CLOSER", "the object of a call is not closed", window.place)
        self.after.begin(call.pattern, call.name or "", self._alike)
        return "whole"

    def read_closers(self, *, final: bool) -> NextCall | CallsOver | None:
        """Read the closers of the call and its section."""
        return self.after.read(final=final)
