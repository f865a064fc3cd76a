"""What the grammar of a turn is put together from."""

from __future__ import annotations

from typing import NamedTuple

from syntagma.constraints.budgets import BudgetLabels
from syntagma.format_schema import FormatSpec, StartState
from syntagma.grammars import Grammar

__all__ = ["TurnContext"]


class TurnContext(NamedTuple):
    """What the grammar of a turn is put together from."""

    spec: FormatSpec
    start: StartState
    """what the prompt has already begun"""
    calls: Grammar | None
    """the calls that may come, with their section; None: none may"""
    forced: bool
    """calls must come"""
    answer: Grammar | None
    """what the content must be; None: any text"""
    labels: BudgetLabels

    @property
    def forced_calls(self) -> Grammar | None:
        """The calls, where nothing else may come in their place."""
        return self.calls if self.forced else None
