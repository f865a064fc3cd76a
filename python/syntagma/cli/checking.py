"""Whether a text is in a grammar's language, and where it leaves it."""

from __future__ import annotations

import msgspec

from syntagma.decoding import GrammarCompiler, GrammarMatcher, TokenizerInfo
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
    """

    accepted: bool
    reason: str | None = None
    offset: int | None = None
    line: int | None = None
    column: int | None = None
    excerpt: str | None = None


def check_text(grammar: Grammar, text: str) -> Check:
    """Check a text. Bytes are tokens here: what a grammar says about text does not depend on a model's vocabulary.

    A line feed at the very end, as editors put it there, need not be in the language.

    Raises:
        GrammarError: the grammar does not compile, for instance because it demands special tokens.
    """
    end = 256
    info = TokenizerInfo.from_tokens([bytes([value]) for value in range(256)] + [b"<end>"], eos_token_ids=[end])
    matcher = GrammarMatcher(GrammarCompiler(info).compile(grammar))
    for offset, character in enumerate(text):
        if not matcher.accept_bytes(character.encode("utf-8", "replace")):
            if offset == len(text) - 1 and character == "\n" and matcher.is_accepting():
                break
            return _place(text, offset, "refused")
    return Check(accepted=True) if matcher.is_accepting() else _place(text, len(text), "incomplete")


def _place(text: str, offset: int, reason: str) -> Check:
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
    )
