"""What follows from the texts of a format: one truth for parser, grammar and writer, found once for each spec.

What opens and closes a part, by which text it is found, which whitespace beside it is dropped, where calls begin, and
what text may not contain.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from syntagma.format_schema.markers import Markers, PlacedPiece
from syntagma.format_schema.parts import ToolsSpec
from syntagma.format_schema.pattern import Literal, Pattern, leading, trailing
from syntagma.format_schema.spec import FormatSpec, ends_at_next, kept, shown_headers
from syntagma.format_schema.structure import structure_steps
from syntagma.format_schema.weak_texts import begins_exactly, is_weak, needs_known_name, stands_alone

__all__ = [
    "Block",
    "block_of",
    "call_beginnings",
    "call_openers",
    "closing",
    "closing_key",
    "forbidden_in_content",
    "forbidden_in_reasoning",
    "has_bare_calls",
    "interrupts",
    "next_openers",
    "preserved_tokens",
    "search_key",
    "shortest",
    "stop_strings",
    "triggers",
    "without_arguments",
]


_BEGUN = re.compile(r"[<\[][^\s<\[]")
"""the beginning of a marker"""


class Block(msgspec.Struct, frozen=True):
    """Free text between two markers. Exactly the whitespace that the format shows beside it is removed, if present."""

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
    trailing: str | None = None
    """whitespace after the text, or none, where nothing else closes it"""

    @property
    def short(self) -> str:
        """The closer without its last marker, with which some models write it; empty if it has one marker only."""
        markers = [piece for piece in self.pieces if piece.is_marker]
        ends_in_one = bool(markers) and self.closer.endswith(markers[-1].text)
        return self.closer[: markers[-1].at].rstrip() if ends_in_one and len(markers) > 1 else ""

    def cut_before(self, openers: Iterable[str]) -> Iterator[str]:
        """The short closer before each opener of what may follow; without one, it is text."""
        return (self.short + opener for opener in openers if self.short and opener)


def block_of(pattern: Pattern, placeholder: str, markers: Markers) -> Block:
    """The block that a pattern with one free-text placeholder describes."""
    opener, closer = pattern.around(placeholder)
    core, end = opener.strip(), closing(closer)
    if end and end[0].isspace():
        end = end.lstrip()
    return Block(
        opener=core,
        closer=end,
        before=leading(opener) if core else "",
        after_opener=trailing(opener) if core else "",
        before_closer=leading(closer) if end else "",
        after=trailing(closer) if end and not end[-1].isspace() else "",
        pieces=markers.placed(end),
        trailing=None if end else closer,
    )


# ---- the texts by which openers and closers are found


def search_key(spec: FormatSpec, opener: str) -> str:
    """The text by which an opener is found: its first marker or word."""
    return next((step.text for step in structure_steps(spec.cuts.pieces(opener.strip())) if step), "")


def without_arguments(call: Pattern) -> Pattern:
    """A call whose arguments are written one by one, and which has none: one run of whitespace in their place."""
    before, _, after = call.text.partition("{arguments}")
    return Pattern(before + (after.lstrip() if before[-1:].isspace() else after))


def closing(closer: str) -> str:
    """The text that closes a block of text: a single sign closes one only with the whitespace beside it."""
    if stands_alone(closer):
        return closer.strip()
    return closer.rstrip() if closer[0].isspace() else closer


def closing_key(spec: FormatSpec, closer: str) -> str:
    """The text by which a closer is found: its first marker, or all of it."""
    return _first_marker(spec, closer) or closing(closer)


def _first_marker(spec: FormatSpec, text: str) -> str:
    first = next(iter(spec.cuts.pieces(text.strip())), None)
    return first.text if first is not None and first.is_marker else ""


def call_beginnings(spec: FormatSpec, call: Pattern, names: Sequence[str] | None) -> tuple[str, ...]:
    """The texts by which a call is found: its opener, with each declared name if the opener is a sign."""
    if not begins_exactly(call.opener):
        return (search_key(spec, call.opener),)
    if names is None or not needs_known_name(call):
        return (call.opener.lstrip(),)
    return tuple(call.opener.lstrip() + name for name in names)


@kept
def has_bare_calls(spec: FormatSpec) -> bool:
    """Whether a call may begin with its JSON object, without any literal before it."""
    return any(
        not section.opener.strip() and not call.opener.strip() and call.placeholders[:1] == ("envelope",)
        for form in spec.forms
        for section in form.section
        for call in form.call
    )


@kept
def next_openers(spec: FormatSpec) -> tuple[str, ...]:
    """The openers that end reasoning without a closing marker; words only after the whitespace."""
    calls = [one.opener for form in spec.forms for one in form.section]
    for form in spec.forms:
        space = next((one.opener for one in form.section if not one.opener.strip()), "")
        calls += [space + one.opener for one in form.call]
    openers = [text.rstrip() for text in (*(one.opener for one in spec.wrappers), *calls) if text.strip()]
    return tuple(
        search_key(spec, opener)
        if any(one.is_marker for one in spec.cuts.pieces(opener))
        else block.closer + opener.lstrip()
        if block.closer
        else opener
        for block in spec.reasoning_blocks
        for opener in (openers if ends_at_next(spec, block) else ())
    )


@kept
def interrupts(spec: FormatSpec) -> tuple[str, ...]:
    """The texts that may end open reasoning without its closer: those of the key `interrupt`, or the openers of calls.

    Only markers are among the latter: prose holds signs, words and objects, too. In messages with headers nothing does.
    """
    reasoning = spec.reasoning
    if reasoning is None or spec.messages is not None:
        return ()
    return call_openers(spec) if reasoning.interrupt is None else reasoning.interrupt


@kept
def call_openers(spec: FormatSpec) -> tuple[str, ...]:
    """The markers with which calls begin, in a section and without one, as far as both are read; each once."""
    openers = [one.opener for form in spec.forms for one in (*form.section, *form.call) if stands_alone(one.opener)]
    return _unique(key for key in (search_key(spec, opener) for opener in openers) if _is_marked(spec, key))


def _is_marked(spec: FormatSpec, text: str) -> bool:
    """Whether a text holds a marker, or the beginning of one that a placeholder completes, as in `<function=`."""
    return _BEGUN.match(text) is not None or any(piece.is_marker for piece in spec.cuts.pieces(text))


# ---- what an engine needs


@kept
def preserved_tokens(spec: FormatSpec) -> tuple[str, ...]:
    """All markers of the format, each once, in the order of the file: tokens that a detokenizer must not drop."""
    ends = itertools.chain.from_iterable(spec.turn_ends)
    return _unique(_markers(spec, (*_structure(spec), *spec.drop, *ends, *_headers(spec))))


@kept
def triggers(spec: FormatSpec) -> tuple[str, ...]:
    """The texts that begin the calls of a turn: the first marker or word of each opener, or the header of a message.

    They have no whitespace at their edges, unless it is part of a header's field. The trigger of a call that begins
    with its object is the text before the name.
    """
    if spec.messages is not None:
        return _unique(header.opener.rstrip() for header in shown_headers(spec))
    return _unique(trigger for form in spec.forms for trigger in _triggers(spec, form))


def _triggers(spec: FormatSpec, form: ToolsSpec) -> Iterator[str]:
    openers = [section.opener for section in form.section]
    if not all(opener.strip() for opener in openers):
        openers += [call.opener for call in form.call]
        if any(call.placeholders[:1] == ("envelope",) and not call.opener.strip() for call in form.call):
            yield from (envelope.pattern.opener.rstrip() for envelope in form.envelope)
    yield from (search_key(spec, opener) for opener in openers)


@kept
def stop_strings(spec: FormatSpec) -> tuple[str, ...]:
    """The texts that end the turn, for engines whose vocabulary has no token for it.

    Closers of calls and sections are not among them: they may stand inside a string argument.
    """
    places = (_unique(map(_end, texts)) for texts in spec.turn_ends)
    return next((texts for texts in places if texts), ())


# ---- what text may not contain


def forbidden_in_content(spec: FormatSpec, names: Sequence[str] | None = None) -> tuple[str, ...]:
    """The texts that an answer may not contain, so that it is read as an answer.

    `names` are those of the declared tools; None: undeclared.

    These are the markers of the format and, for an opener without a marker, the text by which the parser finds it. In
    the body of a message with a header, only the markers of headers and the ends of messages have a meaning.
    """
    by_name = names is not None and _begins_with_name(spec)
    return _forbidden(spec, names) if by_name else _forbidden_before_any_name(spec)


@kept
def _begins_with_name(spec: FormatSpec) -> bool:
    """Whether a call is found by its tool's name."""
    return spec.messages is None and any(needs_known_name(call) for call in _calls(spec))


