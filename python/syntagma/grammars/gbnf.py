"""`Gbnf`: a grammar as text in the language of llama.cpp."""

from __future__ import annotations

import re

import msgspec

__all__ = ["Gbnf"]

_ESCAPE = re.compile(r"\\x([0-9A-Fa-f]{2})|\\.", re.DOTALL)


class Gbnf(msgspec.Struct, frozen=True):
    """A grammar as GBNF, the language of llama.cpp.

    Attributes:
        text: the source; its start rule is `root`.
        preserved_tokens: markers that stand in it as text; an engine must let special tokens of these texts match them.
        names_tokens: whether it names tokens by number or by text, as `<[1]>` and `<text>`.
    """

    text: str
    preserved_tokens: tuple[str, ...]
    names_tokens: bool = False

    def __str__(self) -> str:
        return self.text

    def four_digits(self) -> str:
        """The text with escapes of four digits for those of two: some readers take any number after an x."""
        return _ESCAPE.sub(lambda found: f"\\u00{found[1]}" if found[1] else found[0], self.text)
