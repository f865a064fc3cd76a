"""What the grammar of a turn is put together from."""

from __future__ import annotations

from typing import NamedTuple

from syntagma.constraints.budgets import BudgetLabels
from syntagma.constraints.calls import CallGroup
from syntagma.format_schema import FormatSpec, StartState
from syntagma.grammars import Grammar

__all__ = ["TurnContext"]


class TurnContext(NamedTuple):
    """What the grammar of a turn is put together from."""

    spec: FormatSpec
    start: StartState
    """what the prompt has already begun"""
    groups: tuple[CallGroup, ...]
    """the calls that may come, with their section; none: none may"""
    forced: bool
    """calls must come"""
    answer: Grammar | None
    """what the content must be; None: any text"""
    labels: BudgetLabels
    names: tuple[str, ...] | None
    """the names of the declared tools; None: undeclared"""
    whitespace_counts: bool = False
    """whitespace before the answer is a part of it; it means nothing before JSON, and before text"""

    @property
    def calls(self) -> Grammar | None:
        """Calls of any group, without whitespace around them; None: none may come."""
        return Grammar.union(*(group.calls for group in self.groups)) if self.groups else None

    @property
    def forced_calls(self) -> Grammar | None:
        """The calls, where nothing else may come in their place."""
        return self.calls if self.forced else None