@kept
def _forbidden_before_any_name(spec: FormatSpec) -> tuple[str, ...]:
    return _framing(spec) if spec.messages is not None else _forbidden(spec, None)


def _forbidden(spec: FormatSpec, names: Sequence[str] | None) -> tuple[str, ...]:
    blocks, wrappers = spec.reasoning_blocks, spec.wrappers
    found = list(_markers(spec, _structure(spec)))
    # What is weak opens a text only where the answer begins.
    openers = [block.opener for block in (*blocks, *wrappers) if not is_weak(block.opener)]
    found += [search_key(spec, one) for one in (*openers, *(one.opener for form in spec.forms for one in form.section))]
    found += [text for call in _calls(spec) for text in call_beginnings(spec, call, names)]
    # Reasoning is over, so its closer is text. But at the start of the answer the parser takes a marker for a slip.
    closers = [block.closer for block in (*(one for one in blocks if stands_alone(one.closer)), *wrappers)]
    return shortest((*found, *(closing_key(spec, one) for one in closers), *_dropped(spec), *_ends(spec)))


@kept
def forbidden_in_reasoning(spec: FormatSpec) -> tuple[str, ...]:
    """The texts that reasoning may not contain beside its closer: interrupts, other closers, the end of the turn."""
    if spec.reasoning is None:
        return ()
    if spec.messages is not None:
        return _framing(spec)
    keys = (search_key(spec, marker) for marker in interrupts(spec))
    closers = [closing_key(spec, block.closer) for block in spec.reasoning.block]
    blocks = [block_of(one, "reasoning", spec.cuts) for one in spec.reasoning.block]
    openers = (*(one.opener.strip() for one in spec.wrappers), *call_openers(spec))
    closers += [text for block in blocks for text in block.cut_before(openers)]
    if spec.reasoning.to == "content" or any(ends_at_next(spec, block) for block in spec.reasoning.block):
        # Directly before an opener, or the end, the parser takes them for slips.
        closers += [*(closing_key(spec, wrapper.closer) for wrapper in spec.wrappers), *_dropped(spec)]
    return shortest((*next_openers(spec), *keys, *closers, *_ends(spec)))


