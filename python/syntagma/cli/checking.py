"""Whether a text is in a grammar's language, and where it leaves it."""

from __future__ import annotations

import json

import msgspec

from syntagma.decoding import GrammarCompiler, GrammarMatcher
from syntagma.decoding.byte_vocabulary import byte_vocabulary
from syntagma.errors import ArgumentError
from syntagma.grammars import Grammar

__all__ = ["Check", "check_text"]


class Check(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer for one text.

    Attributes:
        accepted: the whole text is in the language.
        reason: `refused`: a character cannot follow; `incomplete`: the text may not end where it ends.
        offset: 0-based offset in code points where it is refused or ends.
        line: 1-based.
        column: 1-based, in code points.
        excerpt: the line with a caret.
        rules: the rules of the grammar in which something was expected there.
        expected: what might have come next, as ranges of characters; `beyond ASCII` stands for all of those.
        violations: of a text that is accepted by a grammar that holds less than its schema: what the schema does not
            allow in it.
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
    """Check a text. Bytes are tokens here: what a grammar says about text does not depend on a model's vocabulary.

    A line feed at the very end, as editors put it there, need not be in the language.

    Raises:
        GrammarError: the grammar does not compile, for instance because it demands special tokens.
    """
    matcher = GrammarMatcher(GrammarCompiler(byte_vocabulary()).compile(grammar))
    for offset, character in enumerate(text):
        if not matcher.accept_bytes(character.encode("utf-8", "replace")):
            if offset == len(text) - 1 and character == "\n" and matcher.is_accepting():
                break
            return _place(matcher, text, offset, "refused")
    if not matcher.is_accepting():
        return _place(matcher, text, len(text), "incomplete")
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


def _place(matcher: GrammarMatcher, text: str, offset: int, reason: str) -> Check:
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
