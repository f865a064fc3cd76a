"""Budgets in a grammar: labels around the parts that they bound, and the bounds of its matchers."""

from __future__ import annotations

from typing import NamedTuple

from syntagma.grammars import Grammar
from syntagma.request import Budgets

__all__ = ["BudgetLabels"]


class BudgetLabels(NamedTuple):
    """Labels the parts of a turn that a budget may bound.

    Attributes:
        budgets: the bounds; without any bound the parts are still labelled, so that each matcher may have bounds of
            its own. None: nothing is labelled, and the grammar is a little smaller.
    """

    budgets: Budgets | None

    def reasoning(self, text: Grammar) -> Grammar:
        """Reasoning, without what opens and closes it."""
        return self._part("reasoning", text)

    def content(self, text: Grammar) -> Grammar:
        """Text of the answer, without what opens and closes it."""
        return self._part("content", text)

    def arguments(self, text: Grammar) -> Grammar:
        """The arguments of one call."""
        return self._part("arguments", text)

    def bounded(self, grammar: Grammar) -> Grammar:
        """The grammar of the whole turn, whose matchers keep to the bounds."""
        for label, unit, most in self.budgets.bounds() if self.budgets is not None else ():
            grammar = grammar.bounded(label, **{unit: most})
        return grammar

    def _part(self, label: str, text: Grammar) -> Grammar:
        return text if self.budgets is None else Grammar.labelled(label, text)
