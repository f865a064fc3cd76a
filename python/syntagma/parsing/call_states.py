"""The states around calls: the race of alternatives, the arguments, what follows them."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple, TypeAlias

from syntagma.events import Span
from syntagma.limits import Limits
from syntagma.messages import Tool
from syntagma.parsing.after_call import CallEnd
from syntagma.parsing.call_matcher import Cursor
from syntagma.parsing.call_patterns import Alternative, Section
from syntagma.parsing.compiled_format import CompiledFormat
from syntagma.parsing.emitter import Emitter
from syntagma.parsing.fast_path import Straight
from syntagma.parsing.policies import Policies
from syntagma.parsing.text.window import Window

__all__ = ["CallStates", "Phase", "ReaderParts", "State"]

Phase: TypeAlias = Literal["content", "reasoning", "interrupted", "race", "call"]
State: TypeAlias = Callable[[bool], bool]
"""Reads on; whether there is more to do. The argument: no more text comes."""


class ReaderParts(NamedTuple):
    """What a reader of one message works with.

    Attributes:
        compiled: the format.
        emitter: what is told what was read.
        limits: bounds on held text.
        policies: the caller's choices.
        tools: the declared tools by name; None: undeclared.
    """

    compiled: CompiledFormat
    emitter: Emitter
    limits: Limits
    policies: Policies
    tools: Mapping[str, Tool] | None


class CallStates(ABC):
    """The part of the reader's states that deals with calls.

    Attributes:
        window: the text.
        phase: where the reader is.
        content_begun: the answer has a character that is not blank, or a call was read.
    """

    def __init__(self, parts: ReaderParts) -> None:
        self.window = Window()
        self._compiled, self._out, self._limits, self._policies, self._tools = parts
        self._state: State = self._content
        self.phase: Phase = "content"
        self.content_begun = False
        self._call_end = CallEnd(self.window, parts.compiled, parts.emitter)
        self._cursors: list[Cursor] = []
        self._cursor: Cursor | None = None
        self._race_at = 0
        self._argument_chars = 0
        self._end_told = False

    @abstractmethod
    def _content(self, final: bool) -> bool:
        """The state outside calls and reasoning."""

    @abstractmethod
    def _answer(self, end: int) -> None:
        """The text up to index `end` is content."""

    def _go(self, state: State, phase: Phase) -> bool:
        self._state, self.phase = state, phase
        return True

    def _race(self, alternatives: list[Alternative]) -> bool:
        window = self.window
        window.mark()
        self._race_at = window.here
        self._cursors = [Cursor(one, window.here, self._limits) for one in alternatives]
        for cursor in self._cursors:
            cursor.infer = self._infer
        return self._go(self._racing, "race")

    def _dies_at_once(self, marker: str, at: int) -> bool:
        """Whether the marker at this index begins no call, as a race would find; what it would report is reported."""
        window = self.window
        if window.knows_tokens or self._policies.malformed == "drop" or self._limits.parser_header_chars < 1024:
            return False
        last, meant = at, False
        section: Section | None = None
        inside = self._call_end.open_section is not None
        for opening in self._compiled.openings(marker):
            died = opening.dies(window.text, at)
            if died is None:
                return False
            end, named = died
            last = max(last, end)
            if named:
                alternative = opening.alternative
                meant = meant or inside or alternative.intended
                section = section or alternative.section
        if meant:
            self._answer(at)
            self._no_call("E-PARSE-CALL", (window.base + at, window.base + last))
        if section is not None:
            self._call_end.section_seen(section)
        return True

    def _no_call(self, code: str, span: Span) -> None:
        self._out.malformed(code, "this is no call after all", span)

    def _racing(self, final: bool) -> bool:
        window = self.window
        for cursor in self._cursors:
            if cursor.status == "more":
                cursor.run(window)
            if cursor.status == "commit" and not self._allowed(cursor):
                cursor.status = "dead"
        committed = [cursor for cursor in self._cursors if cursor.status == "commit"]
        if committed:
            return self._commit(min(committed, key=lambda one: (one.commit_at, -one.alternative.weight)))
        alive = [cursor for cursor in self._cursors if cursor.status == "more"]
        if not alive:
            return self._dead()
        if final:
            named = [one for one in alive if one.known_name and one.alternative.framed and self._allowed(one)]
            return self._cut(named[0]) if named else self._dead()
        window.pos = min(cursor.pos for cursor in alive) - window.base
        return False

    def _infer(self, arguments: str) -> str | None:
        """The only declared tool that takes these arguments, told by their keys."""
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

    def _allowed(self, cursor: Cursor) -> bool:
        known = self._tools is None or cursor.known_name in self._tools
        return known or self._policies.unknown_tool == "pass"

    def _commit(self, cursor: Cursor) -> bool:
        window = self.window
        assert cursor.name is not None
        assert cursor.source is not None
        window.pos = cursor.pos - window.base
        window.unmark()
        span = (self._race_at, cursor.commit_at)
        if self._tools is not None and cursor.name not in self._tools:
            self._out.malformed("E-PARSE-TOOL", f"no tool {cursor.name!r} was declared", span)
        if cursor.header_name not in (None, cursor.name):
            self._out.malformed("E-PARSE-NAME", f"{cursor.header_name!r} and {cursor.name!r} name one call", span)
        self._out.call_start(cursor.name, cursor.id, span)
        tool = (self._tools or {}).get(cursor.name)
        cursor.source.declare(tool.parameters if tool is not None else None)
        self._cursor = cursor
        self._argument_chars = 0
        self.content_begun = True
        self._cursors = []
        return self._go(self._arguments, "call")

    def _cut(self, cursor: Cursor) -> bool:
        """The stream ended between the name of a call and its arguments."""
        window = self.window
        assert cursor.known_name is not None
        window.pos = len(window.text)
        window.unmark()
        self._out.call_start(cursor.known_name, cursor.id, (self._race_at, window.here))
        return self._truncated()

    def _truncated(self) -> bool:
        here = self.window.here
        self._out.malformed("E-PARSE-TRUNCATED", "the text ends inside a call", (here, here))
        self._out.call_end(complete=False, span=(here, here))
        return self._go(self._content, "content")

    def _dead(self) -> bool:
        """No alternative reads on: the text is content, and what is in it is looked at again."""
        window = self.window
        last = max(cursor.pos for cursor in self._cursors)
        inside = self._call_end.open_section is not None
        meant = [one for one in self._cursors if one.begun and (inside or one.alternative.intended)]
        loose = next((one for one in self._cursors if one.alternative.section and one.begun), None)
        whole = next((one for one in self._cursors if one.balanced is not None and one.alternative.bare_call), None)
        if meant:
            code = "E-LIMIT-HEADER" if any(one.over_limit for one in meant) else "E-PARSE-CALL"
            self._no_call(code, (self._race_at, last))
        section = loose.alternative.section if loose else None
        if section is not None:
            self._call_end.section_seen(section)
        in_section = whole is not None and self._call_end.section is not None
        release_to = whole.balanced if in_section and whole and whole.balanced else self._race_at + 1
        self._cursors = []
        window.rewind()
        if meant and self._policies.malformed == "drop":
            release_to = max(release_to, last)
            window.pos = min(len(window.text), release_to - window.base)
        else:
            self._answer(release_to - window.base)
        if in_section:
            self._call_end.begin_loose()
            return self._go(self._after_call, "call")
        return self._go(self._content, "content")

    def _arguments(self, final: bool) -> bool:
        window, cursor = self.window, self._cursor
        assert cursor is not None
        assert cursor.source is not None
        text, pos, base = window.text, window.pos, window.base
        size = len(text)
        room = self._limits.parser_argument_chars - self._argument_chars
        after, fragment = cursor.source.feed(text, pos, size if size - pos <= room else pos + room)
        self._argument_chars += after - pos
        window.pos = after
        start = base + pos
        self._out.call_delta(fragment, (start, base + after))
        if cursor.source.done:
            return self._arguments_end(cursor)
        if cursor.source.bad or self._argument_chars >= self._limits.parser_argument_chars:
            code = "E-PARSE-ARGUMENTS" if cursor.source.bad else "E-LIMIT-ARGUMENT"
            self._out.malformed(code, "the arguments cannot be read from here on", (window.here, window.here))
            self._out.call_end(complete=False, span=(window.here, window.here))
            self._call_end.section_seen(cursor.alternative.section, live=True)
            return self._go(self._content, "content")
        if not final and after == size:
            return False  # the usual way out: everything was read, and the arguments go on
        if fragment or after > pos:
            return True
        if not final:
            return False
        self._out.call_delta(cursor.source.finish(window.text[window.pos :]), (start, window.end))
        window.pos = len(window.text)
        return self._truncated()

    def _straight_arguments(self) -> Straight | None:
        """The arguments, where they are inside a string."""
        source = self._cursor.source if self._cursor is not None else None
        string = source.open_string if source is not None else None
        if string is None:
            return None
        return Straight(
            "arguments", string.stops, self._limits.parser_argument_chars - self._argument_chars, string.spell
        )

    def passed(self, way: Straight, size: int) -> None:
        """Text of what the reader is in the middle of went straight on."""
        self.window.skip(size)
        if way.kind == "arguments":
            self._argument_chars += size

    def _arguments_end(self, cursor: Cursor) -> bool:
        here = (self.window.here, self.window.here)
        envelope = cursor.envelope
        goes_on = envelope is not None and envelope.status == "commit"
        self._end_told = not (goes_on and cursor.alternative.form.late_id and not cursor.id)
        if self._end_told:
            self._out.call_end(complete=True, span=here)
        if envelope is not None and goes_on:
            envelope.resume()
            return self._go(self._envelope_rest, "call")
        self._call_end.begin(cursor.alternative)
        return self._go(self._after_call, "call")

    def _envelope_rest(self, final: bool) -> bool:
        window, cursor = self.window, self._cursor
        assert cursor is not None
        assert cursor.envelope is not None
        reader = cursor.envelope
        window.pos = reader.run(window.text, window.pos, len(window.text))
        if reader.status == "more" and not final:
            return False
        if not self._end_told:
            self._out.call_end(complete=True, span=(window.here, window.here), late_id=reader.id)
        if reader.status != "end":
            self._out.malformed("E-PARSE-CLOSER", "the object of a call is not closed", (window.here, window.here))
        self._call_end.begin(cursor.alternative)
        return self._go(self._after_call, "call")

    def _after_call(self, final: bool) -> bool:
        found = self._call_end.read(final=final)
        if found == "more":
            return False
        if isinstance(found, list):
            return self._race(found)
        window = self.window
        window.rewind()
        edge = found
        if window.text.startswith(edge, window.pos):
            window.pos += len(edge)
        return self._go(self._content, "content")
