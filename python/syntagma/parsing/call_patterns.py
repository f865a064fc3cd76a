"""Patterns compiled for reading: literals cut into markers, whitespace optional, one pattern for each way to begin."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Literal as OneOf
from typing import NamedTuple, TypeAlias

import msgspec

from syntagma.format_schema import (
    Envelope,
    Markers,
    Notation,
    Pattern,
    PlacedPiece,
    TypeMeaning,
    is_weak,
)
from syntagma.format_schema.facts import Block
from syntagma.format_schema.names import NAME_SIGNS
from syntagma.parsing.call_steps import CallSteps, Step, characters_of
from syntagma.parsing.end_of_call import EndOfCall, NextCall
from syntagma.parsing.literal_runs import LiteralRun, Op, longest_first
from syntagma.parsing.text.scanner import MarkerSet

__all__ = [
    "CallPattern",
    "Form",
    "FormParts",
    "Nesting",
    "Op",
    "Section",
    "UnclosedValues",
]


class Section(msgspec.Struct, frozen=True):
    """The markers around a group of calls."""

    opener: tuple[Op, ...]
    closer: tuple[Op, ...]
    before: str
    after: str


class UnclosedValues(NamedTuple):
    """What ends a raw value whose own closer is missing.

    Attributes:
        texts: all texts at which a value may end.
        ends: those that close the call, each with the size of the whitespace before it.
        lines: those that begin a line with a further argument, likewise.
        decisive: what says whether a closer of the call ended a value: the value's own closer, or the next call.
        own: the value's own closer.
        calls: the openers of a call, each with the pattern of the call from there on.
    """

    texts: MarkerSet
    ends: Mapping[str, int]
    lines: Mapping[str, int]
    decisive: MarkerSet
    own: str
    calls: Mapping[str, CallPattern]


class Nesting(msgspec.Struct, frozen=True):
    """How nested elements are written that are named after their keys."""

    open: str
    open_end: str
    close: str
    close_end: str
    item: str | None
    """the name of an array's elements"""
    after_opener: str
    before_closer: str
    """whitespace beside a value: exactly this run is removed, if present"""


class Form(msgspec.Struct, frozen=True, dict=True):
    """One form of calls: what the readers need from a `ToolsSpec`."""

    separator: str
    envelope: tuple[Envelope, ...]
    id: tuple[Pattern, ...]
    argument: CallPattern | None
    """the header of one argument, up to its value"""
    argument_separator: str
    argument_opener: str
    """the literal before a key"""
    value: Block | None
    """the markers around a value"""
    value_tail: str
    """the text after a literal value, if it repeats the key, as in the closing tag of an element"""
    values: str
    types: dict[str, TypeMeaning]
    notation: Notation
    escape: frozenset[OneOf["attributes", "values"]]
    nesting: Nesting | None
    """for arguments that are elements named after their keys; else None"""
    markers: Markers
    """how literals are cut"""
    sectionless: bool
    """whether calls may stand without the opener of a section, even those that begin with no literal"""

    @cached_property
    def late_id(self) -> bool:
        """Whether an id may come after the arguments."""
        return any("id" in one.pattern.placeholders for one in self.envelope)


