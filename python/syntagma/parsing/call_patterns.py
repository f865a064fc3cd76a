"""Patterns compiled for reading: literals cut into markers, whitespace made optional, every way to begin a call."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cached_property
from typing import Literal as OneOf
from typing import TypeAlias

import msgspec

from syntagma.format_schema import (
    Envelope,
    Markers,
    Notation,
    Pattern,
    PlacedPiece,
    TypeMeaning,
    is_weak_before_name,
    stands_alone,
)
from syntagma.format_schema.names import NAME_SIGNS
from syntagma.parsing.call_steps import CallSteps, Step, characters_of
from syntagma.parsing.literal_runs import LiteralRun, Op, longest_first
from syntagma.parsing.text.scanner import MarkerSet

__all__ = [
    "Block",
    "CallPattern",
    "Form",
    "FormParts",
    "Nesting",
    "Op",
    "Section",
    "block_of",
]


class Block(msgspec.Struct, frozen=True):
    """Free text between two markers. Exactly the whitespace shown beside it is taken off, if it is there."""

    opener: str
    closer: str
    before: str
    """whitespace before the opener"""
    after_opener: str
    before_closer: str
    after: str
    """whitespace after the closer"""
    pieces: tuple[PlacedPiece, ...] = ()
    """of the closer: what may be tokens"""
    trailing: str = ""
    """whitespace after the text, where nothing else closes it"""


class Section(msgspec.Struct, frozen=True):
    """What surrounds a group of calls."""

    opener: tuple[Op, ...]
    closer: tuple[Op, ...]
    before: str
    after: str


class Nesting(msgspec.Struct, frozen=True):
    """How elements are written that are named after their keys and may hold further ones."""

    open: str
    open_end: str
    close: str
    close_end: str
    item: str | None
    """the name of an array's elements"""
    after_opener: str
    before_closer: str
    """whitespace beside a value: exactly this run is taken off, if it is there"""


class Form(msgspec.Struct, frozen=True, dict=True):
    """One way to write calls: what the readers need to know of a `ToolsSpec`."""

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
    """what follows a literal value, where the key is a part of it, as in the closing tag of an element"""
    values: str
    types: dict[str, TypeMeaning]
    notation: Notation
    escape: frozenset[OneOf["attributes", "values"]]
    nesting: Nesting | None
    """arguments are elements named after their keys"""
    markers: Markers
    """how literals are cut"""
    sectionless: bool
    """calls may stand without the opener of a section, even those that begin with no literal"""

    @cached_property
    def late_id(self) -> bool:
        """An id may come after the arguments."""
        return any("id" in one.pattern.placeholders for one in self.envelope)


