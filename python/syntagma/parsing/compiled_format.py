"""A format compiled for reading: what can begin or end in each state, found once per format."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from syntagma.format_schema import FormatSpec
from syntagma.parsing.call_patterns import (
    Alternative,
    Block,
    FormParts,
    Op,
    Section,
    block_of,
    forms_of,
    marker_pieces,
    starts_of,
)
from syntagma.parsing.header_router import Routes, routes_of
from syntagma.parsing.opening import Opening
from syntagma.parsing.text.scanner import Scanner

__all__ = ["CompiledFormat", "Key", "KeyKind"]

KeyKind: TypeAlias = Literal["call", "reasoning", "section", "wrapper", "drop", "close", "interrupt"]


class Key(msgspec.Struct, frozen=True):
    """A text that leaves a state, with the blank run before it that belongs to it."""

    kind: KeyKind
    edge: int
    """how many blanks of the key's text come before the marker"""
    pieces: tuple[tuple[int, str], ...]
    """the markers in it: offset in the key's text, text"""
    block: Block | None = None
    opens: bool = False


KeyTable: TypeAlias = dict[str, list[Key]]


class CompiledFormat:
    """What the states of the reader look for.

    Raises:
        FormatError: `E-FORMAT-UNSUPPORTED`, the format uses something that the reader does not know yet.
    """

    def __init__(self, spec: FormatSpec, *, calls: bool) -> None:
        self.spec = spec
        forms: list[FormParts] = forms_of(spec)
        self.forms = forms if calls else []
        self.calls = calls
        self.routes: Routes | None = routes_of(spec)
        self.starts: tuple[Alternative, ...] = tuple(start for form in self.forms for start in starts_of(form))
        self.bare: tuple[Alternative, ...] = tuple(start for start in self.starts if start.bare)
        self._marked = tuple(start for start in self.starts if not start.bare)
        self._openings: dict[str, tuple[Opening, ...]] = {}
        reasoning, content = spec.reasoning, spec.content
        self.blocks: tuple[Block, ...] = (
            tuple(block_of(pattern, "reasoning") for pattern in reasoning.block) if reasoning is not None else ()
        )
        self.wrappers: tuple[Block, ...] = (
            tuple(block_of(pattern, "content") for pattern in content.block) if content is not None else ()
        )
        firsts = {start.first for start in self._marked}
        self.longer_openers: tuple[str, ...] = tuple(
            block.opener
            for block in (*self.blocks, *self.wrappers)
            if any(block.opener != first and block.opener.startswith(first) for first in firsts)
        )
        self.end_of_turn = spec.end_of_turn
        self._thoughts: dict[tuple[Block | None, bool], tuple[KeyTable, Scanner]] = {}
        self._content: dict[tuple[bool, Section | None], tuple[KeyTable, Scanner]] = {}

    def openings(self, marker: str) -> tuple[Opening, ...]:
        """What begins with this marker."""
        found = self._openings.get(marker)
        if found is None:
            begun = [Opening(start) for start in self._marked if marker.startswith(start.first)]
            found = self._openings[marker] = tuple(begun)
        return found

    def inner(self, form_section: Section) -> tuple[Alternative, ...]:
        """The calls that may stand inside this section."""
        return tuple(call for _, sections, calls in self.forms if form_section in sections for call in calls)

    def closer_behind(self, call: Alternative) -> tuple[Op, ...]:
        """The closer of a section that may come behind a call whose section was not opened: one that is a marker."""
        for form, sections, _ in self.forms:
            for section in sections if form is call.form else ():
                if section.opener and section.closer and section.closer[0].marker:
                    return section.closer
        return ()

    def content_keys(self, *, reasoning: bool, section: Section | None) -> tuple[KeyTable, Scanner]:
        """What leaves content: `reasoning`: a block may begin; `section`: open, so its closer is removed."""
        table = self._content.get((reasoning, section))
        if table is None:
            keys: KeyTable = {}
            for start in self.starts:
                if not start.bare:
                    _add(keys, start.first, start.before, Key("call", 0, ()))
            for block in self.blocks if reasoning else ():
                _add(keys, block.opener, block.before, Key("reasoning", 0, (), block))
            for op in section.closer if section is not None else ():
                if op.marker:
                    _add(keys, op.text, "", Key("section", 0, ()))
            for block in self.wrappers:
                _add(keys, block.opener, block.before, Key("wrapper", 0, (), block, opens=True))
                _add(keys, block.closer, block.before_closer, Key("wrapper", 0, (), block))
            for text in self.spec.content.drop if self.spec.content is not None else ():
                _add(keys, text, "", Key("drop", 0, ()))
            table = self._content[(reasoning, section)] = (keys, Scanner(keys))
        return table

    def thought_keys(self, block: Block | None, *, interrupts: bool) -> tuple[KeyTable, Scanner]:
        """What leaves reasoning that `block` opened (None: any closer ends it)."""
        if (block, interrupts) in self._thoughts:
            return self._thoughts[block, interrupts]
        keys: KeyTable = {}
        for one in self.blocks if block is None else (block,):
            _add(keys, one.closer, one.before_closer, Key("close", 0, (), one))
        if interrupts and self.spec.reasoning is not None:
            for text in self.spec.reasoning.interrupt:
                _add(keys, text, "", Key("interrupt", 0, ()))
        table = self._thoughts[block, interrupts] = (keys, Scanner(keys))
        return table


def _add(keys: KeyTable, text: str, edge: str, key: Key) -> None:
    for before in {edge, ""} if text else ():
        whole = before + text
        pieces = marker_pieces(whole)
        keys.setdefault(whole, []).append(msgspec.structs.replace(key, edge=len(before), pieces=pieces))