class CallPattern(msgspec.Struct, frozen=True, dict=True):
    """One way in which a call can begin: alone, or after the opener of its section."""

    ops: tuple[Op, ...]
    """the steps up to and including the placeholder of the arguments, or all of a call that has none"""
    closer: tuple[Op, ...]
    """the steps after the arguments: literals, and an id, a name or a number between them"""
    form: Form
    section: Section | None
    before: str
    after: str
    bare_call: bool
    """whether the call itself begins with an object or a name, whatever opens its section"""
    value_ends: tuple[str, ...] = ()
    """the texts that end a raw value, with and without whitespace before them"""
    argument_line: str = ""
    """the beginning of a line that opens a further argument, which ends a raw value without a closer; or empty"""
    ends: tuple[Op, ...] = ()
    """what else ends arguments between tags, beside the first of `closer`"""

    @cached_property
    def value_closers(self) -> MarkerSet:
        """The texts that end a raw value."""
        open_ends = self.ends if self.form.value is not None and not self.form.value.closer else ()
        return MarkerSet((*self.value_ends, *(op.text for op in open_ends)))

    @cached_property
    def unclosed(self) -> UnclosedValues | None:
        """What ends a raw value whose own closer is missing; None: nothing does."""
        if not self.argument_line or self.form.value is None:
            return None
        own, closer = self.form.value.closer.strip(), self.closer[:1]
        edges = tuple(dict.fromkeys((*(end[: end.find(own)] for end in self.value_ends if own in end), "")))
        calls = {
            op.text: msgspec.structs.replace(self, ops=self.ops[at:])
            for at, op in enumerate(itertools.takewhile(lambda op: op.kind != "placeholder", self.ops))
            if any(map(str.isalnum, op.text)) and not op.text[0].isalnum()
        }
        ends = {edge + op.text: len(edge) for op in closer if op.marker for edge in edges}
        lines = {self.argument_line: 1}
        texts = MarkerSet((*self.value_closers.texts, *ends, *lines))
        return UnclosedValues(texts, ends, lines, MarkerSet((own, *calls)), own, calls)

    @cached_property
    def value_pieces(self) -> dict[str, tuple[PlacedPiece, ...]]:
        """For each text that ends a raw value, its parts that may be tokens."""
        return {text: self.form.markers.placed(text) for text in self.value_closers.texts}

    @cached_property
    def after_value(self) -> tuple[LiteralRun, ...]:
        """What may follow an argument, or stand in place of one, in the order in which it is tried."""
        form = self.form
        whitespace = Op("whitespace")
        closer = tuple(one for op in self.decisive for one in (op, whitespace))[:-1]
        ends = [ops for ops in (closer, *((op,) for op in self.ends)) if ops]
        separator = [(Op("literal", form.argument_separator),)] if form.argument_separator else []
        arguments = []
        if form.argument is not None:
            # If an argument begins with its key, all that is not the end is an argument.
            arguments.append(tuple(itertools.takewhile(lambda op: op.kind != "placeholder", form.argument.ops)))
        return longest_first(
            (
                *(LiteralRun("close", ops) for ops in ends),
                *(LiteralRun("separator", ops) for ops in separator),
                *(LiteralRun("argument", ops) for ops in arguments),
            )
        )

    @cached_property
    def closers(self) -> tuple[str, ...]:
        """The literals that close the call."""
        return tuple(op.text for op in self.closer)

    @cached_property
    def end_of_call(self) -> EndOfCall:
        """What stands after the arguments."""
        section = self.section.closer if self.section is not None else ()
        ops = [op for op in self.ops if op.kind != "whitespace"]
        first = next((n for n, op in enumerate(ops) if op.kind == "placeholder"), len(ops))
        following = None
        if first < len(ops):
            after = ops[first + 1 : first + 2]
            before = "" if self.bare_call or not first else ops[first - 1].text
            is_object = ops[first].text in ("envelope", "arguments")
            following = NextCall(
                before or ("{" if is_object else ""),
                after[0].text if after and after[0].kind == "literal" else "",
            )
        return EndOfCall(self.closer, section, self.form.separator, following, ops[:first])

    @cached_property
    def begins_with_brace(self) -> bool:
        """Whether the text in place of arguments may begin like an object."""
        return any(op.text.startswith("{") for run in self.after_value for op in run.ops[:1])

    @cached_property
    def decisive(self) -> tuple[Op, ...]:
        """The literals after the arguments that distinguish their end from a further argument."""
        opener = self.form.argument.ops if self.form.argument is not None else ()
        begins = "".join(op.text for op in itertools.takewhile(lambda op: op.kind != "placeholder", opener))
        read = ""
        literals = tuple(itertools.takewhile(lambda op: op.kind == "literal", self.closer))
        for n, op in enumerate(literals):
            read += op.text
            if not begins.startswith(read):
                return literals[: n + 1]
        return literals

    @cached_property
    def late_id(self) -> bool:
        """Whether an id stands after the arguments."""
        return any(op.kind == "placeholder" and op.text == "id" for op in self.closer)

    @cached_property
    def section_words(self) -> tuple[str, int]:
        """The opener of its section up to the last literal with a letter, and the number of steps of that."""
        opener = self.section.opener if self.section is not None else ()
        lettered = [n for n, op in enumerate(opener, 1) if any(map(str.isalnum, op.text))]
        size = lettered[-1] if lettered else 0
        return "".join(op.text or " " for op in opener[:size]), size

    @cached_property
    def first(self) -> str:
        """The literal that it begins with; `{` for a bare object; empty if it begins with a name."""
        op = self.ops[0]
        if op.kind == "literal":
            return op.text
        return "{" if op.text in ("envelope", "arguments") else ""

    @cached_property
    def bare(self) -> bool:
        """Whether it begins with an object, without a literal before it."""
        return self.ops[0].kind == "placeholder"

    @cached_property
    def without_arguments(self) -> bool:
        """Whether it is the whole of a call that has no arguments."""
        return not any(op.kind == "placeholder" and op.text in ("arguments", "envelope", "value") for op in self.ops)

    @cached_property
    def ends_itself(self) -> bool:
        """Whether it ends in a marker, so that nothing of the call follows."""
        return self.ops[-1].kind == "literal" and self.ops[-1].marker

    @cached_property
    def framed(self) -> bool:
        """Whether a marker stands before the commit point, so that text that gets there was meant as a call."""
        return any(op.marker for op in self.ops)

    @cached_property
    def intended(self) -> bool:
        """Whether a literal stands before the call, so that an object after it was meant as one."""
        return self.ops[0].kind == "literal" and not self.needs_known_name

    @cached_property
    def needs_known_name(self) -> bool:
        """Whether only a declared tool's name makes it a call, since a sign or word before the name occurs in prose."""
        first, *rest = self.ops
        return first.kind == "literal" and is_weak(first.text) and bool(rest) and rest[0].text == "name"

    @cached_property
    def steps(self) -> CallSteps:
        """The steps for `CallMatcher`."""
        return CallSteps(tuple(self._step(at) for at in range(len(self.ops))), self.section_words[1])

    def _step(self, at: int) -> Step:
        op = self.ops[at]
        if op.kind == "whitespace":
            return Step("whitespace")
        if op.kind == "literal":
            return Step("literal", op.text, pieces=op.pieces)
        if op.text == "envelope":
            return Step("envelope", first_chars=frozenset("{"))
        if op.text == "value":
            return Step("value")
        if op.text == "arguments":
            ends = (*self.decisive[:1], *self.ends)
            is_open = self.form.values == "literal" and self.form.value is not None
            return Step("arguments", first_chars=None if is_open else frozenset(("{", *(one.text[0] for one in ends))))
        before = self.ops[max(0, at - 2) : at]
        return Step(
            "capture",
            op.text,
            characters=characters_of(op.text),
            ends=tuple(text for text in self._ends_of_capture(at) if text),
            is_element=any(one.kind == "literal" and one.text.endswith("<") for one in before),
            is_repeated=op.text == "name" and any(one == op for one in self.ops[:at]),
        )

    def _ends_of_capture(self, at: int) -> Iterator[str]:
        """The literals that may follow the capture at this step: the next, or the beginning or end of arguments."""
        for op in self.ops[at + 1 :]:
            if op.kind == "literal":
                yield op.text
                return
            opener = self.form.argument_opener
            if op.text == "arguments" and self.form.values == "literal" and opener[:1] not in NAME_SIGNS:
                yield opener
            if op.kind == "placeholder" and op.text not in ("arguments", "envelope"):
                return
        if self.closer and self.closer[0].kind == "literal":
            yield self.closer[0].text

    @cached_property
    def weight(self) -> int:
        """The number of literal characters, which decides a tie."""
        return sum(len(op.text) for op in self.ops if op.kind == "literal")


FormParts: TypeAlias = tuple[Form, tuple[Section, ...], tuple[CallPattern, ...]]
