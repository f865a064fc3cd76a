"""The states of the lenient reading. Each state is a method that reads on and says whether there is more to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from syntagma.limits import Limits
from syntagma.parsing.call_end import CallEnd
from syntagma.parsing.compiled import CompiledFormat, Key
from syntagma.parsing.cursor import Cursor
from syntagma.parsing.emitter import Emitter
from syntagma.parsing.patterns import Alternative, Block, marker_pieces
from syntagma.parsing.policies import Policies
from syntagma.parsing.window import Window

__all__ = ["Machine"]

Phase: TypeAlias = Literal["content", "reasoning", "interrupted", "race", "call"]
_LOOK_AHEAD = 64
"""blanks, at most, in front of a marker that is looked for at the very start"""


class Machine:
    """Reads text from a window and tells an emitter what it is.

    Attributes:
        phase: where it is.
        thinking_done: no further block of reasoning may come.
        wrapper_open: inside the wrapper of the answer.
        content_begun: the answer has a character that is not blank, or a call was read.
    """

    def __init__(
        self,
        compiled: CompiledFormat,
        emitter: Emitter,
        limits: Limits,
        policies: Policies,
        tool_names: frozenset[str] | None,
    ) -> None:
        self.window = Window()
        self._compiled = compiled
        self._out = emitter
        self._limits = limits
        self._policies = policies
        self._tool_names = tool_names
        self._state: Callable[[bool], bool] = self._content
        self.phase: Phase = "content"
        self.thinking_done = not compiled.blocks
        self.wrapper_open = False
        self.content_begun = False
        self._cursors: list[Cursor] = []
        self._race_at = 0
        self._call = CallEnd(self.window, compiled, emitter)
        self._cursor: Cursor | None = None
        self._argument_chars = 0
        self._end_told = False
        self._block: Block | None = None
        self._keys = compiled.thought_keys(None, interrupts=True)
        self._edge = ""
        self._edge_is_tag = False
        self._then: tuple[Callable[[bool], bool], Phase] = (self._content, "content")
        self._prefilled: str | None = None

    def read(self, *, final: bool = False) -> None:
        """Read as far as possible; `final`: no more text comes."""
        while self._state(final):
            pass

    def _go(self, state: Callable[[bool], bool], phase: Phase) -> bool:
        self._state, self.phase = state, phase
        return True

    # ---- the start

    def open_reasoning(self, opener: str | None) -> None:
        """Start inside reasoning: `opener` is the text of the block's opener, or None for any."""
        self._block = next((block for block in self._compiled.blocks if opener and block.opener == opener.strip()), None)
        self._keys = self._compiled.thought_keys(self._block, interrupts=True)
        self.thinking_done = False
        self._go(self._thoughts, "reasoning")

    def close_reasoning(self) -> None:
        """Start outside reasoning."""
        self._go(self._content, "content")

    def begin_output(self) -> None:
        """The prompt's tail was read; what comes now is output."""
        self.content_begun = False
        if self.phase == "reasoning":
            self._then = (self._state, "reasoning")
            self._state = self._echo
        elif self.phase == "content" and self._compiled.blocks and not self.window.text[self.window.pos :]:
            self._then = (self._state, "content")
            self._state = self._stray

    def forget_calls(self) -> None:
        """Leave whatever call the tail of a prompt seems to begin."""
        if self.phase in ("race", "call"):
            self.window.unmark()
            self.window.pos = len(self.window.text)
            self._go(self._content, "content")

    def _at_start(self, texts: tuple[str, ...], *, final: bool) -> int | None:
        """The index behind the first of `texts`, blanks before it allowed; 0: none of them; None: more text is needed."""
        text, pos = self.window.text, self.window.pos
        ahead = text[pos : pos + _LOOK_AHEAD]
        bare = ahead.lstrip()
        blanks = len(ahead) - len(bare)
        for one in texts:
            if one and text.startswith(one, pos + blanks):
                if self.window.are_markers(pos + blanks, marker_pieces(one)):
                    return pos + blanks + len(one)
            elif one and not final and blanks < _LOOK_AHEAD and one.startswith(text[pos + blanks :]):
                return None
        return 0

    def _echo(self, final: bool) -> bool:
        """Reasoning is open already; an opener that is written all the same is taken off."""
        blocks = self._compiled.blocks if self._block is None else (self._block,)
        behind = self._at_start(tuple(block.opener for block in blocks), final=final)
        if behind is None:
            return False
        self._state, self.phase = self._then
        if behind:
            start = self.window.here
            opener = self.window.text[self.window.pos : behind]
            block = next(block for block in blocks if block.opener == opener.lstrip())
            self.window.pos = behind
            self._out.tag(opener, start)
            self._eat(block.after_opener, self._thoughts, "reasoning", tag=True)
        return True

    def _stray(self, final: bool) -> bool:
        """Reasoning is closed; a closer that is written first closes nothing."""
        closers = tuple(block.closer for block in self._compiled.blocks)
        behind = self._at_start(closers, final=final)
        if behind is None:
            return False
        self._state, self.phase = self._then
        if behind:
            start = self.window.here
            closer = self.window.text[self.window.pos : behind]
            block = next(block for block in self._compiled.blocks if block.closer == closer.lstrip())
            self.window.pos = behind
            self._out.tag(closer, start)
            self._out.malformed("E-PARSE-STRAY", "the end of reasoning that was not open", (start, self.window.here))
            self._eat(block.after, self._content, "content", tag=True)
        return True

    # ---- content and reasoning

    def _content(self, final: bool) -> bool:
        window = self.window
        if not self.content_begun and self._compiled.bare and self._bare_start():
            return True
        section = self._call.open_section
        keys, scanner = self._compiled.content_keys(reasoning=not self.thinking_done, section=section)
        start = window.pos
        while True:
            at, key = scanner.search(window.text, start, final=final)
            if key is None:
                self._answer(at)
                return False
            found = [one for one in keys[key] if window.are_markers(at, one.pieces)]
            if found:
                self._answer(at)
                return self._leave_content(key, found)
            start = at + 1

    def _bare_start(self) -> bool:
        """Begin a race if the first character of the answer may begin a call without a marker."""
        text, pos = self.window.text, self.window.pos
        rest = text[pos:].lstrip() if text[pos : pos + 1].isspace() else text[pos : pos + 1]
        if not rest or not any(one.first == rest[0] for one in self._compiled.bare):
            return False
        at = pos + len(text[pos:]) - len(text[pos:].lstrip())
        self._answer(at)
        return self._race([one for one in self._compiled.bare if one.first == text[at]])

    def _answer(self, end: int) -> None:
        """The text up to index `end` is content."""
        window = self.window
        if end > window.pos:
            text = window.text[window.pos : end]
            self._out.content(text, window.here)
            self.content_begun = self.content_begun or not text.isspace()
            window.pos = end

    def _leave_content(self, text: str, found: list[Key]) -> bool:
        key = found[0]
        window = self.window
        if key.kind == "call":
            window.pos += key.edge
            starts = [one for one in self._compiled.starts if window.text.startswith(one.first, window.pos)]
            return self._race([one for one in starts if not one.bare])
        block = key.block
        start = window.here
        window.pos += len(text)
        if key.kind == "reasoning" and block is not None:
            self._out.tag(text, start)
            self._block = block
            self._keys = self._compiled.thought_keys(block, interrupts=True)
            self._prefilled = text[key.edge :]
            return self._eat(block.after_opener, self._thoughts, "reasoning", tag=True)
        if key.kind == "section":
            edge = self._call.close_section()
            return self._eat(edge, self._content, "content")
        if block is not None:
            self.wrapper_open = key.opens
            return self._eat(block.after_opener if key.opens else block.after, self._content, "content")
        return True

    def _eat(self, blanks: str, then: Callable[[bool], bool], phase: Phase, *, tag: bool = False) -> bool:
        """Take exactly this run of blanks off, if it is there, and go on with `then`."""
        self._edge, self._edge_is_tag, self._then = blanks, tag, (then, phase)
        return self._go(self._edge_blanks, phase)

    def _edge_blanks(self, final: bool) -> bool:
        window, edge = self.window, self._edge
        if window.text.startswith(edge, window.pos):
            if self._edge_is_tag:
                self._out.tag(edge, window.here)
            if self._prefilled is not None:
                self._prefilled += edge
            window.pos += len(edge)
        elif not final and edge.startswith(window.text[window.pos :]):
            return False
        self._state, self.phase = self._then
        return True

    @property
    def prefilled_opener(self) -> str:
        """The opener of the reasoning that is open, as it was read, if no thought has followed it."""
        return self._prefilled or "" if self.phase == "reasoning" else ""

    def _thoughts(self, final: bool) -> bool:
        window = self.window
        keys, scanner = self._keys
        start = window.pos
        while True:
            at, key = scanner.search(window.text, start, final=final)
            if key is None:
                self._think(at)
                return False
            found = [one for one in keys[key] if window.are_markers(at, one.pieces)]
            if found:
                break
            start = at + 1
        self._think(at)
        if found[0].kind == "close" and found[0].block is not None:
            return self._close_thoughts(key, found[0].block)
        answers = any(block.opener and key.startswith(block.opener) for block in self._compiled.wrappers)
        if answers or self._policies.interrupt == "now":
            self._thoughts_over()
            return self._go(self._content, "content")
        window.mark()
        self._keys = self._compiled.thought_keys(self._block, interrupts=False)
        return self._go(self._interrupted, "interrupted")

    def _think(self, end: int) -> None:
        window = self.window
        if end > window.pos:
            self._prefilled = None
            self._out.thought(window.text[window.pos : end], window.here)
            window.pos = end

    def _thoughts_over(self) -> None:
        repeat = self._compiled.spec.reasoning is not None and self._compiled.spec.reasoning.repeat
        self.thinking_done = not repeat
        self._prefilled = None
        self._out.thoughts_end()

    def _close_thoughts(self, closer: str, block: Block) -> bool:
        self._out.tag(closer, self.window.here)
        self.window.pos += len(closer)
        self._thoughts_over()
        return self._eat(block.after, self._content, "content", tag=True)

    def _interrupted(self, final: bool) -> bool:
        """A call may have begun inside reasoning: it was a quotation if the reasoning closes later."""
        window = self.window
        keys, scanner = self._keys
        start = window.pos
        while True:
            at, key = scanner.search(window.text, start, final=final)
            window.pos = at
            if key is None:
                if not final:
                    return False
                window.rewind()
                self._thoughts_over()
                return self._go(self._content, "content")
            found = [one for one in keys[key] if window.are_markers(at, one.pieces)]
            if found:
                quoted = window.marked()
                self._out.thought(quoted, window.here - len(quoted))
                window.unmark()
                block = found[0].block
                assert block is not None
                return self._close_thoughts(key, block)
            start = at + 1

    # ---- calls

    def _race(self, alternatives: list[Alternative]) -> bool:
        window = self.window
        window.mark()
        self._race_at = window.here
        self._cursors = [Cursor(one, window.here, self._limits) for one in alternatives]
        return self._go(self._racing, "race")

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
            named = [one for one in alive if one.known_name is not None and one.alternative.framed and self._allowed(one)]
            return self._cut(named[0]) if named else self._dead()
        window.pos = min(cursor.pos for cursor in alive) - window.base
        return False

    def _allowed(self, cursor: Cursor) -> bool:
        known = self._tool_names is None or cursor.known_name in self._tool_names
        return known or self._policies.unknown_tool == "pass"

    def _commit(self, cursor: Cursor) -> bool:
        window = self.window
        assert cursor.name is not None
        window.pos = cursor.pos - window.base
        window.unmark()
        span = (self._race_at, cursor.commit_at)
        if self._tool_names is not None and cursor.name not in self._tool_names:
            self._out.malformed("E-PARSE-TOOL", f"no tool {cursor.name!r} was declared", span)
        if cursor.header_name not in (None, cursor.name):
            self._out.malformed("E-PARSE-NAME", f"{cursor.header_name!r} and {cursor.name!r} name one call", span)
        self._out.call_start(cursor.name, cursor.id, span)
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
        meant = [one for one in self._cursors if one.begun and (one.alternative.framed or one.name is not None)]
        loose = next((one for one in self._cursors if one.alternative.section and one.begun), None)
        whole = next((one for one in self._cursors if one.balanced is not None and one.alternative.bare_call), None)
        if meant:
            code = "E-LIMIT-HEADER" if any(one.over_limit for one in meant) else "E-PARSE-CALL"
            self._out.malformed(code, "this is no call after all", (self._race_at, last))
        section = loose.alternative.section if loose else None
        if section is not None:
            self._call.section_seen(section)
        in_section = whole is not None and self._call.section is not None
        release_to = whole.balanced if in_section and whole and whole.balanced else self._race_at + 1
        self._cursors = []
        window.rewind()
        if meant and self._policies.malformed == "drop":
            release_to = max(release_to, last)
            window.pos = min(len(window.text), release_to - window.base)
        else:
            self._answer(release_to - window.base)
        if in_section:
            self._call.begin_loose()
            return self._go(self._after_call, "call")
        return self._go(self._content, "content")

    def _arguments(self, final: bool) -> bool:
        window, cursor = self.window, self._cursor
        assert cursor is not None and cursor.source is not None
        start = window.here
        room = self._limits.parser_argument_chars - self._argument_chars
        end = min(len(window.text), window.pos + room)
        after, fragment = cursor.source.feed(window.text, window.pos, end)
        self._argument_chars += after - window.pos
        window.pos = after
        self._out.call_delta(fragment, (start, window.here))
        if cursor.source.done:
            return self._arguments_end(cursor)
        if cursor.source.bad or self._argument_chars >= self._limits.parser_argument_chars:
            code = "E-PARSE-ARGUMENTS" if cursor.source.bad else "E-LIMIT-ARGUMENT"
            self._out.malformed(code, "the arguments cannot be read from here on", (window.here, window.here))
            self._out.call_end(complete=False, span=(window.here, window.here))
            self._call.section_seen(cursor.alternative.section, live=True)
            return self._go(self._content, "content")
        return self._truncated() if final else False

    def _arguments_end(self, cursor: Cursor) -> bool:
        here = (self.window.here, self.window.here)
        envelope = cursor.envelope
        waits = envelope is not None and envelope.status == "commit" and cursor.alternative.form.late_id and not cursor.id
        self._end_told = not waits
        if self._end_told:
            self._out.call_end(complete=True, span=here)
        if envelope is not None and envelope.status == "commit":
            envelope.resume()
            return self._go(self._envelope_rest, "call")
        self._call.begin(cursor.alternative)
        return self._go(self._after_call, "call")

    def _envelope_rest(self, final: bool) -> bool:
        window, cursor = self.window, self._cursor
        assert cursor is not None and cursor.envelope is not None
        reader = cursor.envelope
        window.pos = reader.run(window.text, window.pos, len(window.text))
        if reader.status == "more" and not final:
            return False
        if not self._end_told:
            self._out.call_end(complete=True, span=(window.here, window.here), late_id=reader.id)
        if reader.status != "end":
            self._out.malformed("E-PARSE-CLOSER", "the object of a call is not closed", (window.here, window.here))
        self._call.begin(cursor.alternative)
        return self._go(self._after_call, "call")

    def _after_call(self, final: bool) -> bool:
        found = self._call.read(final=final)
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
