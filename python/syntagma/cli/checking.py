"""Checks whether a grammar accepts a text, and where it does not."""

from __future__ import annotations

import json

import msgspec

from syntagma.decoding import GrammarCompiler, GrammarMatcher
from syntagma.decoding.byte_vocabulary import byte_vocabulary
from syntagma.errors import ArgumentError
from syntagma.grammars import Grammar

__all__ = ["Check", "check_text"]


class Check(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result for one text.

    Attributes:
        accepted: the grammar accepts the whole text.
        reason: `refused`: a character cannot follow; `incomplete`: the text may not end yet.
        offset: 0-based offset in code points where the text is refused, or its end.
        line: 1-based.
        column: 1-based, in code points.
        excerpt: the line with a caret.
        rules: the rules of the grammar that were being read there.
        expected: the characters that may follow, as ranges; `beyond ASCII` means any character that is not ASCII.
        violations: how an accepted text violates the JSON Schema, where the grammar is wider than its schema.
    """

    accepted: bool
    reason: str | None = None
    offset: int | None = None
    line: int | None = None
    column: int | None = None
    excerpt: str | None = None
    rules: tuple[str, ...] = ()
    expected: str | None = None
    violations: tuple[str, ...] = ()


def check_text(grammar: Grammar, text: str) -> Check:
    """Check a text. The tokens are bytes, since the result does not depend on a model's vocabulary.

    A line feed at the end, as editors add it, is ignored if the grammar does not allow it.

    Raises:
        GrammarError: the grammar does not compile, for instance because it demands special tokens.
    """
    matcher = GrammarMatcher(GrammarCompiler(byte_vocabulary()).compile(grammar))
    for offset, character in enumerate(text):
        if not matcher.accept_bytes(character.encode("utf-8", "replace")):
            if offset == len(text) - 1 and character == "\n" and matcher.is_accepting():
                break
            return _rejection(matcher, text, offset, "refused")
    if not matcher.is_accepting():
        return _rejection(matcher, text, len(text), "incomplete")
    return Check(accepted=True, violations=_violations(grammar, text))


def _violations(grammar: Grammar, text: str) -> tuple[str, ...]:
    report = grammar.report
    if report.status == "exact" or report.schema is None:
        return ()
    try:
        return tuple(str(violation) for violation in report.validate(json.loads(text)))
    except ArgumentError as error:
        return (f"not checked: {error.message}",)


def _expected(following: bytes) -> str:
    """Bytes as ranges of characters."""
    ranges: list[list[int]] = []
    for byte in following:
        if byte >= 0x80:
            ranges.append([0x80, 0x80])
            break
        if ranges and ranges[-1][1] == byte - 1:
            ranges[-1][1] = byte
        else:
            ranges.append([byte, byte])
    spelled = []
    for first, last in ranges:
        ends = [repr(chr(end)) for end in (first, last)]
        if first == 0x80:
            spelled.append("beyond ASCII")
        else:
            spelled.append(ends[0] if first == last else "-".join(ends))
    return " ".join(spelled)


def _rejection(matcher: GrammarMatcher, text: str, offset: int, reason: str) -> Check:
    rules = dict.fromkeys(str(item["rule"]) for item in matcher.explain()["expected"])
    begin = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    line = text[begin : end if end >= 0 else len(text)]
    column = offset - begin
    return Check(
        accepted=False,
        reason=reason,
        offset=offset,
        line=text.count("\n", 0, offset) + 1,
        column=column + 1,
        excerpt=f"{line}\n{' ' * column}^",
        rules=tuple(rules),
        expected=_expected(matcher.next_bytes()),
    )
