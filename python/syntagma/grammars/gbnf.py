"""`Gbnf`: a grammar as text in the language of llama.cpp."""

from __future__ import annotations

import re

import msgspec

from syntagma.errors import GrammarError
from syntagma.grammars.left_recursion import left_recursive_rule

__all__ = ["Gbnf", "from_xgrammar"]

_PART = re.compile(r'"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]|(!?)<\[(\d+)\]>|<[^>\n]*>', re.DOTALL)
_THEIRS = re.compile(
    r'"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]|#[^\n]*'
    r"|(?<![\w-])(Exclude)?Token\(\s*(\d+(?:\s*,\s*\d+)*)\s*\)",
    re.DOTALL,
)
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
        """The text as xgrammar reads it: escapes with four digits, and its own forms for tokens.

        Raises:
            GrammarError: `E-GRAMMAR-UNPRINTABLE`, a token is named by its text.
        """
        return _PART.sub(_as_xgrammar, self.text)


def _as_xgrammar(part: re.Match[str]) -> str:
    negated, number = part[1], part[2]
    if number is not None:
        return f"{'ExcludeToken' if negated else 'Token'}({number})"
    if part[0].startswith("<"):
        raise GrammarError(
            "E-GRAMMAR-UNPRINTABLE",
            f"xgrammar's grammar text cannot say the token {part[0]}, whose number is not known",
        )
    # Escapes of two digits take any further digit along there.
    return _ESCAPE.sub(lambda found: f"\\u00{found[1]}" if found[1] else found[0], part[0])


def from_xgrammar(text: str) -> str:
    """Grammar text of xgrammar as GBNF: its forms for tokens are those of llama.cpp.

    Raises:
        GrammarError: `E-GRAMMAR-UNSUPPORTED`, any token but several.
    """
    return _THEIRS.sub(_as_gbnf, text) if "Token(" in text else text


def _as_gbnf(part: re.Match[str]) -> str:
    if part[2] is None:
        return part[0]
    numbers = [number.strip() for number in part[2].split(",")]
    if not part[1]:
        return f"({' | '.join(f'<[{number}]>' for number in numbers)})"
    if len(numbers) > 1:
        raise GrammarError(
            "E-GRAMMAR-UNSUPPORTED",
            f"any token but several is not read in grammar text: {part[0]}",
            hint="the format exclude_token of a structural tag says it",
        )
    return f"!<[{numbers[0]}]>"
