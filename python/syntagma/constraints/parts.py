"""The parts of a turn that a budget may bound, as labels in its grammar."""

from __future__ import annotations

from typing import NamedTuple

from syntagma.grammars import Grammar

__all__ = ["Parts"]


class Parts(NamedTuple):
    """Labels the parts of a turn; without labels a grammar is a little smaller."""

    labelled: bool

    def reasoning(self, text: Grammar) -> Grammar:
        """Thoughts, without what opens and closes them."""
        return self._part("reasoning", text)

    def content(self, text: Grammar) -> Grammar:
        """Text of the answer, without what opens and closes it."""
        return self._part("content", text)

    def arguments(self, text: Grammar) -> Grammar:
        """The arguments of one call."""
        return self._part("arguments", text)

    def _part(self, label: str, text: Grammar) -> Grammar:
        return Grammar.labelled(label, text) if self.labelled else text
