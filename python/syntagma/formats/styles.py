"""The styles of structural tags, which stand in the files of the formats that write so."""

from __future__ import annotations

from syntagma.constraints.styles import style_grammar
from syntagma.formats.registry import registry
from syntagma.grammars import Grammar
from syntagma.grammars.structural_tag import StyledSchema

__all__ = ["styled"]


def styled(wanted: StyledSchema) -> Grammar:
    """A schema in a style that a format names. `Grammar.from_structural_tag` takes this function as `styles`.

    Raises:
        LookupError: no format names the style.
        GrammarError: the style does not hold the schema.
        LimitError: it is too large or nested too deeply.
    """
    return style_grammar(registry.style(wanted.style), wanted)
