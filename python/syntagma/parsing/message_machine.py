"""The states of turns that are a sequence of messages with headers: between messages, in a header, in a body."""

from __future__ import annotations

from syntagma.parsing.call_bodies import CallBodies
from syntagma.parsing.call_states import ReaderParts
from syntagma.parsing.header_router import Route, RouteKind
from syntagma.parsing.machine import Machine
from syntagma.parsing.message_header import BLANKS, Header, read_header
from syntagma.parsing.text.scanner import Scanner

__all__ = ["MessageMachine", "machine_for"]


class MessageMachine(CallBodies):
    """Reads messages and sends each where its header leads; what leads nowhere goes where the format says."""

    def __init__(self, parts: ReaderParts) -> None:
        super().__init__(parts)
        routes = self._routes
        self._frame = Scanner({*routes.begins, *routes.sections, routes.body, *routes.ends})
        self._sections: list[tuple[str, str]] = []
        self._places: list[int] = []
        self._size = 0
        self._prompted = True
        self._marked = False
        self._repaired = False
        self._stopped = False
        self._over_from = 0
        self._open_header(self._routes.role)

    # ---- the start

    def begin_output(self) -> None:
        """The prompt's tail was read; what comes now is output."""
        self.content_begun = False
        if self._state == self._header and self._is_blank:
            # The prompt holds the opener of the first message, whether or not it was read here.
            self._prompted, self._marked = True, False

    def open_reasoning(self, opener: str | None) -> None:  # noqa: ARG002  # the header says which
        """Start inside thoughts, unless the output begins with a header."""
        self.thinking_done = False
        self._go(self._echo, "reasoning")

    def close_reasoning(self) -> None:
        """Start in an answer, although the prompt has begun thoughts."""
        self.window.unmark()
        self._text_body("content", None)

    def _echo(self, final: bool) -> bool:
        routes = self._routes
        words = tuple(field for field in routes.spec.fields if field not in routes.sections)
        behind = self._at_start((*routes.begins, *routes.sections, *(word.strip() for word in words)), final=final)
        if behind is None:
            return False
        if behind:
            return self._go(self._header, "content")
        self.window.unmark()
        return self._text_body("reasoning", None)

    @property
    def begun(self) -> str:
        """The header that has begun, without the opener of the message."""
        whole = self.window.marked() + super().begun
        return next((whole.removeprefix(one) for one in self._routes.starts if whole.startswith(one)), whole)

    # ---- between messages

    def _between_messages(self, *, stopped: bool = False) -> bool:
        self._stopped = stopped
        self.wrapper_open = False
        self.window.unmark()
        return self._go(self._content, "content")

    def _content(self, final: bool) -> bool:
        """Between messages: text here belongs to none, unless it is a header whose opener is missing."""
        window, routes = self.window, self._routes
        window.mark()
        at, key = self._next(self._frame, window.pos, final=final)
        if self._stopped:
            index = window.behind_blanks(window.pos)
            if index < at or (key is not None and key not in routes.begins):
                window.pos = min(index, at)
                self._over_from = window.here
                return self._go(self._over, "content")
        room = self._limits.parser_header_chars - len(window.marked())
        if at - window.pos > room:
            window.pos += room
            self._astray()
            return True
        window.pos = at
        if key is None:
            if final:
                self._astray()
            return False
        if key in routes.begins:
            self._astray()
            return self._open_message(key)
        if key in routes.ends and key not in routes.sections:
            self._astray()
            here = window.here
            window.pos += len(key)
            self._out.malformed("E-PARSE-STRAY", "the end of a message that was not begun", (here, window.here))
            return self._between_messages(stopped=self._stopped)
        text = window.marked()
        if not (routes.role and routes.begins_header(text)):
            self._astray()
            text = routes.role
            window.mark()
        self._open_header(text)
        self._repaired = bool(routes.begins)
        self._prompted = False
        return self._header_marker(key)

    def _over(self, final: bool) -> bool:
        """The turn is over; what comes now belongs to nothing."""
        window = self.window
        window.unmark()
        window.pos = len(window.text)
        if final and window.here > self._over_from:
            span = (self._over_from, window.here)
            self._out.malformed("E-PARSE-AFTER-END", "text behind the end of the turn", span)
        return False

    def _astray(self) -> None:
        """The text from the mark on belongs to no message."""
        window = self.window
        text = window.marked()
        bare = text.strip(BLANKS)
        window.unmark()
        if bare:
            start = window.here - len(text) + text.index(bare)
            self._out.malformed("E-PARSE-HEADER", "text outside of any message", (start, start + len(bare)))
            self._emit(self._routes.otherwise, bare, start)
            self._message_over(self._routes.otherwise)
            self.cut = self._routes.otherwise == "reasoning"

    # ---- headers

    def _open_message(self, begin: str) -> bool:
        """The opener of a message is next."""
        window = self.window
        window.unmark()
        window.mark()
        window.pos += len(begin)
        self._marked = True
        self._open_header("")
        self._prompted = False
        return self._go(self._header, "content")

    def _open_header(self, text: str) -> None:
        """A header begins, whose first part begins with this text."""
        self.window.mark()
        text += " " if text and text == self._routes.role else ""
        self._sections = [("", text)]
        self._places = [self.window.here - len(text)]
        self._size = 0
        self._repaired = self._stopped = False
        self._state, self.phase = self._header, "content"

    @property
    def _is_blank(self) -> bool:
        """The header has nothing but, if the prompt held it, the role."""
        role = self._routes.role if self._prompted else ""
        return len(self._sections) == 1 and not self._sections[0][1].strip(BLANKS).removeprefix(role)

    def _header(self, final: bool) -> bool:
        window = self.window
        at, key = self._next(self._frame, window.pos, final=final)
        room = self._limits.parser_header_chars - self._size
        if at - window.pos > room:
            self._header_text(window.pos + room)
            here = window.here
            self._out.malformed("E-LIMIT-HEADER", "a header that does not end", (here, here))
            kind = self._without_body()
            return self._text_body(kind or self._routes.otherwise, None, loose=True)
        self._header_text(at)
        if key is not None:
            return self._header_marker(key)
        if not final:
            return False
        kind = self._without_body()
        if kind is not None:
            self._message_over(kind)
        self._open_header("")
        return False

    def _header_text(self, end: int) -> None:
        window = self.window
        marker, before = self._sections[-1]
        self._sections[-1] = (marker, before + window.text[window.pos : end])
        self._size += end - window.pos
        window.pos = end

    def _header_marker(self, key: str) -> bool:
        window, routes = self.window, self._routes
        if key in routes.begins:
            return self._begun_again(key)
        self._marked = True
        if key == routes.body:
            window.pos += len(key)
            return self._body_begins()
        if key in routes.sections:
            window.pos += len(key)
            self._sections.append((key, ""))
            self._places.append(window.here)
            return self._go(self._header, "content")
        kind = self._without_body()
        return self._end_marker(kind or routes.otherwise, key)

    def _begun_again(self, begin: str) -> bool:
        """The opener of a message stands in a header."""
        if not self._is_blank:
            self._marked = True
            kind = self._without_body()
            if kind is not None:
                self._message_over(kind)
            return self._open_message(begin)
        again = not self._prompted
        here = self.window.here
        if again:
            self._out.malformed("E-PARSE-HEADER", "a message begins twice", (here, here))
        self._open_message(begin)
        self._repaired = again
        return True

    def _understood(self, *, closed: bool) -> tuple[Header, list[Route], str | None]:
        """What the header says, and where it leads."""
        header = read_header(self._sections, self._routes.shape, closed=closed)
        header.guessed = header.guessed or self._repaired
        span = (self.window.here - len(self.window.marked()), self.window.here)
        for message in header.odd:
            self._out.malformed("E-PARSE-HEADER", message, span)
        found, name = self._routes.lead(header)
        if not header.odd and (header.guessed or not found):
            what = "a header that had to be guessed" if header.guessed else "a header that leads nowhere"
            self._out.malformed("E-PARSE-HEADER", what, span)
        return header, found, name

    def _body_begins(self) -> bool:
        _, found, name = self._understood(closed=True)
        window = self.window
        raw = window.marked()
        start = window.here - len(raw)
        kind: RouteKind = found[0].kind if found else self._routes.otherwise
        window.unmark()
        self.cut = False
        opener = next((one for one in self._routes.starts if raw.startswith(one)), "")
        if kind == "call":
            # Where a call stays text, what opens its message is part of it only behind other text.
            shown = "" if self.content_begun else opener
            return self._call_begins(found, name, raw[len(shown) :], start + len(shown))
        if kind == "reasoning":
            self._prefilled = raw[len(opener) :]
            self._out.tag(self._prefilled, start + len(opener))
        return self._text_body(kind, found[0].block if found else None)

    def _without_body(self) -> RouteKind | None:
        """A header that ends without the marker of the body: the body is in it. None: nothing is."""
        window = self.window
        raw = window.marked()
        start = window.here - len(raw)
        kind: RouteKind
        if self._prompted and not self._marked:
            # No marker at all: the model answers without any format.
            header, kind = Header(rest=[(0, len(self._sections[0][1]) - self._size)]), "content"
            if raw.strip(BLANKS):
                self._out.malformed("E-PARSE-HEADER", "a message without a header", (start, window.here))
        else:
            header, found, _ = self._understood(closed=False)
            kind = found[0].kind if found else self._routes.otherwise
        window.unmark()
        pieces = [(self._places[n] + at, self._sections[n][1][at:]) for n, at in header.rest]
        if not any(text for _, text in pieces):
            self._out.tag(raw, start)
            if raw.strip(BLANKS) and not (header.odd or header.guessed):
                self._out.malformed("E-PARSE-HEADER", "a header without a body", (start, window.here))
            return None
        self.cut = kind == "reasoning"
        told = start
        for place, text in pieces:
            if kind == "reasoning":
                self._out.tag(raw[told - start : place - start], told)
            self._emit(kind, text, place)
            told = place + len(text)
        if kind == "reasoning":
            self._out.tag(raw[told - start :], told)
        return kind


def machine_for(parts: ReaderParts) -> Machine:
    """The states that a format needs."""
    return Machine(parts) if parts.compiled.routes is None else MessageMachine(parts)
