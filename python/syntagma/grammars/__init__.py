"""Grammars: read from every notation, combined, and printed, as one immutable value."""

from __future__ import annotations

from syntagma.grammars.checking import Check, Match
from syntagma.grammars.dialects import Dialect
from syntagma.grammars.exports import Export
from syntagma.grammars.gbnf import Gbnf
from syntagma.grammars.grammar import Grammar
from syntagma.grammars.json_schema import Draft, Order, ValueNotation, Whitespace
from syntagma.grammars.report import GrammarWarning, Report, Violation
from syntagma.grammars.schema_keywords import forbidding_keyword, misspelt_keywords
from syntagma.grammars.structural_tag import StructuralTag

__all__ = [
    "Check",
    "Dialect",
    "Draft",
    "Export",
    "Gbnf",
    "Grammar",
    "GrammarWarning",
    "Match",
    "Order",
    "Report",
    "StructuralTag",
    "ValueNotation",
    "Violation",
    "Whitespace",
    "forbidding_keyword",
    "misspelt_keywords",
]
