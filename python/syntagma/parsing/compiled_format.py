"""A format compiled for reading: what may begin or end in each state. Compiled once, and shared by all its parsers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from syntagma.format_schema import (
    FormatSpec,
    Markers,
    Pattern,
    PlacedPiece,
    ends_at_next,
    is_weak,
    kept,
    stands_alone,
    texts_in_turn,
)
from syntagma.format_schema.facts import Block, block_of, call_openers, interrupts, preserved_tokens, shortest
from syntagma.parsing.call_patterns import CallPattern, FormParts, Op, Section
from syntagma.parsing.header_router import HeaderRouter
from syntagma.parsing.misspelt import Misspellings
from syntagma.parsing.pattern_compiler import forms_of, starts_of
from syntagma.parsing.text.scanner import MarkerSet

__all__ = ["CompiledFormat", "Exit", "ExitKind", "Exits", "compiled_format"]

ExitKind: TypeAlias = Literal[
    "call", "reasoning", "section", "wrapper", "drop", "close", "cut", "stray", "interrupt", "next"
]


class Exit(msgspec.Struct, frozen=True):
    """The meaning of a text that leaves a state.

    Attributes:
        kind: what begins or ends with it.
        edge: how many characters of the text are whitespace before the marker.
        pieces: the parts of the text that may be tokens.
        block: the block that it opens or closes.
        opens: whether it opens the block.
        only_first: whether it counts only if nothing but whitespace stands before it in the answer.
    """

    kind: ExitKind
    edge: int
    pieces: tuple[PlacedPiece, ...]
    block: Block | None = None
    opens: bool = False
    only_first: bool = False


class Exits(NamedTuple):
    """The texts that leave a state.

    Attributes:
        by_text: the meanings that each may have, the likeliest first.
        markers: the texts.
        stops: the characters at which these, or markers that are reported, begin.
    """

    by_text: dict[str, list[Exit]]
    markers: MarkerSet
    stops: frozenset[str] = frozenset()


class CompiledFormat(msgspec.Struct, frozen=True, kw_only=True):
    """The texts that the readers of turns look for. Immutable; threads may share it.

    Attributes:
        markers: cuts literals at the markers of the format.
        calls: whether calls are read.
        forms: all forms of calls.
        starts: all patterns with which calls can begin.
        bare_starts: those that begin with an object or a name, without a marker.
        openings: the patterns that begin with each marker.
        longer_openers: openers of the answer or of reasoning that begin like a call.
        openers_like_closers: openers of reasoning, the answer or calls that begin like a closer of reasoning.
        blocks: the blocks of reasoning.
        repeats: whether further blocks are reasoning too.
        wrappers: the wrappers of the answer.
        router: where messages with headers go; None: the format has no headers.
        texts: all texts that have a meaning inside a turn.
        told: the markers that are reported where they stay in text.
        told_pieces: for each of them, its parts that may be tokens.
        strays: the closers of calls and sections that are removed where they stand after a call and close nothing.
        misspellings: other spellings of the openers of sections.
        unlisted: the calls that begin with their name, inside a list of signs alone.
        section_calls: for each of these openers the patterns of the calls in its section.
        turn_ends: the end of the turn: for each place in order, the texts any of which may stand there.
    """

    markers: Markers
    calls: bool
    forms: tuple[FormParts, ...]
    starts: tuple[CallPattern, ...]
    bare_starts: tuple[CallPattern, ...]
    openings: dict[str, tuple[CallPattern, ...]]
    longer_openers: tuple[str, ...]
    openers_like_closers: tuple[str, ...]
    blocks: tuple[Block, ...]
    repeats: bool
    wrappers: tuple[Block, ...]
    router: HeaderRouter | None
    texts: tuple[str, ...]
    told: MarkerSet
    told_pieces: dict[str, tuple[PlacedPiece, ...]]
    turn_ends: tuple[tuple[str, ...], ...]
    strays: tuple[Op, ...]
    misspellings: Misspellings
    unlisted: tuple[CallPattern, ...]
    section_calls: dict[str, tuple[CallPattern, ...]]
    answer_exits: dict[tuple[bool, Section | None], Exits]
    """by whether a block of reasoning may begin, and by the open section"""
    reasoning_exits: dict[tuple[Block | None, bool], Exits]
    """by the open block, which the closers of all that open alike end (None: any closer), and by whether a call may
    interrupt it"""
    interrupts: dict[str, tuple[CallPattern, ...]]
    """for each text that interrupts reasoning, the patterns of the calls that it may begin; none: it opens no call"""
    interrupting_openers: frozenset[str]
    """the openers of sections among them"""
    calls_close_reasoning: bool
    """whether calls and reasoning have one closer, so that no later closer says that a call was quoted"""
    next_calls: dict[Section | None, tuple[CallPattern, ...]]
    """the patterns with which a further call may begin, by the open section (None: outside)"""
    after_calls: dict[tuple[int, ...], tuple[Any, Any]] = {}
    """what may come after calls, as far as `AfterCall` has found it"""

    def closer_after(self, call: CallPattern) -> tuple[Op, ...]:
        """The section closer, if it is a marker, that may follow a call whose section was not opened."""
        for form, sections, _ in self.forms:
            for section in sections if form is call.form else ():
                if section.opener and section.closer and section.closer[0].marker:
                    return section.closer
        return ()


def compiled_format(spec: FormatSpec, *, calls: bool = True) -> CompiledFormat:
    """The compiled format, made at its first use and kept as long as the format itself.

    Args:
        spec: the format.
        calls: whether calls are read.

    Raises:
        FormatError: `E-FORMAT-UNSUPPORTED`, the format uses something that the parser does not support.
    """
    return _with_calls(spec) if calls else _without_calls(spec)


@kept
def _with_calls(spec: FormatSpec) -> CompiledFormat:
    return _compile(spec, calls=True)


@kept
def _without_calls(spec: FormatSpec) -> CompiledFormat:
    return _compile(spec, calls=False)


def _compile(spec: FormatSpec, *, calls: bool) -> CompiledFormat:
    markers = spec.cuts
    known = forms_of(spec)  # even if calls are not read: an unsupported format is refused
    forms = tuple(known) if calls else ()
    starts = tuple(start for form in forms for start in starts_of(form))
    openers = tuple(dict.fromkeys(start.section_words[0] for start in starts))
    marked = tuple(start for start in starts if not start.bare)
    reasoning = spec.reasoning
    blocks = tuple(_reasoning_block(spec, pattern, markers) for pattern in spec.reasoning_blocks)
    wrappers = tuple(block_of(pattern, "content", markers) for pattern in spec.wrappers)
    told = MarkerSet(shortest((*preserved_tokens(spec), *call_openers(spec))))
    strays = _reasoning_strays(spec, wrappers)
    interrupting = _interrupts(spec, known)
    firsts = dict.fromkeys(start.first for start in marked)
    sections: dict[Section | None, None] = {None: None, **{one: None for _, each, _ in forms for one in each}}
    return CompiledFormat(
        markers=markers,
        calls=calls,
        forms=forms,
        starts=starts,
        bare_starts=tuple(start for start in starts if start.bare),
        openings={first: tuple(start for start in marked if first.startswith(start.first)) for first in firsts},
        longer_openers=tuple(
            block.opener
            for block in (*blocks, *wrappers)
            if any(block.opener != first and block.opener.startswith(first) for first in firsts)
        ),
        openers_like_closers=tuple(
            opener
            for opener in (*firsts, *(block.opener for block in (*blocks, *wrappers)))
            if any(block.closer and opener.startswith(block.closer) for block in blocks)
        ),
        blocks=blocks,
        repeats=reasoning is not None and reasoning.repeat,
        wrappers=wrappers,
        router=HeaderRouter(spec, spec.messages) if spec.messages is not None else None,
        texts=texts_in_turn(spec),
        told=told,
        told_pieces={text: markers.placed(text) for text in told.texts},
        turn_ends=spec.turn_ends,
        strays=_strays(spec, forms, (*firsts, *(block.opener for block in (*blocks, *wrappers)))),
        misspellings=Misspellings(
            openers,
            (
                *(text for block in (*blocks, *wrappers) for text in (block.opener, block.closer)),
                *(op.text for one in starts for op in (*one.closer, *(one.section.closer if one.section else ()))),
                *(text for texts in (spec.drop, *spec.turn_ends) for text in texts),
            ),
        ),
        unlisted=tuple(
            call
            for _, sections, calls in forms
            for call in calls
            if not call.first and any(op.text and not _has_word(op.text) for one in sections for op in one.opener[:1])
        ),
        section_calls={
            opener: tuple(start for start in starts if start.section_words[0] == opener) for opener in openers if opener
        },
        interrupting_openers=frozenset(
            one.section_words[0] for calls in interrupting.values() for one in calls if one.section_words[0]
        ),
        next_calls={
            section: (*(call for _, each, calls in forms if section in each for call in calls), *starts)
            for section in sections
        },
        answer_exits={
            (may_reason, section): _exits(
                _answer_exits(marked, blocks if may_reason else (), section, wrappers, spec.drop), markers, told
            )
            for may_reason in (False, True)
            for section in sections
        },
        interrupts=interrupting,
        calls_close_reasoning=any(op.text == block.closer for one in starts for op in one.closer for block in blocks),
        reasoning_exits={
            (block, may_interrupt): _exits(
                [
                    *_reasoning_exits(
                        tuple(one for one in blocks if block is None or one.opener == block.opener),
                        interrupting if may_interrupt else (),
                        wrappers,
                        marked,
                    ),
                    *strays,
                ],
                markers,
                told,
            )
            for may_interrupt in (False, True)
            for block in (None, *blocks)
        },
    )


def _has_word(text: str) -> bool:
    return any(map(str.isalnum, text))


def _strays(spec: FormatSpec, forms: Iterable[FormParts], openers: Iterable[str]) -> tuple[Op, ...]:
    """See `CompiledFormat.strays`: those with a marker, whole and from it on, with which nothing else opens."""
    closers = [op for _, _, calls in forms for one in calls for op in one.closer]
    closers += [op for _, sections, _ in forms for one in sections for op in one.closer]
    texts = dict.fromkeys(
        text
        for op in closers
        for piece in op.pieces
        if op.kind == "literal" and piece.is_marker
        for text in (op.text, op.text[piece.at :])
    )
    opening = [opener for opener in openers if opener]
    free = (text for text in texts if not any(one.startswith(text) or text.startswith(one) for one in opening))
    return tuple(Op("literal", text, True, spec.cuts.placed(text)) for text in free)


def _interrupts(spec: FormatSpec, known: Iterable[FormParts]) -> dict[str, tuple[CallPattern, ...]]:
    """See `CompiledFormat.interrupts`. Where calls are not read, they end reasoning, too."""
    starts = [start for form in known for start in starts_of(form) if not start.bare]
    answers = [wrapper.opener.strip() for wrapper in spec.wrappers]
    return {
        text: tuple(
            one for one in starts if text not in answers and (text.startswith(one.first) or one.first.startswith(text))
        )
        for text in interrupts(spec)
    }


def _answer_exits(
    starts: tuple[CallPattern, ...],
    blocks: tuple[Block, ...],
    section: Section | None,
    wrappers: tuple[Block, ...],
    drop: tuple[str, ...],
) -> list[_Leaving]:
    """The markers that leave the answer; the closer of an open section is removed from it."""
    closers = section.closer if section is not None else ()
    return [
        *(_Leaving(start.first, start.before, "call") for start in starts),
        *(_Leaving(block.opener, block.before, "reasoning", block) for block in blocks),
        *(_Leaving(op.text, "", "section") for op in closers if op.marker),
        *(_Leaving(block.opener, block.before, "wrapper", block, opens=True) for block in wrappers),
        *(_Leaving(block.closer, block.before_closer, "wrapper", block) for block in wrappers),
        *(_Leaving(text, "", "drop") for text in drop),
    ]


def _reasoning_exits(
    blocks: tuple[Block, ...],
    interrupts: Iterable[str],
    wrappers: tuple[Block, ...],
    starts: Iterable[CallPattern],
) -> list[_Leaving]:
    """The markers that leave reasoning: closers, interrupts, and openers that follow a block without a closer."""
    closers = [_Leaving(block.closer, block.before_closer, "close", block) for block in blocks]
    openers = tuple(dict.fromkeys((*(wrapper.opener for wrapper in wrappers), *(start.first for start in starts))))
    closers += [
        _Leaving(text, block.before_closer, "cut", block) for block in blocks for text in block.cut_before(openers)
    ]
    nexts = [one for block in blocks for one in _nexts(block, wrappers, starts)]
    return [*closers, *nexts, *(_Leaving(text, "", "interrupt") for text in interrupts)]


def _reasoning_strays(spec: FormatSpec, wrappers: Iterable[Block]) -> list[_Leaving]:
    """The closers of the answer and the turn, which close nothing in reasoning; those of signs alone are text."""
    closers = [(wrapper.closer, wrapper.before_closer) for wrapper in wrappers]
    closers += [(text.strip(), "") for texts in (spec.drop, *spec.turn_ends) for text in texts]
    marked = dict.fromkeys(one for one in closers if any(piece.is_marker for piece in spec.cuts.pieces(one[0])))
    return [_Leaving(text, edge, "stray") for text, edge in marked]


def _reasoning_block(spec: FormatSpec, pattern: Pattern, markers: Markers) -> Block:
    """A block of reasoning. Without a closer, the whitespace after it closes it, unless what follows has an opener."""
    block = block_of(pattern, "reasoning", markers)
    if block.trailing is None or spec.messages is not None or ends_at_next(spec, pattern):
        return block
    return msgspec.structs.replace(block, closer=block.trailing, trailing=None)


def _nexts(block: Block, wrappers: tuple[Block, ...], starts: Iterable[CallPattern]) -> Iterator[_Leaving]:
    """What ends reasoning because it opens what follows: the answer's wrapper, or a call."""
    if block.trailing is None:
        return
    shown = [(one.opener, one.before, one) for one in wrappers] + [(one.first, one.before, None) for one in starts]
    for opener, before, wrapper in shown:
        # Where whitespace stands on both sides, one of the two is enough.
        for edge in dict.fromkeys((block.trailing + before, block.trailing or before)):
            yield _Leaving(opener, edge, "next", wrapper)


