"""Grammars from every source, as one immutable value."""

from __future__ import annotations

from syntagma.grammars.grammar import Gbnf, Grammar
from syntagma.grammars.report import Report, Violation
from syntagma.grammars.warning import GrammarWarning

__all__ = ["Gbnf", "Grammar", "GrammarWarning", "Report", "Violation"]
