"""Grammars from every source, as one immutable value."""

from __future__ import annotations

from syntagma.grammars.grammar import Gbnf, Grammar
from syntagma.grammars.json_schema import Draft, Order, ValueNotation, Whitespace
from syntagma.grammars.report import Report, Violation
from syntagma.grammars.warning import GrammarWarning

__all__ = ["Draft", "Gbnf", "Grammar", "GrammarWarning", "Order", "Report", "ValueNotation", "Violation", "Whitespace"]
