"""Matches one pattern of a call, up to its commit point."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Literal

from syntagma.format_schema import Pattern, Placeholder
from syntagma.limits import Limits
from syntagma.parsing.arguments.buffered import BufferedArguments
from syntagma.parsing.arguments.envelope import EnvelopeReader
from syntagma.parsing.arguments.json_arguments import JsonArguments
from syntagma.parsing.arguments.keyword import KeywordArguments
from syntagma.parsing.arguments.literal_arguments import LiteralArguments
from syntagma.parsing.arguments.mending import Mending
from syntagma.parsing.arguments.nested import NestedArguments
from syntagma.parsing.arguments.source import ArgumentSource
from syntagma.parsing.arguments.tagged import TaggedArguments
from syntagma.parsing.arguments.unescaper import unescaped
from syntagma.parsing.call_patterns import CallPattern
from syntagma.parsing.call_steps import Step
from syntagma.parsing.literal_runs import run_at
from syntagma.parsing.repairs import Repair, Repairs
from syntagma.parsing.text.text_buffer import TextBuffer
from syntagma.parsing.text.window import Window

__all__ = ["CallMatcher"]


class CallMatcher:
    """Matches one pattern, from its first character on.

    Args:
        pattern: the pattern.
        pos: absolute position of its first character.
        limits: bounds on the header of a call, and on arguments that come before the name.
        infer: finds the name of the only tool that takes the arguments (JSON text) of a call without a name.
        name: the tool's name, if it was read before.
        call_id: the call's id, if it was read before.
        repair: whether slips are repaired.
        beside: the patterns that are matched at the same place, this one among them.
        opener: the size of another spelling of its section's opener, with which it begins here.
        slips: what was wrong before the call.

    Attributes:
        pattern: see above.
        pos: absolute position of the next character to read.
        status: `more` text is needed; `commit`; `no match`.
        commit_at: absolute position after the character that decided the commit.
        name, id, key, written_type: captures so far.
        header_name: the name in front of the envelope, if the envelope names the call, too.
        source: the source of the arguments, once committed.
        envelope: the reader of the call's envelope, if it has one.
        begun: whether something after the opener was read, so that the text was meant as a call.
        object_end: absolute position after a complete object that turned out to be no call, or None.
        slips: what was missing, or written twice, before the arguments.
        over_limit: whether it does not match because a limit was reached.
    """

    __slots__ = (
        *(
            "_at",
            "_beside",
            "_capture",
            "_end",
            "_held",
            "_held_chars",
            "_held_limit",
            "_infer",
            "_limits",
            "_line_ended",
        ),
        *(
            "_nameless",
            "_repair",
            "_repairs",
            "begun",
            "commit_at",
            "envelope",
            "header_name",
            "id",
            "key",
            "name",
            "object_end",
        ),
        *("over_limit", "pattern", "slips", "pos", "source", "status", "written_type"),
    )

    def __init__(
        self,
        pattern: CallPattern,
        pos: int,
        limits: Limits,
        infer: Callable[[str], str | None] | None = None,
        *,
        name: str | None = None,
        call_id: str | None = None,
        repair: bool = True,
        beside: Sequence[CallPattern] = (),
        opener: int = 0,
        slips: Iterable[Repair] = (),
    ) -> None:
        self._end = pos + limits.parser_header_chars
        self._held_limit = limits.parser_argument_chars
        self.over_limit = False
        self._limits = limits
        self._infer = infer
        self._repair = repair
        self._beside = beside
        self.key: str | None = None
        self.written_type: str | None = None
        self.pattern = pattern
        self.pos = pos + opener
        self._at = pattern.section_words[1] if opener else 0
        self._capture = ""
        self._line_ended = False
        self.status: Literal["more", "commit", "no match"] = "more"
        self.commit_at = 0
        self.name = name
        self.header_name: str | None = None
        self.id = call_id
        self.source: ArgumentSource | None = None
        self.envelope: EnvelopeReader | None = None
        self.begun = False
        self.object_end: int | None = None
        self._nameless: JsonArguments | None = None
        self._repairs: list[str] = []
        self.slips: list[Repair] = list(slips)
        self._held = TextBuffer()
        self._held_chars = 0

    @property
    def known_name(self) -> str | None:
        """The name, once it was read, even before the commit point."""
        inner = self.envelope.name if self.envelope is not None else None
        return inner or self.name

    def run(self, window: Window) -> None:
        """Read what the window has after `pos`."""
        steps = self.pattern.steps.steps
        text, base = window.text, window.base
        while self.status == "more":
            if self._at == len(steps):
                self._commit(BufferedArguments(), self.pos)
                return
            step, pos, at = steps[self._at], self.pos, self._at
            index = pos - base
            if step.kind == "literal":
                self._literal(step, window, index)
            elif index == len(text):
                if not (window.is_final and self._may_end(step)):
                    return
                if self._capture:
                    self._end_capture(step)
                self._at = len(steps)
                continue
            elif step.kind == "whitespace":
                if text[index].isspace():
                    start, index = index, window.after_whitespace(index)
                    self._line_ended = self._line_ended or "\n" in text[start:index]
                    self.pos = base + index
                # The character after the whitespace decides; while the text ends in whitespace, the matcher waits.
                if index < len(text):
                    self._at += 1
            else:
                self._step(step, window, index)
            if self.envelope is not None or self._nameless is not None or self.pos >= self._end:
                self._check_limits()
            if pos == self.pos and at == self._at:
                return

    def _check_limits(self) -> None:
        """Stop matching if the header of the call, or the text before its name, is too long."""
        held = self._held_chars + (self.envelope.buffered_chars if self.envelope is not None else 0)
        if self.status == "more" and (self.pos - held >= self._end or held > self._held_limit):
            self.status, self.over_limit = "no match", True

    def _step(self, step: Step, window: Window, index: int) -> None:
        """Take a step that is neither a literal nor whitespace, at a character."""
        if step.kind == "capture":
            self._captured(step, window, index)
        elif step.kind == "value":
            self._argument_begins(window)
        elif not (
            self.envelope or self._nameless or step.first_chars is None or window.text[index] in step.first_chars
        ):
            self.status = "no match"
        elif step.kind == "envelope":
            self._envelope(window, index)
        else:
            self._arguments(window, index)

    def _literal(self, step: Step, window: Window, index: int) -> None:
        found = window.text.startswith(step.text, index)
        if found and window.are_markers(index, step.pieces):
            self.pos += len(step.text)
            self._at += 1
        elif found or not window.cut_at(index, step.text):
            self._slip(window, index)

    def _slip(self, window: Window, index: int) -> None:
        """At a literal that does not stand at this index: whether something is missing, or written twice."""
        text = window.text
        slip = self.pattern.steps.slip_at(self._at, text, index) if self._repair and index < len(text) else None
        if slip is not None and slip.repair == "list" and self._stands_without_list(slip.at):
            slip = None
        if slip is None:
            self.status = "no match"
        elif slip.repair is not None:
            if slip.repair not in self.slips:
                self.slips.append(slip.repair)
            self._at, self.pos = slip.at, window.base + slip.pos

    def _stands_without_list(self, at: int) -> bool:
        """Whether another pattern is, or may be, this one without its list; `at`: the step after the bracket."""
        if "opener" in self.slips:
            return True
        before = [op for op in self.pattern.ops[: self._at] if op.kind != "whitespace"]
        rest = self.pattern.ops[at:]
        return any(
            one.ops[-len(rest) :] == rest and [op for op in one.ops[: -len(rest)] if op.kind != "whitespace"] == before
            for one in self._beside
        )

    def _captured(self, step: Step, window: Window, index: int) -> None:
        text = window.text
        limit = min(len(text), self._end - window.base)
        end = step.end_of_capture(text, index, limit)
        waits = end >= limit
        if step.ends and not text.startswith(step.ends, end):
            # The text may end inside the literal that ends the capture.
            longest = max(map(len, step.ends))
            for at in range(max(index, len(text) - longest + 1), min(end + 1, len(text))):
                if any(one.startswith(text[at:]) for one in step.ends):
                    end, waits = at, not window.is_final
                    break
        if not self._capture and end > index and step.refuses(text, index):
            self.status = "no match"
            return
        self._capture += text[index:end]
        self.pos = window.base + end
        if waits:
            return
        if not self._capture:
            self.status = "no match"
            return
        self._end_capture(step)

    def _end_capture(self, step: Step) -> None:
        self._read(step.text, self._capture)
        self._capture = ""
        self._at += 1

    def _read(self, placeholder: str, text: str) -> None:
        if "attributes" in self.pattern.form.escape:
            text = unescaped(text)
        if placeholder == "name":
            if self.name is not None and self.name != text:
                self.status = "no match"
            self.name = text
            self.begun = True
        elif placeholder == "key":
            self.key = text
        elif placeholder == "type":
            self.written_type = text
        elif placeholder == "id":
            self.id = text
            named = next((name for one in self.pattern.form.id if (name := _name_in(one, text))), None)
            self.name = self.name or named

    def _envelope(self, window: Window, index: int) -> None:
        if self.envelope is None:
            form = self.pattern.form
            self.envelope = EnvelopeReader(
                form.envelope, self.name, self._object_source(window, in_object=True), repair=self._repair
            )
        reader = self.envelope
        end = min(len(window.text), self._end + reader.buffered_chars - window.base)
        self.pos = window.base + reader.run(window.text, index, end)
        self.begun = self.begun or reader.begun
        self.id = reader.id or self.id
        if reader.status == "commit":
            assert reader.source is not None
            if reader.name is not None:
                self.header_name, self.name = self.name, reader.name
            self._commit(reader.source, self.pos + (reader.buffered is None))
        elif reader.status == "bad":
            self.status = "no match"
        elif reader.status == "end":
            self._envelope_ended(reader)

    def _mending(self, window: Window, *, depth: int, in_object: bool = False) -> Mending | None:
        """The repairs of arguments that begin in `depth` brackets of their own, perhaps inside an object."""
        pattern = self.pattern
        if not self._repair:
            return None
        return Mending(window, pattern.end_of_call, pattern.form.notation, depth, in_object=in_object)

    def _object_source(self, window: Window, *, in_object: bool = False) -> Callable[[], ArgumentSource]:
        """What makes the source of arguments that are an object of the notation."""
        notation, closers = self.pattern.form.notation, self.pattern.closers
        mending = partial(self._mending, window, depth=1, in_object=in_object)
        if notation.is_json:
            return partial(JsonArguments, closers, repair=self._repair, mending=mending)
        return partial(LiteralArguments, notation, closers, mending())

    def _envelope_ended(self, reader: EnvelopeReader) -> None:
        if reader.name is not None:
            self.header_name, self.name = self.name, reader.name
        if self.name is not None and (reader.buffered is not None or self.pattern.framed):
            self._commit(BufferedArguments(reader.buffered or "{}", reader.repairs), self.pos)
        else:
            self.object_end = self.pos
            self.status = "no match"

    def _arguments(self, window: Window, index: int) -> None:
        form, closer = self.pattern.form, self.pattern.closer
        if form.values == "literal" and form.value is not None:
            source = KeywordArguments(form, closer[0] if closer else None, self._mending(window, depth=0))
            begins = source.begins(window.text, index)
            if begins or ((begins is False or window.is_final) and self._ends_without_arguments(window, index)):
                self._commit(source, self.pos)
            elif begins is False and (closer or not window.cut_at(index, self.pattern.first)):
                self.status = "no match"
            return
        if self.name is None and (self._nameless is not None or window.text[index] == "{"):
            self._infer_name(window, index)
            return
        is_object = window.text[index] == "{"
        run, after = None, index
        if closer and (not is_object or self.pattern.begins_with_brace):
            run, after = run_at(window, index, self.pattern.after_value)
        if run is not None and run.kind == "close":
            self._commit(BufferedArguments(), window.base + after)
        elif run is None and after >= 0 and is_object and form.argument is not None and not self._repair:
            self.status = "no match"
        elif run is None and after >= 0 and is_object:
            if form.argument is not None:
                self.slips.append("object")
            self._commit(self._object_source(window)(), self.pos + 1)
        elif after >= 0:
            self.status = "no match"

    def _ends_without_arguments(self, window: Window, index: int) -> bool:
        """Whether a call that nothing closes has no arguments: its line has ended, or the next call begins here."""
        return not self.pattern.closer and (
            self._line_ended or (bool(self.pattern.first) and window.text.startswith(self.pattern.first, index))
        )

    def _may_end(self, step: Step) -> bool:
        """Whether the call may end here with the text: only arguments without a closer are missing."""
        form = self.pattern.form
        is_open = form.values == "literal" and form.value is not None and not self.pattern.closer
        rest = self.pattern.steps.steps[self._at + bool(self._capture) :]
        begun = bool(self._capture) if step.kind == "capture" else step.kind in ("whitespace", "arguments")
        return begun and all(one.kind == "whitespace" or (one.kind == "arguments" and is_open) for one in rest)

    def _infer_name(self, window: Window, index: int) -> None:
        """Infer the tool of a call without a name: hold its arguments, and find the only tool that takes them."""
        reader = self._nameless = self._nameless or JsonArguments(repair=self._repair)
        after, fragment = reader.feed(window.text, index, len(window.text))
        self._held.write(fragment)
        self._held_chars += after - index
        self.pos = window.base + after
        repair = reader.take_repair()
        if repair is not None:
            self._repairs.append(repair)
            self._infer_name(window, after)
        elif reader.bad:
            self.status = "no match"
        elif reader.done:
            text = self._held.take()
            self.name = self._infer(text) if self._infer is not None else None
            self._commit(BufferedArguments(text, self._repairs), self.pos)

    def _argument_begins(self, window: Window) -> None:
        """Commit at the opener of a value: the first of a call, or, inside a call, the next."""
        if not self.pattern.closer:
            self.status = "commit"
            return
        key = self.key or ""
        nesting = self.pattern.form.nesting
        if nesting is not None:
            self._commit(NestedArguments(window, self.pattern, nesting, key=key), self.pos)
            return
        self._commit(
            TaggedArguments(
                window,
                self.pattern,
                self._reader_at,
                key=key,
                written_type=self.written_type,
                repairs=Repairs(self.slips) if self._repair else None,
            ),
            self.pos,
        )

    def _reader_at(self, pattern: CallPattern, pos: int) -> CallMatcher:
        """A reader of the header of a further argument, or of a call."""
        return CallMatcher(pattern, pos, self._limits, repair=self._repair)

    def _commit(self, source: ArgumentSource, at: int) -> None:
        if self.name is None:
            self.status = "no match"
            return
        self.source = source
        self.commit_at = at
        self.status = "commit"


def _name_in(shape: Pattern, text: str) -> str | None:
    """The name inside an id of this shape, or None if the id has another shape."""
    name = None
    at = 0
    for i, item in enumerate(shape.items):
        if not isinstance(item, Placeholder):
            if not text.startswith(item.text, at):
                return None
            at += len(item.text)
            continue
        follower = shape.items[i + 1] if i + 1 < len(shape.items) else None
        # A name may hold the text that follows it; a running number after it may not.
        end = len(text) if follower is None or isinstance(follower, Placeholder) else text.rfind(follower.text, at)
        if end <= at:
            return None
        read, at = text[at:end], end
        if item.name == "name":
            name = read
        elif not read.isdigit():
            return None
    return name if at == len(text) else None
