"""The certificate: what became of every message that went through the template and came back through the format."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from syntagma.analysis.infer.format import Finding

__all__ = ["Certificate", "Item", "Verdict"]

Verdict: TypeAlias = Literal["works", "dropped", "refused", "ambiguous", "other context", "not rendered", "fails"]
"""What became of a message.

* `works`: it comes back as it was.
* `dropped`: what the template writes of it comes back; it does not write all of it.
* `refused`: it comes back, but the format's grammar does not let a model write it.
* `ambiguous`: another message with the same calls and the same text is rendered to the same text, and comes back.
* `other context`: it comes back from the middle of a conversation, but not as the last message.
* `not rendered`: the template refuses it, or shows nothing of it.
* `fails`: it does not come back.
"""
_COVERING = ("works", "dropped", "refused", "other context")


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one message.

    Attributes:
        name: a stable name of the message.
        verdict: what became of it.
        shape: what the render shows of it, letters of `RCT`: reasoning, content, tool calls.
        kinds: JSON types of the argument values that it is about.
        why: what is wrong.
        example: the raw text that shows it.
    """

    name: str
    verdict: Verdict
    shape: str = ""
    kinds: tuple[str, ...] = ()
    why: str = ""
    example: str = ""


class Certificate(msgspec.Struct, frozen=True, kw_only=True):
    """What is proved about a format and a template.

    Attributes:
        items: what became of each message.
        findings: what speaks against the format otherwise.
        grammar_checked: whether the format's grammar was asked, too.
    """

    items: tuple[Item, ...]
    findings: tuple[Finding, ...]
    grammar_checked: bool

    @property
    def clean(self) -> bool:
        """No item fails, and nothing was found that speaks against the format."""
        return not self.findings and all(item.verdict not in ("fails", "refused") for item in self.items)

    @property
    def failing(self) -> tuple[Item, ...]:
        """The items that fail."""
        return tuple(item for item in self.items if item.verdict == "fails")

    @property
    def coverage(self) -> dict[str, int]:
        """How many messages come back, by shape (letters of `RCT`) and by JSON type of their arguments."""
        counts: dict[str, int] = {}
        for item in self.items:
            if item.verdict in _COVERING and item.shape:
                for key in (item.shape, *item.kinds):
                    counts[key] = counts.get(key, 0) + 1
        return counts

    def covers(self, letter: Literal["R", "C", "T"]) -> bool:
        """Whether some message that comes back shows reasoning, content or calls."""
        return any(letter in item.shape for item in self.items if item.verdict in _COVERING)

    @property
    def rank(self) -> tuple[int, int, int]:
        """For comparisons, greater is better: coverage first, then failures, then what the grammar refuses."""
        refused = sum(item.verdict == "refused" for item in self.items)
        return (sum(self.coverage.values()), -len(self.failing), -refused)

    def to_dict(self) -> dict[str, Any]:
        """The certificate as plain JSON data."""
        return {
            "clean": self.clean,
            "coverage": self.coverage,
            "grammar_checked": self.grammar_checked,
            "findings": [msgspec.to_builtins(finding) for finding in self.findings],
            "items": [
                {name: value for name, value in msgspec.to_builtins(item).items() if value} for item in self.items
            ],
        }