class CallPattern(msgspec.Struct, frozen=True, dict=True):
    """One way in which a call can begin, alone or after the opener of its section."""

    ops: tuple[Op, ...]
    """up to and with the placeholder that holds the arguments, or all of the call if it has none"""
    closer: tuple[Op, ...]
    """what stands after the arguments: literals, and an id, a name or a number between them"""
    form: Form
    section: Section | None
    before: str
    after: str
    bare_call: bool
    """the call itself begins with an object or a name, whatever opens its section"""
    value_ends: tuple[str, ...] = ()
    """what a raw value ends at, with and without whitespace before it"""
    ends: tuple[Op, ...] = ()
    """what ends arguments one by one as the first of `closer` does"""

    @cached_property
    def value_closers(self) -> MarkerSet:
        """What a raw value ends at."""
        open_ends = self.ends if self.form.value is not None and not self.form.value.closer else ()
        return MarkerSet((*self.value_ends, *(op.text for op in open_ends)))

    @cached_property
    def value_pieces(self) -> dict[str, tuple[PlacedPiece, ...]]:
        """What may be tokens in each of the texts that a raw value ends at."""
        return {text: self.form.markers.placed(text) for text in self.value_closers.texts}

    @cached_property
    def after_value(self) -> tuple[LiteralRun, ...]:
        """What may follow an argument that is written on its own, or stand in its place, in the order of trial."""
        form = self.form
        whitespace = Op("whitespace")
        closer = tuple(one for op in self.decisive for one in (op, whitespace))[:-1]
        ends = [ops for ops in (closer, *((op,) for op in self.ends)) if ops]
        separator = [(Op("literal", form.argument_separator),)] if form.argument_separator else []
        arguments = []
        if form.argument is not None:
            # It may begin with the key itself; whatever ends no argument is one, then.
            arguments.append(tuple(itertools.takewhile(lambda op: op.kind != "placeholder", form.argument.ops)))
        return longest_first(
            (
                *(LiteralRun("close", ops) for ops in ends),
                *(LiteralRun("separator", ops) for ops in separator),
                *(LiteralRun("argument", ops) for ops in arguments),
            )
        )

    @cached_property
    def begins_with_brace(self) -> bool:
        """What stands in the place of arguments may begin as an object does."""
        return any(op.text.startswith("{") for run in self.after_value for op in run.ops[:1])

    @cached_property
    def decisive(self) -> tuple[Op, ...]:
        """The literals after the arguments that tell their end from the beginning of an argument."""
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
        """An id stands after the arguments."""
        return any(op.kind == "placeholder" and op.text == "id" for op in self.closer)

    @cached_property
    def first(self) -> str:
        """The literal that it begins with; `{` of a bare object; empty if it begins with a name."""
        op = self.ops[0]
        if op.kind == "literal":
            return op.text
        return "{" if op.text in ("envelope", "arguments") else ""

    @cached_property
    def bare(self) -> bool:
        """It begins with an object, no literal before it."""
        return self.ops[0].kind == "placeholder"

    @cached_property
    def without_arguments(self) -> bool:
        """It is all of a call that has no arguments."""
        return not any(op.kind == "placeholder" and op.text in ("arguments", "envelope", "value") for op in self.ops)

    @cached_property
    def ends_itself(self) -> bool:
        """It ends in a marker, so that nothing of the call follows."""
        return self.ops[-1].kind == "literal" and self.ops[-1].marker

    @cached_property
    def framed(self) -> bool:
        """A marker stands before the commit point, so that text that gets so far was meant as a call."""
        return any(op.marker for op in self.ops)

    @cached_property
    def intended(self) -> bool:
        """A literal stands before the call, so that an object after it was meant as one."""
        return self.ops[0].kind == "literal" and not self.needs_known_name

    @cached_property
    def needs_known_name(self) -> bool:
        """A sign or a word stands before the name, as in any prose: only a declared tool's name makes it a call."""
        first, *rest = self.ops
        return first.kind == "literal" and is_weak_before_name(first.text) and bool(rest) and rest[0].text == "name"

    @cached_property
    def steps(self) -> CallSteps:
        """The same, as its readers take it."""
        return CallSteps(tuple(self._step(at) for at in range(len(self.ops))))

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
        """The literals that may stand after the capture at this step: the next, or what arguments begin or end with."""
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
        """Literal characters, which decide a tie."""
        return sum(len(op.text) for op in self.ops if op.kind == "literal")


FormParts: TypeAlias = tuple[Form, tuple[Section, ...], tuple[CallPattern, ...]]


def block_of(pattern: Pattern, placeholder: str, markers: Markers) -> Block:
    """The block that a pattern with one free-text placeholder describes."""
    opener, closer = pattern.around(placeholder)
    core, end = opener.strip(), closer.strip()
    if end and not stands_alone(closer) and not closer[0].isspace():
        # A single sign stands anywhere in prose, but not with whitespace after it.
        end = closer
    return Block(
        opener=core,
        closer=end,
        before=opener[: len(opener) - len(opener.lstrip())] if core else "",
        after_opener=opener[len(opener.rstrip()) :] if core else "",
        before_closer=closer[: len(closer) - len(closer.lstrip())] if end else "",
        after=closer[len(closer.rstrip()) :] if end and not end[-1].isspace() else "",
        pieces=markers.placed(end),
        trailing="" if end else closer,
    )
