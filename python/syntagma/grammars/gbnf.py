"""`Gbnf`: a grammar as text in the language of llama.cpp."""

from __future__ import annotations

import re

import msgspec

from syntagma.errors import GrammarError
from syntagma.grammars.left_recursion import left_recursive_rule

__all__ = ["Gbnf"]

_PART = re.compile(r'"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]|(!?)<\[(\d+)\]>|<[^>\n]*>|\.', re.DOTALL)
_ESCAPE = re.compile(r"\\x([0-9A-Fa-f]{2})|\\.", re.DOTALL)


class Gbnf(msgspec.Struct, frozen=True):
    """A grammar as GBNF, the language of llama.cpp.

    Attributes:
        text: the source; its start rule is `root`.
        preserved_tokens: markers that stand in it as text; an engine must let special tokens of these texts match them.
        names_tokens: whether it names tokens, by number as `<[1]>` or by text as `<text>`.
    """

    text: str
    preserved_tokens: tuple[str, ...]
    names_tokens: bool = False

    def __str__(self) -> str:
        return self.text

    @property
    def token_ids(self) -> frozenset[int]:
        """The tokens that it names by number, also those that may not come."""
        return frozenset(int(part[2]) for part in _PART.finditer(self.text) if part[2] is not None)

    @property
    def left_recursive_rule(self) -> str | None:
        """The name of a rule in which something may begin with itself, which llama.cpp refuses; None: there is none.

        Parts that may be empty count, and so do repetitions without end of them.
        """
        return left_recursive_rule(self.text)

    def for_xgrammar(self) -> str:
        """The text as xgrammar reads it: escapes with four digits, its own forms for tokens and for any character.

        Raises:
            GrammarError: `E-GRAMMAR-UNPRINTABLE`, a token is named by its text.
        """
        return _PART.sub(_as_xgrammar, self.text)


def _as_xgrammar(part: re.Match[str]) -> str:
    negated, number = part[1], part[2]
    if number is not None:
        return f"{'ExcludeToken' if negated else 'Token'}({number})"
    if part[0] == ".":
        return "[^]"
    if part[0].startswith("<"):
        raise GrammarError(
            "E-GRAMMAR-UNPRINTABLE",
            f"xgrammar's grammar text cannot say the token {part[0]}, whose number is not known",
        )
    # Escapes of two digits take any further digit along there.
    return _ESCAPE.sub(lambda found: f"\\u00{found[1]}" if found[1] else found[0], part[0])
