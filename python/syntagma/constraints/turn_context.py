"""The parts from which the grammar of a turn is built."""

from __future__ import annotations

from typing import NamedTuple

from syntagma.constraints.budgets import BudgetLabels
from syntagma.constraints.call_groups import CallGroup
from syntagma.format_schema import FormatSpec, StartState
from syntagma.grammars import Grammar

__all__ = ["TurnContext"]


class TurnContext(NamedTuple):
    """The parts from which the grammar of a turn is built."""

    spec: FormatSpec
    start: StartState
    """the start state"""
    groups: tuple[CallGroup, ...]
    """the calls that may come, with their sections; empty: none may"""
    forced: bool
    """whether calls must come"""
    answer: Grammar | None
    """the grammar of the content; None: any text"""
    labels: BudgetLabels
    names: tuple[str, ...] | None
    """the names of the declared tools; None: undeclared"""
    whitespace_counts: bool = False
    """whether whitespace before the answer is a part of it; before JSON and before text it is optional"""

    @property
    def calls(self) -> Grammar | None:
        """Calls of any group, without whitespace around them; None: none may come."""
        return Grammar.union(*(group.calls for group in self.groups)) if self.groups else None

    @property
    def forced_calls(self) -> Grammar | None:
        """The calls, if they must come; else None."""
        return self.calls if self.forced else None
