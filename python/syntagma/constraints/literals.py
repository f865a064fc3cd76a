"""The literals of a format: markers, triggers, stop strings; literals as grammars; text without any of them."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from syntagma.constraints.whitespace import WHITESPACE
from syntagma.format_schema import (
    FormatSpec,
    Markers,
    MessagesSpec,
    Pattern,
    Placeholder,
    ToolsSpec,
    begins_exactly,
    ends_at_next,
    is_weak,
    message_ends,
    needs_known_name,
    shown_headers,
    stands_alone,
    structure_steps,
)
from syntagma.format_schema import Literal as LiteralItem
from syntagma.grammars import Grammar

__all__ = [
    "LiteralPart",
    "answer_text",
    "call_beginnings",
    "closing",
    "forbidden_in_content",
    "forbidden_in_reasoning",
    "free_text",
    "has_bare_calls",
    "joined_ends",
    "literal",
    "literal_parts",
    "preserved_tokens",
    "quoted",
    "reasoning_text",
    "search_key",
    "shortest",
    "stop_strings",
    "structure",
    "text_without",
    "triggers",
    "unterminated_text",
]


def search_key(spec: FormatSpec, literal: str) -> str:
    """The text by which the parser finds an opener: its first marker, or its text up to the first whitespace."""
    bare = literal.strip()
    first = next(iter(Markers(spec.markers).pieces(bare)), None)
    if first is None:
        return ""
    return first.text if first.is_marker else bare.split(maxsplit=1)[0]


def closing(closer: str) -> str:
    """The text that closes a block of text: a single sign closes one only with the whitespace beside it."""
    return closer.strip() if stands_alone(closer) else closer.rstrip() if closer[0].isspace() else closer


def _closing_key(spec: FormatSpec, closer: str) -> str:
    """The text by which the parser finds a closer: its first marker, or all of it."""
    first = next(iter(Markers(spec.markers).pieces(closer.strip())), None)
    return first.text if first is not None and first.is_marker else closing(closer)


def preserved_tokens(spec: FormatSpec) -> tuple[str, ...]:
    """All markers of the format, each once, in the order of the file: tokens that a detokenizer must not drop."""
    return _unique(_markers(spec, _literals(spec)))


def triggers(spec: FormatSpec) -> tuple[str, ...]:
    """The texts that begin the calls of a turn: the first marker or word of each opener, or the header of a message.

    They have no whitespace at their edges, unless it is part of a header's field. The trigger of a call that begins
    with its object is the text before the name.
    """
    if spec.tools is None:
        return ()
    if spec.messages is not None:
        return _unique(header.opener.rstrip() for header in shown_headers(spec))
    return _unique(trigger for form in spec.tools.forms for trigger in _triggers(spec, form))


def _triggers(spec: FormatSpec, form: ToolsSpec) -> Iterator[str]:
    markers = Markers(spec.markers)
    openers = [section.written.opener for section in form.section]
    if not all(opener.strip() for opener in openers):
        openers += [call.written.opener for call in form.call]
        if any(call.placeholders[:1] == ("envelope",) and not call.opener.strip() for call in form.call):
            yield from (envelope.pattern.opener.rstrip() for envelope in form.envelope)
    for opener in openers:
        yield from (step.text for step in itertools.islice(structure_steps(markers.pieces(opener.strip())), 1) if step)


def stop_strings(spec: FormatSpec) -> tuple[str, ...]:
    """The texts that end the turn, for engines whose vocabulary has no token for it.

    Closers of calls and sections are not among them: they may stand inside a string argument.
    """
    places = (_unique(map(_end, texts)) for texts in spec.turn_ends)
    return next((texts for texts in places if texts), ())


def forbidden_in_content(spec: FormatSpec, names: Sequence[str] | None = None) -> tuple[str, ...]:
    """The texts that an answer may not contain, so that it is read as an answer.

    `names` are those of the declared tools; None: undeclared.

    These are the markers of the format and, for an opener without a marker, the text by which the parser finds it. In
    the body of a message with a header, only the markers of headers and the ends of messages have a meaning.
    """
    if spec.messages is not None:
        return _framing(spec)
    found = list(_markers(spec, _structure(spec)))
    found += [search_key(spec, literal) for literal in _openers(spec)]
    found += [text for call in _calls(spec) for text in call_beginnings(spec, call, names)]
    if spec.reasoning is not None:
        # Reasoning is over, so its closer is text. But at the start of the answer the parser takes a marker for a slip.
        found += [_closing_key(spec, block.closer) for block in spec.reasoning.block if stands_alone(block.closer)]
    if spec.content is not None:
        found += [_closing_key(spec, block.closer) for block in spec.content.wrappers]
        found += [sentinel.strip() for sentinel in spec.content.drop]
    found += _ends(spec)
    return shortest(found)


def forbidden_in_reasoning(spec: FormatSpec) -> tuple[str, ...]:
    """The texts that reasoning may not contain beside its closer: interrupts, other closers, the end of the turn."""
    if spec.reasoning is None:
        return ()
    if spec.messages is not None:
        return _framing(spec)
    found = [*_nexts(spec), *(search_key(spec, marker) for marker in spec.reasoning.interrupt)]
    found += [_closing_key(spec, block.closer) for block in spec.reasoning.block]
    found += _ends(spec)
    return shortest(found)


def _nexts(spec: FormatSpec) -> Iterator[str]:
    """The openers that end reasoning without a closing marker; words only after the whitespace."""
    assert spec.reasoning is not None
    calls = [one.opener for form in _forms(spec) for one in form.section]
    for form in _forms(spec):
        space = next((one.opener for one in form.section if not one.opener.strip()), "")
        calls += [space + one.opener for one in form.call]
    openers = [text.rstrip() for text in (*(one.opener for one in spec.wrappers), *calls) if text.strip()]
    for block in spec.reasoning.block:
        for opener in openers if ends_at_next(spec, block) else ():
            pieces = Markers(spec.markers).pieces(opener)
            text = block.closer + opener.lstrip() if block.closer else opener
            yield search_key(spec, opener) if any(one.is_marker for one in pieces) else text


def _framing(spec: FormatSpec) -> tuple[str, ...]:
    """The markers of headers, the ends of messages, and the end of the turn."""
    assert spec.messages is not None
    found = [*_markers(spec, _headers(spec.messages)), *spec.messages.end, *_ends(spec)]
    if spec.content is not None:
        found += [sentinel.strip() for sentinel in spec.content.drop]
    return shortest(found)


def _ends(spec: FormatSpec) -> list[str]:
    """The texts that end the turn. A sign after a marker of the end is left out: alone it ends nothing."""
    found: list[str] = []
    for texts in spec.turn_ends:
        found += [_end(text) for text in texts if not any(found) or not begins_exactly(text)]
    return found


def _end(text: str) -> str:
    """A text that ends the turn: a sign, or a run of one, only with the whitespace around it."""
    return text if begins_exactly(text) else text.strip()


def _openers(spec: FormatSpec) -> Iterator[str]:
    # What is weak opens a text only where the answer begins.
    yield from (block.opener for block in (*spec.reasoning_blocks, *spec.wrappers) if not is_weak(block.opener))
    for form in _forms(spec):
        yield from (section.opener for section in form.section)


def _calls(spec: FormatSpec) -> Iterator[Pattern]:
    """The patterns of calls that may begin in an answer, without a section."""
    for form in _forms(spec):
        sectionless = any(not section.opener for section in form.section)
        yield from (call for call in form.call if sectionless or stands_alone(call.opener))


def call_beginnings(spec: FormatSpec, call: Pattern, names: Sequence[str] | None) -> tuple[str, ...]:
    """The texts by which the parser finds a call: its opener, with each declared name if the opener is a sign."""
    if not begins_exactly(call.opener):
        return (search_key(spec, call.opener),)
    if names is None or not needs_known_name(call):
        return (call.opener.lstrip(),)
    return tuple(call.opener.lstrip() + name for name in names)


def _structure(spec: FormatSpec) -> Iterator[str]:
    """Literals of reasoning, wrapper and calls."""
    if spec.reasoning is not None:
        yield from _of(spec.reasoning.block)
        yield from spec.reasoning.interrupt
    if spec.content is not None:
        yield from _of(spec.content.wrappers)
    for form in _forms(spec):
        yield from _of((*form.section, *form.call, *form.argument))
        yield form.separator
        yield form.argument_separator


def _literals(spec: FormatSpec) -> Iterator[str]:
    yield from _structure(spec)
    if spec.content is not None:
        yield from spec.content.drop
    for texts in spec.turn_ends:
        yield from texts
    if spec.messages is not None:
        yield from _headers(spec.messages)


def _headers(messages: MessagesSpec) -> Iterator[str]:
    yield from messages.start
    yield from messages.fields
    yield messages.body
    yield from messages.end


def _forms(spec: FormatSpec) -> tuple[ToolsSpec, ...]:
    return () if spec.tools is None else spec.tools.forms


def _of(patterns: Iterable[Pattern]) -> Iterator[str]:
    for pattern in patterns:
        for item in pattern.written.items:
            match item:
                case LiteralItem(text):
                    yield text
                case Placeholder():
                    pass


def _markers(spec: FormatSpec, literals: Iterable[str]) -> Iterator[str]:
    markers = Markers(spec.markers)
    for literal in literals:
        for piece in markers.pieces(literal):
            if piece.is_marker:
                yield piece.text


def _unique(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in texts if text))


def shortest(texts: Iterable[str]) -> tuple[str, ...]:
    """The texts without those that contain another: to forbid the shorter one forbids them too."""
    unique = _unique(texts)
    return tuple(text for text in unique if not any(other != text and other in text for other in unique))


class LiteralPart(NamedTuple):
    """A part of a literal in a grammar.

    Attributes:
        text: the part.
        may_be_tokens: whether special tokens of the vocabulary in it are written as such.
    """

    text: str
    may_be_tokens: bool


def literal_parts(text: str) -> Iterator[LiteralPart]:
    """A literal, cut into parts that may be special tokens and parts that are always text: whitespace, single signs."""
    at = 0
    for piece in Markers().placed(text):
        if piece.at > at:
            yield LiteralPart(text[at : piece.at], False)
        yield LiteralPart(piece.text, True)
        at = piece.at + len(piece.text)
    if at < len(text):
        yield LiteralPart(text[at:], False)


@functools.lru_cache(maxsize=1024)
def literal(text: str) -> tuple[Grammar, ...]:
    """A literal, with exactly its whitespace."""
    return tuple(
        Grammar.marker(part.text) if part.may_be_tokens else Grammar.literal(part.text) for part in literal_parts(text)
    )


@functools.lru_cache(maxsize=1024)
def structure(text: str, markers: Markers) -> tuple[Grammar, ...]:
    """A literal of structure: its markers and words, with optional whitespace wherever the parser accepts it."""
    steps = structure_steps(markers.pieces(text))
    return tuple(part for step in steps for part in ((WHITESPACE,) if step is None else literal(step.text)))


def reasoning_text(spec: FormatSpec, block: Pattern) -> Grammar:
    """Reasoning up to the closer of `block`, which is not included."""
    if ends_at_next(spec, block):
        return free_text(tuple(_nexts(spec)), forbidden_in_reasoning(spec))
    return _free(forbidden_in_reasoning(spec), _closing_key(spec, block.closer) or block.closer)


def answer_text(
    spec: FormatSpec,
    *closers: str,
    calls: Sequence[str] = (),
    names: Sequence[str] | None = None,
    not_first: Sequence[str] = (),
) -> Grammar:
    """Text of the answer that the parser reads as such; one of the `closers` is the literal after it.

    Args:
        spec: the format.
        closers: the literals that may close the answer.
        calls: the beginnings of calls, if calls may follow.
        names: the names of the declared tools; None: undeclared.
        not_first: EBNF of texts with which it must not begin.
    """
    forbidden = forbidden_in_content(spec, names)
    ends = shortest((*(_closing_key(spec, closer) for closer in closers), *calls))
    not_first = [quoted(text) for text in not_first]
    if has_bare_calls(spec):
        # The parser tries a call without opener at the first character that is not whitespace: no object begins there.
        not_first.append("#'\\{'")
    if not not_first and len(ends) < 2:
        return _free(forbidden, "".join(ends))
    if not not_first:
        return free_text(ends, forbidden)
    free = text_without(ends, forbidden) if ends or forbidden else "any!"
    edges = "".join(f" & ~(#'\\s*' {text} any!)" for text in not_first)
    return Grammar.from_ebnf(f"start ::= {free}{edges} ;")


def unterminated_text(spec: FormatSpec, messages: MessagesSpec, *, followed: bool) -> Grammar:
    """Text of a message that only the next one ends; `followed`: one comes, and must not be found too early."""
    ends = message_ends(messages, Markers(spec.markers))
    return free_text(ends, forbidden_in_content(spec), followed=followed)


def free_text(ends: Sequence[str], others: Sequence[str] = (), *, followed: bool = True) -> Grammar:
    """The text of `text_without` as a grammar."""
    if not (followed and joined_ends(ends)):
        return Grammar.text(without=tuple(dict.fromkeys((*ends, *others))))
    return Grammar.from_ebnf(f"start ::= {text_without(ends, others)} ;")


def text_without(ends: Sequence[str], others: Sequence[str] = (), *, followed: bool = True) -> str:
    """EBNF of text without any of `ends` and `others`; `followed`: not even together with one of `ends` after it."""
    listed = " | ".join(quoted(text) for text in dict.fromkeys((*ends, *others)))
    edges = "".join(f" & ~(any! {quoted(text)})" for text in joined_ends(ends)) if followed else ""
    return f"except!({listed}){edges}"


def joined_ends(ends: Sequence[str]) -> list[str]:
    """Beginnings of `ends` after which one of `ends` would be found too early."""
    return sorted(
        {
            end[:size]
            for end in ends
            for size in range(1, len(end))
            for following in ends
            if (end[:size] + following).startswith(end)
        }
    )


def has_bare_calls(spec: FormatSpec) -> bool:
    """Whether a call may begin with its JSON object, without any literal before it."""
    return spec.tools is not None and any(
        not section.opener.strip() and not call.opener.strip() and call.placeholders[:1] == ("envelope",)
        for form in spec.tools.forms
        for section in form.section
        for call in form.call
    )


def quoted(text: str) -> str:
    """A text as a string in EBNF."""
    return '"' + "".join(char if char.isalnum() else f"\\u{{{ord(char):x}}}" for char in text) + '"'


def _free(without: Sequence[str], closer: str) -> Grammar:
    others = tuple(text for text in without if text != closer)
    return Grammar.text(without=others, closer=closer or None)
