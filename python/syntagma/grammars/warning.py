"""What is odd about a grammar that could be read."""

from __future__ import annotations

import msgspec

__all__ = ["GrammarWarning"]


class GrammarWarning(msgspec.Struct, frozen=True, kw_only=True):
    """Something odd in the source of a grammar that could be read.

    Attributes:
        code: `W-GRAMMAR-UNUSED` (a rule that nothing uses), `W-GRAMMAR-CYCLE` (a rule that may stand for itself alone)
            or `W-GRAMMAR-UNPRODUCTIVE` (a rule that can never write anything; in EBNF that is an error).
        message: what is odd, in one sentence.
        hint: what to do about it.
        offset: byte offset of the rule in its source.
        line: line of the rule, 1-based.
        column: column of the rule in characters, 1-based.
        excerpt: the line with a caret under the rule.
    """

    code: str
    message: str
    hint: str | None
    offset: int
    line: int
    column: int
    excerpt: str

    def __str__(self) -> str:
        hint = "" if self.hint is None else f"\nhint: {self.hint}"
        return f"{self.code}: {self.message} ({self.line}:{self.column})\n{self.excerpt}{hint}"