def shortest(texts: Iterable[str]) -> tuple[str, ...]:
    """The texts without those that contain another: to forbid the shorter one forbids them too."""
    unique = _unique(texts)
    return tuple(text for text in unique if not any(other != text and other in text for other in unique))


def _framing(spec: FormatSpec) -> tuple[str, ...]:
    """The markers of headers, the ends of messages, and the end of the turn."""
    ends = spec.messages.end if spec.messages is not None else ()
    return shortest((*_markers(spec, _headers(spec)), *ends, *_ends(spec), *_dropped(spec)))


def _dropped(spec: FormatSpec) -> Iterator[str]:
    return (text.strip() for text in spec.drop)


def _ends(spec: FormatSpec) -> list[str]:
    """The texts that end the turn. A sign after a marker of the end is left out: alone it ends nothing."""
    found: list[str] = []
    for texts in spec.turn_ends:
        found += [_end(text) for text in texts if not any(found) or not begins_exactly(text)]
    return found


def _end(text: str) -> str:
    """A text that ends the turn: a sign, or a run of one, only with the whitespace around it."""
    return text if begins_exactly(text) else text.strip()


def _calls(spec: FormatSpec) -> Iterator[Pattern]:
    """The patterns of calls that may begin in an answer, without a section."""
    for form in spec.forms:
        sectionless = any(not section.opener for section in form.section)
        yield from (call for call in form.call if sectionless or stands_alone(call.opener))


def _structure(spec: FormatSpec) -> Iterator[str]:
    """Literals of reasoning, wrapper and calls."""
    yield from _literals(spec.reasoning_blocks)
    yield from (spec.reasoning.interrupt or ()) if spec.reasoning is not None else ()
    yield from _literals(spec.wrappers)
    for form in spec.forms:
        yield from _literals((*form.section, *form.call, *form.argument))
        yield from (form.separator, form.argument_separator)


def _literals(patterns: Iterable[Pattern]) -> Iterator[str]:
    return (item.text for one in patterns for item in one.items if isinstance(item, Literal))


def _headers(spec: FormatSpec) -> tuple[str, ...]:
    one = spec.messages
    return () if one is None else (*one.start, *one.fields, one.body, *one.end)


def _markers(spec: FormatSpec, literals: Iterable[str]) -> Iterator[str]:
    return (piece.text for literal in literals for piece in spec.cuts.pieces(literal) if piece.is_marker)


def _unique(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in texts if text))
