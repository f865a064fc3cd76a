"""The bodies of messages with headers: free text up to any end of a message, and calls."""

from __future__ import annotations

from abc import abstractmethod
from typing import Literal

from syntagma.parsing.call_matcher import Cursor
from syntagma.parsing.call_patterns import Block, marker_pieces
from syntagma.parsing.call_states import ReaderParts
from syntagma.parsing.fast_path import FAR, Straight
from syntagma.parsing.header_router import Route, RouteKind
from syntagma.parsing.machine import Machine
from syntagma.parsing.text.scanner import Scanner

__all__ = ["CallBodies"]


class CallBodies(Machine):
    """What follows a header.

    Whatever stands in the body of a call belongs to the call: arguments that cannot be read are passed on as they are,
    and the call is incomplete.
    """

    def __init__(self, parts: ReaderParts) -> None:
        super().__init__(parts)
        assert parts.compiled.routes is not None
        self._routes = parts.compiled.routes
        self._ends = Scanner(self._routes.ends)
        self._body_kind: RouteKind = "content"
        self._body_scanner = self._ends
        self._edges: dict[str, str] = {}
        self._own_ends: frozenset[str] = frozenset()
        self._called: str | None = None
        self._told = False
        self._dropping = False

    @abstractmethod
    def _between_messages(self, *, stopped: bool = False) -> bool:
        """Go on behind a message; `stopped`: the turn may be over."""

    def _next(self, scanner: Scanner, start: int, *, final: bool) -> tuple[int, str | None]:
        """The first marker from index `start` on that is no look-alike, as `Scanner.search` gives it."""
        window = self.window
        while True:
            at, key = scanner.search(window.text, start, final=final)
            if key is None or window.are_markers(at, marker_pieces(key)):
                return at, key
            start = at + 1

    def _emit(self, kind: RouteKind | Literal["raw"], text: str, start: int) -> None:
        if kind == "reasoning":
            self._prefilled = None
            self._out.thought(text, start)
        else:
            self._out.content(text, start)
            self.content_begun = self.content_begun or not text.isspace()

    def _message_over(self, kind: RouteKind) -> None:
        if kind == "reasoning":
            self._prefilled = None
            self._out.thoughts_end()

    def _end_marker(self, kind: RouteKind, end: str) -> bool:
        """The end of a message is next."""
        self.cut = False
        if self._routes.keeps_ends or end in self._routes.begins:
            self._message_over(kind)
            return self._between_messages()
        if kind == "reasoning":
            self._out.tag(end, self.window.here)
        self.window.pos += len(end)
        self._message_over(kind)
        return self._between_messages(stopped=end in self._routes.stops)

    # ---- free text

    def straight(self) -> Straight | None:
        """See `Machine`."""
        if self._state == self._body and self.window.is_empty and self._body_kind != "call":
            plain = self._body_kind == "reasoning" or self.content_begun
            return Straight(self._body_kind, self._body_scanner.firsts, FAR) if plain else None
        way = super().straight() if self._state == self._arguments else None
        return None if way is None else way._replace(stops=way.stops | self._ends.firsts)

    def _text_body(self, kind: RouteKind, block: Block | None, *, loose: bool = False) -> bool:
        """Text of this kind comes, up to the end of the message; `loose`: or up to the beginning of the next."""
        self._body_kind = kind
        self.wrapper_open = kind == "content"
        before = block.before_closer if block is not None else ""
        content = self._compiled.spec.content
        drop = content.drop if content is not None and kind == "content" else ()
        self._edges = {**dict.fromkeys(drop, ""), **{before + end: end for end in self._routes.ends}}
        self._edges.update({end: end for end in (*self._routes.ends, *(self._routes.begins if loose else ()))})
        self._body_scanner = Scanner(self._edges)
        phase: Literal["reasoning", "content"] = "reasoning" if kind == "reasoning" else "content"
        if block is None:
            return self._go(self._body, phase)
        return self._eat(block.after_opener, self._body, phase, tag=kind == "reasoning")

    def _body(self, final: bool) -> bool:
        window = self.window
        at, key = self._next(self._body_scanner, window.pos, final=final)
        if at > window.pos:
            self._emit(self._body_kind, window.text[window.pos : at], window.here)
            window.pos = at
        if key is None:
            return False
        end = self._edges[key]
        if not end:
            window.pos += len(key)
            return True
        if self._body_kind == "reasoning" and key != end:
            self._out.tag(key[: -len(end)], window.here)
        window.pos += len(key) - len(end)
        return self._end_marker(self._body_kind, end)

    # ---- calls

    def _call_begins(self, routes: list[Route], name: str | None, header: str, start: int) -> bool:
        """The body of a call is next; `header` was read from absolute position `start` on."""
        unwanted = name is not None and self._tools is not None and name not in self._tools
        if not self._compiled.calls or (unwanted and self._policies.unknown_tool == "content"):
            self._out.content(header, start)
            self.content_begun = True
            return self._raw_body()
        self._own_ends = frozenset(route.end for route in routes if route.end)
        self._called = name
        self._race([call for route in routes for call in route.calls])
        for cursor in self._cursors:
            cursor.name = name
        return True

    def _raw_body(self) -> bool:
        """A call that nobody reads as one is text, with its markers."""
        return self._go(self._raw, "content")

    def _raw(self, final: bool) -> bool:
        window = self.window
        at, key = self._next(self._ends, window.pos, final=final)
        behind = at + (len(key) if key is not None and not self._routes.keeps_ends else 0)
        self._answer(behind)
        return key is not None and self._between_messages(stopped=key in self._routes.stops)

    def _dead(self) -> bool:
        """No way to read the call reads on."""
        name, self._cursors = self._called, []
        self.window.rewind()
        here = self.window.here
        self._out.malformed("E-PARSE-CALL", "the arguments of this call cannot be read", (here, here))
        if name is None:
            return self._text_body(self._routes.otherwise, None)
        self._dropping = self._policies.malformed == "drop"
        if not self._dropping:
            self._out.call_start(name, None, (here, here))
            self.content_begun = True
        return self._go(self._unread, "call")

    def _unread(self, final: bool) -> bool:
        """Arguments that cannot be read, up to the end of the message."""
        window = self.window
        at, key = self._next(self._ends, window.pos, final=final)
        text, start = window.text[window.pos : at], window.here
        window.pos = at
        if text and not self._dropping:
            self._out.call_delta(text, (start, window.here))
        if key is None and not final:
            return False
        return self._call_over(key, complete=False)

    def _call_over(self, end: str | None, *, complete: bool) -> bool:
        here = (self.window.here, self.window.here)
        if not self._dropping:
            self._out.call_end(complete=complete, span=here)
        self._dropping = False
        if end is None:
            return self._between_messages()
        return self._end_marker("call", end)

    def _arguments(self, final: bool) -> bool:
        cursor = self._cursor
        assert cursor is not None
        source = cursor.source
        assert source is not None
        if not source.ends_at_markers:
            return super()._arguments(final)
        window = self.window
        at, key = self._next(self._ends, window.pos, final=final)
        quoted = key is not None and at == window.pos and source.in_string and not window.is_token(at)
        if quoted and key is not None:
            # Text inside a string is text, whatever it spells; only a token ends a message there.
            at += len(key)
        room = self._limits.parser_argument_chars - self._argument_chars
        start = window.here
        after, fragment = source.feed(window.text, window.pos, min(at, window.pos + room))
        self._argument_chars += after - window.pos
        window.pos = after
        self._out.call_delta(fragment, (start, window.here))
        if source.done:
            return self._arguments_end(cursor)
        here = (window.here, window.here)
        if source.bad or self._argument_chars >= self._limits.parser_argument_chars:
            code = "E-PARSE-ARGUMENTS" if source.bad else "E-LIMIT-ARGUMENT"
            self._out.malformed(code, "the arguments cannot be read from here on", here)
            return self._go(self._unread, "call")
        if key is None and not final:
            return False
        if quoted or window.here > start:
            return True
        self._out.malformed("E-PARSE-TRUNCATED", "the message ends inside a call", here)
        return self._call_over(key, complete=False)

    def _arguments_end(self, cursor: Cursor) -> bool:
        if cursor.envelope is not None or cursor.alternative.closer:
            self._told = True
            return super()._arguments_end(cursor)
        self._told = False
        self.window.mark()
        return self._go(self._behind_arguments, "call")

    def _after_call(self, final: bool) -> bool:
        cursor = self._cursor
        assert cursor is not None
        ends = {op.text for op in cursor.alternative.closer} & set(self._routes.ends)
        if not ends and cursor.alternative.closer and self._call_end.read(final=final) == "more":
            return False
        self.window.rewind()
        self.window.mark()
        return self._go(self._behind_arguments, "call")

    def _behind_arguments(self, final: bool) -> bool:
        """Nothing but the end of the message may come."""
        window = self.window
        at, key = self._next(self._ends, window.pos, final=final)
        index = window.behind_blanks(window.pos)
        if index < at:
            window.rewind()
            here = (window.here, window.here)
            self._out.malformed("E-PARSE-ARGUMENTS", "text behind the arguments of a call", here)
            return self._text_body(self._routes.otherwise, None) if self._told else self._go(self._unread, "call")
        window.pos = at
        if key is None and not final:
            return False
        window.unmark()
        sound = key is None or not self._own_ends or key in self._own_ends
        if not sound:
            here = (window.here, window.here)
            self._out.malformed("E-PARSE-CLOSER", "a call that does not end as one", here)
        if self._told:
            return self._end_marker("call", key) if key is not None else self._between_messages()
        return self._call_over(key, complete=sound)
