"""Grammars from every source, as one immutable value."""

from __future__ import annotations

from syntagma.grammars.grammar import Gbnf, Grammar, GrammarWarning, Report

__all__ = ["Gbnf", "Grammar", "GrammarWarning", "Report"]
