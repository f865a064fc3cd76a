"""Reads the bodies of messages to tools.

All text of a body belongs to the call: arguments that cannot be read are passed on as they are, and the call is
incomplete. Each state has a method, its step. The outcome `text` means that what follows is no part of a call, and goes
where messages go whose header leads nowhere.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from typing import ClassVar

from syntagma.json_types import WHITESPACE
from syntagma.parsing.arguments.argument_check import mismatch
from syntagma.parsing.arguments.json_machine import JsonMachine
from syntagma.parsing.call_reader import CallReader, NotACall, ReaderParts
from syntagma.parsing.fast_path import PlainRun
from syntagma.parsing.header_router import HeaderRouter, Routed
from syntagma.parsing.states import Outcome, State
from syntagma.parsing.text.window import Window

__all__ = ["MessageCallReader", "object_in"]


def object_in(body: str, ends: Collection[str], *, is_cut: bool) -> tuple[str, bool, str]:
    """The arguments of a call in a body that holds nothing else.

    Args:
        body: the text of the call.
        ends: the texts that end a message.
        is_cut: the text ends inside the call. The beginning of such a text at its end is not part of the arguments.

    Returns:
        the arguments, whether they are one whole JSON object, and the beginning of an end after them.
    """
    begin = len(body) - len(body.lstrip(WHITESPACE))
    sizes = range(max(map(len, ends)), 0, -1) if is_cut else ()
    half = next((body[-size:] for size in sizes if any(one.startswith(body[-size:]) for one in ends)), "")
    end = len(body) - len(half)
    if not body.startswith("{", begin):
        return "" if is_cut and begin >= end else body, False, ""
    machine = JsonMachine()
    at, arguments = machine.feed(body, begin, end)
    rest = body[at:end]
    if rest.strip(WHITESPACE):
        return arguments + rest + half, False, ""
    if machine.in_string:
        return arguments + machine.feed(body, end, len(body))[1], False, ""
    return arguments, machine.done, half


class MessageCallReader:
    """Reads the calls of a turn of messages, one body at a time.

    Args:
        window: the text.
        router: the markers of messages.
        parts: see `ReaderParts`.

    Attributes:
        reported: whether the current call was reported to the emitter.
        marker: the marker that ends the message, which is next; None: the text has ended.
    """

    @property
    def pending(self) -> str:
        """See `CallReader`."""
        return self._call.pending

    def __init__(self, window: Window, router: HeaderRouter, parts: ReaderParts) -> None:
        self._window = window
        self._router = router
        self._ends = frozenset(router.ends)
        self._out, self._limits, self._policies = parts.emitter, parts.limits, parts.policies
        self._tools = parts.tools
        self._call = CallReader(window, parts)
        self._name: str | None = None
        self._id: str | None = None
        self._own_ends: frozenset[str] = frozenset()
        self._end_reported = False
        self._dropping = False
        self._body_begun = False
        self.reported = False
        self.marker: str | None = None

    def begin(self, routed: Routed) -> None:
        """Begin a body whose header leads to a tool."""
        routes, self._name, self._id = routed
        self._body_begun = False
        self.reported = False
        self._own_ends = frozenset(route.end for route in routes if route.end)
        self._call.begin([call for route in routes for call in route.calls], name=self._name, call_id=self._id)

    def read_unmarked(self, routed: Routed, body: str, start: int, end: str) -> None:
        """Report the call of a message whose header lacks the marker of the body.

        Where the body begins is a guess, so the call is complete only if its tool is declared and the schema holds.

        Args:
            routed: where the header leads.
            body: the text after the header.
            start: its absolute position.
            end: the marker that ends the message; empty: the text has ended.
        """
        arguments, whole, half = object_in(body, self._ends, is_cut=end == "")
        whole = whole and any(route.end.startswith(end or half) for route in routed.routes)
        tool = (self._tools or {}).get(routed.name or "")
        span = (start, start + len(body))
        self._out.call_start(routed.name or "", routed.call_id, (start, start))
        self._out.call_delta(arguments, span)
        complete = whole and tool is not None and mismatch(tool.parameters or {}, json.loads(arguments)) is None
        self._out.call_end(complete=complete, span=span[1:] * 2)

    def read(self, state: State, *, final: bool) -> Outcome | None:
        """Read on in a state; `final`: no more text comes."""
        return self._READERS[state](self, final)

    def plain_run(self) -> PlainRun | None:
        """The plain run of the arguments, inside a string that is passed on as it comes; else None."""
        run = self._call.plain_run()
        return None if run is None else run._replace(stops=run.stops | self._router.end_markers.firsts)

    def skip(self, size: int) -> None:
        """Skip `size` characters of the arguments, which the fast path has passed on."""
        self._call.skip(size)

    def _matching(self, final: bool) -> Outcome | None:
        before_end = self._is_before_end()
        if before_end and not final:
            return None
        found = self._call.match(final=final, before_end=before_end)
        if isinstance(found, NotACall):
            return self._unreadable_call()
        if found == "truncated":
            self._call.fail(truncated=True)
        self.reported = self.reported or found == "call"
        return found

    def _is_before_end(self) -> bool:
        """Whether all text of the body so far may be the beginning of a message's end."""
        window = self._window
        if self._body_begun:
            return False
        index = window.after_whitespace(window.pos)
        if index == len(window.text):
            return False
        at, marker = self._router.find(self._window, self._router.end_markers, final=False)
        self._body_begun = at > index or marker is not None
        return not self._body_begun

    def _unreadable_call(self) -> Outcome:
        """Handle a body that matches no pattern of the call."""
        self._window.rewind()
        self._out.malformed("E-PARSE-CALL", "the arguments of this call cannot be read", self._window.place)
        if self._name is None:
            return "text"
        self._dropping = self._policies.malformed == "drop"
        if not self._dropping:
            self._out.call_start(self._name, self._id, self._window.place)
            self.reported = True
        return "malformed"

    def _unreadable(self, final: bool) -> Outcome | None:
        """Pass on arguments that cannot be read, up to the end of the message."""
        window = self._window
        at, marker = self._router.find(self._window, self._router.end_markers, final=final)
        start, text = window.here, window.take(at)
        if text and not self._dropping:
            self._out.call_delta(text, (start, window.here))
        if marker is None and not final:
            return None
        return self._end(marker, complete=False)

    def _end(self, marker: str | None, *, complete: bool) -> Outcome:
        """End the call and its message."""
        if not self._dropping:
            self._out.call_end(complete=complete, span=self._window.place)
        self._dropping = False
        self.marker = marker
        return "end"

    def _arguments(self, final: bool) -> Outcome | None:
        call, window = self._call, self._window
        if not call.source.ends_at_markers:
            return self._delimited_arguments(final)
        while True:
            at, marker = self._router.find(self._window, self._router.end_markers, final=False)
            start = window.here
            window.message_end = window.base + at if marker is not None else -1
            found = call.read_arguments(final=False, end=at)
            if found is None and window.pos == len(window.text) and not final:
                return None
            if found is None and window.here == start and call.source.in_string and not window.is_token(at):
                # Inside a string, a marker that is spelled by text tokens is text; only a special token ends it.
                passed = at + len(marker) if marker is not None else len(window.text) if final else at
                if passed > at:
                    at, window.message_end = passed, -1
                    found = call.read_arguments(final=False, end=at)
            if found is not None:
                return self._arguments_over() if found == "whole" else "malformed"
            if window.here == start:
                break
        if marker is None and not final:
            return None
        if call.end_arguments(at, closes=marker in self._own_ends):
            return self._arguments_over()
        if marker is None:
            # The rest is the beginning of an end marker.
            window.move(len(window.text))
        self._out.malformed("E-PARSE-TRUNCATED", "the message ends inside a call", window.place)
        return self._end(marker, complete=False)

    def _delimited_arguments(self, final: bool) -> Outcome | None:
        """Read arguments that have their own end."""
        call = self._call
        found = call.read_arguments(final=final)
        if found == "whole":
            return self._arguments_over()
        if found is None:
            return None
        call.fail(truncated=found == "truncated")
        return "truncated"

    def _arguments_over(self) -> Outcome:
        """End complete arguments."""
        self._end_reported = self._call.has_closer
        if self._end_reported:
            return self._call.close(may_have_id=self._reads_closers)
        self._window.mark()
        return "closer"

    def _envelope(self, final: bool) -> Outcome | None:
        return self._call.read_envelope(final=final)

    @property
    def _reads_closers(self) -> bool:
        """Whether the call has a closer of its own, before the end of its message."""
        closers = self._call.closers
        return bool(closers) and closers.isdisjoint(self._ends)

    def _closers(self, final: bool) -> Outcome | None:
        if self._reads_closers and self._call.read_closers(final=final) is None:
            return None
        self._window.rewind()
        self._window.mark()
        return "closer"

    def _after_arguments(self, final: bool) -> Outcome | None:
        """Read the end of the message; nothing else may come."""
        window = self._window
        at, marker = self._router.find(self._window, self._router.end_markers, final=False)
        index = window.after_whitespace(window.pos)
        if index < at:
            window.rewind()
            self._out.malformed("E-PARSE-ARGUMENTS", "text after the arguments of a call", window.place)
            return "text" if self._end_reported else "malformed"
        window.move(at)
        if marker is None and not final:
            return None
        window.unmark()
        here = window.place
        sound = not self._own_ends or marker in self._own_ends
        if marker is None:
            begun = window.take(len(window.text))
            sound = sound or any(end.startswith(begun) for end in self._own_ends)
            if begun:
                self._out.malformed("E-PARSE-CLOSER", "the closing marker of a call is cut", here)
        elif not sound:
            self._out.malformed("E-PARSE-CLOSER", "a call that does not end as one", here)
        self.marker = marker
        return "end" if self._end_reported else self._end(marker, complete=sound)

    _READERS: ClassVar[dict[State, Callable[[MessageCallReader, bool], Outcome | None]]] = {
        State.MATCHING: _matching,
        State.ARGUMENTS: _arguments,
        State.ENVELOPE: _envelope,
        State.CLOSERS: _closers,
        State.UNREADABLE: _unreadable,
        State.AFTER_ARGUMENTS: _after_arguments,
    }
