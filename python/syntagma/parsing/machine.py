"""The states of the lenient reading. Each state is a method that reads on and says whether there is more to do."""

from __future__ import annotations

from syntagma.parsing.call_patterns import Block, marker_pieces
from syntagma.parsing.call_states import CallStates, Phase, ReaderParts, State
from syntagma.parsing.compiled_format import Key
from syntagma.parsing.fast_path import FAR, Straight

__all__ = ["Machine"]

_LOOK_AHEAD = 64
"""blanks, at most, in front of a marker that is looked for at the very start"""


class Machine(CallStates):
    """Reads text from a window and tells an emitter what it is.

    Attributes:
        thinking_done: no further block of reasoning may come.
        wrapper_open: inside the wrapper of the answer.
        content_begun: the answer has a character that is not blank, or a call was read.
        cut: the text ended in thoughts that are not the state's: in a header, or outside of any message.
    """

    def __init__(self, parts: ReaderParts) -> None:
        super().__init__(parts)
        self.thinking_done = not parts.compiled.blocks
        self.wrapper_open = False
        self.cut = False
        self._block: Block | None = None
        self._keys = parts.compiled.thought_keys(None, interrupts=True)
        self._edge = ""
        self._edge_is_tag = False
        self._then: tuple[State, Phase] = (self._content, "content")
        self._resume: State = self._content
        self._prefilled: str | None = None

    def read(self, *, final: bool = False) -> None:
        """Read as far as possible; `final`: no more text comes."""
        while self._state(final):
            pass

    def straight(self) -> Straight | None:
        """What the reader is in the middle of, if more text may go straight on."""
        if not self.window.is_empty:
            return None
        if self._state == self._arguments:
            return self._straight_arguments()
        if self._state == self._thoughts:
            return None if self._prefilled is not None else Straight("reasoning", self._keys[1].firsts, FAR)
        if self._state == self._content and self.content_begun:
            section = self._call_end.open_section
            _, scanner = self._compiled.content_keys(reasoning=not self.thinking_done, section=section)
            return Straight("content", scanner.firsts, FAR)
        return None

    # ---- the start

    def open_reasoning(self, opener: str | None) -> None:
        """Start inside reasoning: `opener` is the text of the block's opener, or None for any."""
        blocks = self._compiled.blocks
        self._block = next((block for block in blocks if opener and block.opener == opener.strip()), None)
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
            self._resume = self._state
            self._state = self._echo
        elif self.phase == "content" and self._compiled.blocks and not self.window.text[self.window.pos :]:
            self._resume = self._state
            self._state = self._stray

    def forget_calls(self) -> None:
        """Leave whatever call the tail of a prompt seems to begin."""
        if self.phase in ("race", "call"):
            self.window.unmark()
            self.window.pos = len(self.window.text)
            self._go(self._content, "content")

    def _at_start(self, texts: tuple[str, ...], *, final: bool) -> int | None:
        """The index behind the first of `texts`, blanks before it allowed; 0: none of them; None: not known yet."""
        text, pos = self.window.text, self.window.pos
        ahead = text[pos : pos + _LOOK_AHEAD]
        bare = ahead.lstrip()
        blanks = len(ahead) - len(bare)
        for one in texts:
            if one and text.startswith(one, pos + blanks):
                if self.window.are_markers(pos + blanks, marker_pieces(one)):
                    return pos + blanks + len(one)
            elif one and not final and blanks < _LOOK_AHEAD and self.window.cut_at(pos + blanks, one):
                return None
        return 0

    def _echo(self, final: bool) -> bool:
        """Reasoning is open already; an opener that is written all the same is taken off."""
        blocks = self._compiled.blocks if self._block is None else (self._block,)
        behind = self._at_start(tuple(block.opener for block in blocks), final=final)
        if behind is None:
            return False
        self._state = self._resume
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
        self._state = self._resume
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
        section = self._call_end.open_section
        keys, scanner = self._compiled.content_keys(reasoning=not self.thinking_done, section=section)
        start = window.pos
        while True:
            at, key = scanner.search(window.text, start, final=final)
            if key is None:
                self._answer(at)
                return False
            found = [one for one in keys[key] if window.are_markers(at, one.pieces)]
            if not found:
                start = at + 1
            elif found[0].kind == "call" and self._dies_at_once(key[found[0].edge :], at + found[0].edge):
                start = at + found[0].edge + 1
            else:
                self._answer(at)
                return self._leave_content(key, found)

    def _bare_start(self) -> bool:
        """Begin a race if the first character of the answer may begin a call without a marker."""
        text = self.window.text
        at = self.window.behind_blanks(self.window.pos)
        if at == len(text) or not any(one.first == text[at] for one in self._compiled.bare):
            return False
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
            at = window.pos + key.edge
            window.mark()  # in front of the blanks, which stay where the race has no winner
            window.pos = at
            return self._race([one.alternative for one in self._compiled.openings(text[key.edge :])])
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
            edge = self._call_end.close_section()
            return self._eat(edge, self._content, "content")
        if block is not None:
            self.wrapper_open = key.opens
            return self._eat(block.after_opener if key.opens else block.after, self._content, "content")
        return True

    def _eat(self, blanks: str, then: State, phase: Phase, *, tag: bool = False) -> bool:
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
        elif not final and window.cut_at(window.pos, edge):
            return False
        self._state, self.phase = self._then
        return True

    @property
    def begun(self) -> str:
        """What was read and decides nothing yet: the beginning of a marker."""
        return self.window.text[self.window.pos :]

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