class _Leaving(NamedTuple):
    """A marker that leaves a state, and the whitespace before it that belongs to it; the other fields as in `Exit`."""

    marker: str
    edge: str
    kind: ExitKind
    block: Block | None = None
    opens: bool = False


def _counts_alone(kind: ExitKind, marker: str, markers: Markers, *, opens: bool) -> bool:
    """Whether a marker counts without the whitespace that the format shows before it.

    A single sign occurs anywhere in prose, so it closes a block only with that whitespace. The same holds for words
    that end reasoning because they open something else.
    """
    if kind == "next":
        return any(piece.is_marker for piece in markers.pieces(marker))
    return kind not in ("close", "cut", "stray", "wrapper") or opens or stands_alone(marker)


def _exits(leaving: list[_Leaving], markers: Markers, told: MarkerSet) -> Exits:
    by_text: dict[str, list[Exit]] = {}
    for marker, edge, kind, block, opens in leaving:
        for before in {edge, "" if _counts_alone(kind, marker, markers, opens=opens) else edge} if marker else ():
            text = before + marker
            only_first = (kind == "reasoning" or opens) and is_weak(marker)
            made = Exit(kind, len(before), markers.placed(text), block, opens, only_first)
            by_text.setdefault(text, []).append(made)
    found = MarkerSet(by_text)
    return Exits(by_text, found, found.firsts | told.firsts)
