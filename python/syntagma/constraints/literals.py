"""Literals of a format as grammars, and text without any of them."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from syntagma.constraints.whitespace import WHITESPACE
from syntagma.format_schema import (
    FormatSpec,
    Markers,
    MessagesSpec,
    Pattern,
    ends_at_next,
    message_ends,
    structure_steps,
)
from syntagma.format_schema.facts import (
    closing_key,
    forbidden_in_content,
    forbidden_in_reasoning,
    has_bare_calls,
    next_openers,
    shortest,
)
from syntagma.grammars import Grammar

__all__ = [
    "LiteralPart",
    "answer_text",
    "free_text",
    "joined_ends",
    "literal",
    "literal_parts",
    "quoted",
    "reasoning_text",
    "structure",
    "text_without",
    "unterminated_text",
]


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
        return free_text(next_openers(spec), forbidden_in_reasoning(spec))
    return _free(forbidden_in_reasoning(spec), closing_key(spec, block.closer) or block.closer)


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
    ends = shortest((*(closing_key(spec, closer) for closer in closers), *calls))
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
    ends = message_ends(messages, spec.cuts)
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


def quoted(text: str) -> str:
    """A text as a string in EBNF."""
    return '"' + "".join(char if char.isalnum() else f"\\u{{{ord(char):x}}}" for char in text) + '"'


def _free(without: Sequence[str], closer: str) -> Grammar:
    others = tuple(text for text in without if text != closer)
    return Grammar.text(without=others, closer=closer or None)
