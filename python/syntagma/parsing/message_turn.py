"""Reads turns that are a sequence of messages with headers, and routes each message by its header.

`MESSAGES` in `states` has every transition; `STEPS` at the end has the method for each state.

A message whose header leads nowhere goes where the format says. `header_router` finds the markers of messages,
`message_header` reads headers, `message_text` passes on text, `message_call` reads calls.
"""

from __future__ import annotations

from typing import ClassVar

from syntagma.format_schema.facts import Block
from syntagma.json_types import WHITESPACE
from syntagma.parsing.call_reader import ReaderParts
from syntagma.parsing.fast_path import PlainRun
from syntagma.parsing.header_router import HeaderRouter, Routed, RouteKind
from syntagma.parsing.message_call import MessageCallReader
from syntagma.parsing.message_header import Header
from syntagma.parsing.message_markers import HeaderText, marker_effect
from syntagma.parsing.message_text import MessageText
from syntagma.parsing.states import MESSAGES, Outcome, State
from syntagma.parsing.turn_reader import Steps, TurnReader, end_of_first

__all__ = ["MessageTurnReader"]


class MessageTurnReader(TurnReader):
    """A `TurnReader`; see there for what its methods and attributes mean."""

    FOLLOWING: ClassVar = MESSAGES.following

    def __init__(self, parts: ReaderParts, router: HeaderRouter) -> None:
        super().__init__(State.HEADER, reasoning_done=not parts.compiled.blocks)
        self._router = router
        self._reads_calls = parts.compiled.calls
        self._out, self._limits, self._policies, self._tools = parts[1:]
        self._text = MessageText(self.window, router, self._out, parts.compiled.told.firsts)
        self._call = MessageCallReader(self.window, router, parts)
        # Whether the turn may be over, and from which absolute position on.
        self._stopped = False
        self._over_from = 0
        self._header_text = self._begin_header(router.role, prompted=True)

    @property
    def pending(self) -> str:
        """See `TurnReader`."""
        return self._call.pending

    def plain_run(self) -> PlainRun | None:
        """See `TurnReader`."""
        if not self.window.is_empty:
            return None
        if self.state is State.REASONING or self.state is State.ANSWER:
            return self._text.plain_run()
        return self._call.plain_run() if self.state is State.ARGUMENTS else None

    def skip(self, run: PlainRun, size: int) -> None:
        """See `TurnReader`."""
        self.window.skip(size)
        if run.kind == "arguments":
            self._call.skip(size)

    # ---- where the output begins

    def read_prompt(self, tail: str, *, certain: bool) -> bool:
        """See `TurnReader`."""
        self.window.begin(tail if certain else "")
        self.read()
        return self.state.is_reasoning or self.wrapper_open

    def begin_output(self) -> None:
        """See `TurnReader`."""
        self._text.content_begun = self._call.reported = False
        if self.state is State.HEADER and self._header_text.is_empty:
            # The prompt holds the opener of the first message, even if it was not read here.
            self._header_text.prompted, self._header_text.has_marker = True, False

    def open_reasoning(self, opener: str | None) -> None:  # noqa: ARG002  # the header says which
        """See `TurnReader`; the output may still begin with a header."""
        self.reasoning_done = False
        self.state = State.START_IN_REASONING

    def close_reasoning(self) -> None:
        """See `TurnReader`."""
        self.window.unmark()
        self.wrapper_open = True
        self._text.begin("content", None)
        self.state = State.ANSWER

    @property
    def undecided(self) -> str:
        """See `TurnReader`: the header that has begun, without the opener of the message."""
        whole = self.window.marked() + self.window.unread
        return next((whole.removeprefix(one) for one in self._router.starts if whole.startswith(one)), whole)

    @property
    def inside_call(self) -> bool:
        """See `TurnReader`."""
        return self.state.now == "call"

    @property
    def opener(self) -> str:
        """See `TurnReader`; every message has its own header."""
        return ""

    @property
    def prompted_opener(self) -> str:
        """See `TurnReader`."""
        return self._text.header or "" if self.state.is_reasoning else ""

    def _repeated_opener(self, final: bool) -> Outcome | None:
        """Read a header that the model writes although reasoning is open already; the header counts."""
        router = self._router
        words = tuple(field for field in router.fields if field not in router.sections)
        texts = (*router.begins, *router.sections, *(word.strip() for word in words))
        end = end_of_first(self.window, texts, router.markers, final=final)
        if end is None:
            return None
        if end:
            return "header"
        self.window.unmark()
        return self._begin_body("reasoning", None)

    # ---- between messages

    def _end_message(self, *, stopped: bool = False) -> Outcome:
        """Go on after a message; `stopped`: the turn may be over."""
        self._stopped = stopped
        self.wrapper_open = False
        self.window.unmark()
        self._out.marker_read()
        return "end"

    def _between_messages(self, final: bool) -> Outcome | None:
        """Read text between messages: it belongs to none, unless it is a header without its opener."""
        window, router = self.window, self._router
        window.mark()
        at, marker = self._router.find(window, self._router.frame_markers, final=final)
        if self._stopped:
            index = window.after_whitespace(window.pos)
            if index < at:
                window.move(index)
                return self._end_turn()
        room = self._limits.parser_header_chars - len(window.marked())
        if at - window.pos > room:
            window.move(window.pos + room)
            self._text_outside_message()
            return "text"
        window.move(at)
        if marker is None:
            if final:
                self._text_outside_message()
            return None
        effect = marker_effect(router.kinds[marker], None, stopped=self._stopped)
        if effect == "turn is over":
            return self._end_turn()
        if effect == "begins unopened":
            return self._begin_unopened_header()
        self._text_outside_message()
        if effect == "begins":
            return self._open_message(marker)
        here = window.here
        window.move(window.pos + len(marker))
        self._out.malformed("E-PARSE-STRAY", "the end of a message that was not begun", (here, window.here))
        return self._end_message(stopped=self._stopped)

    def _begin_unopened_header(self) -> Outcome:
        """Begin a header without its opener at its first marker, which is next; text before it may be a part of it."""
        window, router = self.window, self._router
        text = router.unopened_header(window.marked()) if router.role else None
        if text is None:
            self._text_outside_message()
            text = router.role
            window.mark()
        self._header_text = self._begin_header(text, repaired=bool(router.begins))
        return "header"

    def _end_turn(self) -> Outcome:
        self._over_from = self.window.here
        return "over"

    def _after_turn(self, final: bool) -> None:
        """Read text after the end of the turn."""
        window = self.window
        window.unmark()
        window.move(len(window.text))
        if final and window.here > self._over_from:
            span = (self._over_from, window.here)
            self._out.malformed("E-PARSE-AFTER-END", "text after the end of the turn", span)

    def _text_outside_message(self) -> None:
        """Report the text from the mark on, which belongs to no message."""
        window = self.window
        text = window.marked()
        bare = text.strip(WHITESPACE)
        window.unmark()
        if bare:
            start = window.here - len(text) + text.index(bare)
            self._out.malformed("E-PARSE-HEADER", "text outside of any message", (start, start + len(bare)))
            self._text.pass_on(self._router.otherwise, bare, start)
            self._text.end(self._router.otherwise)
            self.ends_in_reasoning = self._router.otherwise == "reasoning"

    # ---- headers

    def _open_message(self, begin: str, *, repaired: bool = False) -> Outcome:
        """Read the opener of a message, which is next."""
        window = self.window
        window.mark_again()
        window.move(window.pos + len(begin))
        self._header_text = self._begin_header("", repaired=repaired)
        return "header"

    def _begin_header(self, text: str, *, prompted: bool = False, repaired: bool = False) -> HeaderText:
        """Begin a header, whose first section begins with this text."""
        self.window.mark()
        role = self._router.role
        text += " " if text and text == role else ""
        self._stopped = False
        return HeaderText(text, self.window.here, role=role, prompted=prompted, repaired=repaired)

    def _header(self, final: bool) -> Outcome | None:
        window = self.window
        at, marker = self._router.find(window, self._router.frame_markers, final=final)
        room = self._limits.parser_header_chars - self._header_text.size
        if at - window.pos > room:
            self._add_to_header(window.pos + max(0, room))
            self._out.malformed("E-LIMIT-HEADER", "a header that does not end", window.place)
            kind = self._header_without_body()
            return self._begin_body(kind or self._router.otherwise, None, loose=True)
        self._add_to_header(at)
        if marker is not None:
            return self._marker_in_header(marker)
        if not final:
            return None
        kind = self._header_without_body("" if not self._out.is_cut else None, is_cut=self._out.is_cut)
        if kind is not None:
            self._text.end(kind)
        self._header_text = self._begin_header("")
        return None

    def _add_to_header(self, end: int) -> None:
        """Add the text up to index `end` to the header."""
        window = self.window
        self._header_text.add(window.take(end))

    def _marker_in_header(self, marker: str) -> Outcome:
        """Read a marker inside a header, which is next."""
        window, header = self.window, self._header_text
        effect = marker_effect(self._router.kinds[marker], header, stopped=False)
        if effect == "begins again":
            if not header.prompted:
                self._out.malformed("E-PARSE-HEADER", "a message begins twice", window.place)
            return self._open_message(marker, repaired=not header.prompted)
        header.has_marker = True
        if effect == "body":
            window.move(window.pos + len(marker))
            return self._body_begins()
        if effect == "section":
            window.move(window.pos + len(marker))
            header.begin_section(marker, window.here)
            header.size += len(marker)
            return "header"
        kind = self._header_without_body(marker if effect == "ends header" else None)
        if effect == "ends header":
            return self._end_marker(kind or self._router.otherwise, marker)
        if kind is not None:
            self._text.end(kind)
        return self._open_message(marker)

    def _read_header(self, *, closed: bool) -> tuple[Header, Routed]:
        """The content of the header, and where it leads."""
        header = self._header_text.read(self._router.shape, closed=closed)
        span = (self.window.here - len(self.window.marked()), self.window.here)
        for message in header.problems:
            self._out.malformed("E-PARSE-HEADER", message, span)
        routed = self._router.route(header)
        if not header.problems and not (header.is_sound and routed.routes):
            what = "a header that leads nowhere" if header.is_sound else "a header that is not whole"
            self._out.malformed("E-PARSE-HEADER", what, span)
        return header, routed

    def _body_begins(self) -> Outcome:
        """Begin the body, after its marker."""
        _, routed = self._read_header(closed=True)
        found = routed.routes
        window = self.window
        raw = window.marked()
        start = window.here - len(raw)
        kind: RouteKind = found[0].kind if found else self._router.otherwise
        window.unmark()
        self.ends_in_reasoning = False
        opener = next((one for one in self._router.starts if raw.startswith(one)), "")
        if kind == "call":
            # If a call stays text, the opener of its message is part of that text only after other text.
            shown = "" if self._text.content_begun else opener
            return self._begin_call(routed, raw[len(shown) :], start + len(shown))
        if kind == "reasoning":
            self._text.header = raw[len(opener) :]
            self._out.reasoning_marker(self._text.header, start + len(opener))
        return self._begin_body(kind, found[0].block if found else None)

    def _header_without_body(self, end: str | None = None, *, is_cut: bool = False) -> RouteKind | None:
        """Handle a header that ends without the marker of the body: the body is in it. None: it holds no body.

        Args:
            end: the marker that ends the message, which is next; empty: the text has ended; None: neither.
            is_cut: whether a limit has cut the text in it.
        """
        window = self.window
        raw = window.marked()
        start = window.here - len(raw)
        kind: RouteKind
        routed = Routed([])
        if self._header_text.is_unformatted:
            header, kind = self._header_text.without_format(), "content"
            if raw.strip(WHITESPACE):
                self._out.malformed("E-PARSE-HEADER", "a message without a header", (start, window.here))
        else:
            header, routed = self._read_header(closed=False)
            kind = routed.routes[0].kind if routed.routes else self._router.otherwise
            if is_cut and raw.strip(WHITESPACE):
                # It is not certain where the message goes or which tool it calls, whatever was read of it.
                self._out.malformed("E-PARSE-TRUNCATED", "the text ends inside a header", (start, window.here))
        window.unmark()
        pieces = self._header_text.text_outside_fields(header)
        if not any(text for _, text in pieces):
            self._out.reasoning_marker(raw, start)
            if raw.strip(WHITESPACE) and header.is_sound:
                self._out.malformed("E-PARSE-HEADER", "a header without a body", (start, window.here))
            return None
        if kind == "call":
            ((place, text), *others) = pieces
            if self._reads_calls and not others and text.startswith("{") and end is not None:
                self._call.read_unmarked(routed, text, place, end)
                self._text.content_begun = True
                return kind
            kind = self._router.otherwise
        self.ends_in_reasoning = kind == "reasoning"
        passed = start
        for place, text in pieces:
            if kind == "reasoning":
                self._out.reasoning_marker(raw[passed - start : place - start], passed)
            self._text.pass_on(kind, text, place)
            passed = place + len(text)
        if kind == "reasoning":
            self._out.reasoning_marker(raw[passed - start :], passed)
        return kind

    # ---- bodies that are text

    def _begin_body(self, kind: RouteKind, block: Block | None, *, loose: bool = False) -> Outcome:
        """Begin a body of text, up to the end of the message; `loose`: or up to the beginning of the next."""
        self.wrapper_open = kind == "content"
        self._text.begin(kind, block, loose=loose)
        return kind

    def _before_body(self, final: bool) -> Outcome | None:
        return self._text.read_edge(final=final)

    def _body(self, final: bool) -> Outcome | None:
        end = self._text.read(final=final)
        return None if end is None else self._end_marker(self._text.kind, end)

    def _end_marker(self, kind: RouteKind, end: str) -> Outcome:
        """Read the end marker of a message, which is next."""
        self.ends_in_reasoning = False
        if self._router.keeps_ends or end in self._router.begins:
            self._text.end(kind)
            return self._end_message()
        if kind == "reasoning":
            self._out.reasoning_marker(end, self.window.here)
        self.window.move(self.window.pos + len(end))
        self._text.end(kind)
        return self._end_message(stopped=end in self._router.stops)

    # ---- bodies that are calls

    def _begin_call(self, routed: Routed, header: str, start: int) -> Outcome:
        """Begin the body of a call; `header` was read from absolute position `start` on."""
        name = routed.name
        unwanted = name is not None and self._tools is not None and name not in self._tools
        if not self._reads_calls or (unwanted and self._policies.unknown_tool == "content"):
            self._out.content(header, start)
            self._text.content_begun = True
            return "quoted call"
        self._call.begin(routed)
        return "call"

    def _call_as_text(self, final: bool) -> Outcome | None:
        """Pass on a call that is not read as one, as text with its markers."""
        window = self.window
        at, marker = self._router.find(window, self._router.end_markers, final=final)
        end = at + (len(marker) if marker is not None and not self._router.keeps_ends else 0)
        if end > window.pos:
            start = window.here
            self._text.pass_on("content", window.take(end), start)
        return None if marker is None else self._end_message(stopped=marker in self._router.stops)

    def _call_body(self, final: bool) -> Outcome | None:
        found = self._call.read(self.state, final=final)
        self._text.content_begun = self._text.content_begun or self._call.reported
        if found == "text":
            return self._begin_body(self._router.otherwise, None)
        if found == "end":
            marker = self._call.marker
            return self._end_message() if marker is None else self._end_marker("call", marker)
        return found

    STEPS: ClassVar[Steps] = {
        State.START_IN_REASONING: _repeated_opener,
        State.BETWEEN_MESSAGES: _between_messages,
        State.HEADER: _header,
        State.BEFORE_ANSWER: _before_body,
        State.ANSWER: _body,
        State.BEFORE_REASONING: _before_body,
        State.REASONING: _body,
        State.CALL_AS_TEXT: _call_as_text,
        State.MATCHING: _call_body,
        State.ARGUMENTS: _call_body,
        State.ENVELOPE: _call_body,
        State.CLOSERS: _call_body,
        State.UNREADABLE: _call_body,
        State.AFTER_ARGUMENTS: _call_body,
        State.AFTER_TURN: _after_turn,
    }
