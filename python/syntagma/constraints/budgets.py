"""Budgets in a grammar: labels around the parts that they bound, and the bounds for its matchers."""

from __future__ import annotations

from typing import NamedTuple

from syntagma.grammars import Grammar
from syntagma.request import Budgets

__all__ = ["BudgetLabels"]


class BudgetLabels(NamedTuple):
    """Labels the parts of a turn that a budget may bound.

    Attributes:
        budgets: the bounds; even without any bound the parts are labelled, so that each matcher may have its own
            bounds. None: nothing is labelled, and the grammar is a little smaller.
    """

    budgets: Budgets | None

    def reasoning(self, text: Grammar) -> Grammar:
        """Label reasoning, without its opener and closer."""
        return self._part("reasoning", text)

    def content(self, text: Grammar) -> Grammar:
        """Label text of the answer, without its opener and closer."""
        return self._part("content", text)

    def arguments(self, text: Grammar) -> Grammar:
        """Label the arguments of one call."""
        return self._part("arguments", text)

    def bounded(self, grammar: Grammar) -> Grammar:
        """Give the grammar of the whole turn the bounds, which its matchers enforce."""
        for label, unit, most in self.budgets.bounds() if self.budgets is not None else ():
            grammar = grammar.bounded(label, **{unit: most})
        return grammar

    def _part(self, label: str, text: Grammar) -> Grammar:
        return text if self.budgets is None else Grammar.labelled(label, text)
