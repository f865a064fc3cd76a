"""The certificate: the verdict on every message that was rendered by the template and read back by the format."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from syntagma.analysis.infer.format import Finding

__all__ = ["Certificate", "Item", "Remark", "Verdict"]

Verdict: TypeAlias = Literal[
    "works", "altered", "dropped", "refused", "ambiguous", "other context", "other setting", "not rendered", "fails"
]
"""The verdict on a message.

* `works`: it comes back unchanged.
* `altered`: it comes back as the template writes it, but the template changes it.
* `dropped`: the part that the template writes comes back; it does not write all of it.
* `refused`: it comes back, but the format's grammar does not let a model write it.
* `ambiguous`: another message has the same render, and that one comes back.
* `other context`: it comes back from the middle of a conversation, but not as the last message.
* `other setting`: with a template variable the template writes it differently, and then it does not come back.
* `not rendered`: the template refuses it, or shows nothing of it.
* `fails`: it does not come back.
"""
_COVERING = ("works", "altered", "dropped", "refused", "other context")
_FAILING = ("fails", "refused")
_LOSING = ("altered", "dropped", "ambiguous", "other context", "other setting", "not rendered")
_MAX_NAMED = 3
"""the most messages that a sentence names"""


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One message and its verdict.

    Attributes:
        name: a stable name of the message.
        verdict: its verdict.
        shape: the parts of it in the render, letters of `RCT`: reasoning, content, tool calls.
        kinds: JSON types of the argument values that it tests.
        why: the reason for the verdict, in the same words for all messages that share it.
        detail: what was read, and what was expected.
        example: the raw text, as an example.
    """

    name: str
    verdict: Verdict
    shape: str = ""
    kinds: tuple[str, ...] = ()
    why: str = ""
    detail: str = ""
    example: str = ""


class Remark(msgspec.Struct, frozen=True, kw_only=True):
    """All messages that have the same verdict for the same reason.

    Attributes:
        verdict: their verdict.
        why: the reason.
        names: the names of the messages.
        detail: what was read and what was expected, of the shortest example.
        example: the shortest raw text of them.
    """

    verdict: Verdict
    why: str
    names: tuple[str, ...]
    detail: str
    example: str

    def __str__(self) -> str:
        shown = ", ".join(self.names[:_MAX_NAMED]) + (", ..." if len(self.names) > _MAX_NAMED else "")
        why = self.why or "it comes back as it was"
        return f"{why} ({shown})" if len(self.names) == 1 else f"{why} ({len(self.names)} messages: {shown})"


class Certificate(msgspec.Struct, frozen=True, kw_only=True):
    """The result of certifying a format for a template.

    Attributes:
        items: the messages with their verdicts.
        findings: further objections to the format.
        grammar_checked: whether the format's grammar was checked, too.
    """

    items: tuple[Item, ...]
    findings: tuple[Finding, ...]
    grammar_checked: bool

    @property
    def clean(self) -> bool:
        """Whether no item fails or is refused, and there are no findings.

        A clean certificate may still have `losses`: parts of messages that the template itself changes or leaves out.
        """
        return not self.findings and not self.failing

    @property
    def failing(self) -> tuple[Item, ...]:
        """The items that fail, or that the grammar refuses."""
        return tuple(item for item in self.items if item.verdict in _FAILING)

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """The items grouped by verdict and reason, failing ones first."""
        alike: dict[tuple[Verdict, str], list[Item]] = {}
        for item in self.items:
            alike.setdefault((item.verdict, item.why), []).append(item)
        made = [
            Remark(
                verdict=verdict,
                why=why,
                names=tuple(item.name for item in items),
                detail=min(items, key=lambda item: len(item.example)).detail,
                example=min((item.example for item in items), key=len),
            )
            for (verdict, why), items in alike.items()
        ]
        order = (*_FAILING, *_LOSING, "works")
        return tuple(sorted(made, key=lambda remark: order.index(remark.verdict)))

    @property
    def losses(self) -> tuple[Remark, ...]:
        """The parts of messages that the template leaves out, changes or refuses, and messages with the same render."""
        return tuple(remark for remark in self.remarks if remark.verdict in _LOSING)

    @property
    def summary(self) -> str:
        """One sentence: `clean`, `clean, but: ...` with the losses, or `not clean: ...` with the failures."""
        if not self.clean:
            wrong = [finding.message for finding in self.findings]
            wrong += [f"{one.verdict}: {one}" for one in self.remarks if one.verdict in _FAILING]
            return "not clean: " + "; ".join(wrong)
        said = dict.fromkeys(part for remark in self.losses for part in (remark.why or remark.verdict).split("; "))
        return "clean, but: " + "; ".join(said) if said else "clean"

    @property
    def coverage(self) -> dict[str, int]:
        """The number of messages that come back, by shape (letters of `RCT`) and by JSON type of their arguments."""
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
    def read_back(self) -> frozenset[str]:
        """The names of the messages that come back and that the grammar accepts."""
        return frozenset(item.name for item in self.items if item.verdict in _COVERING and item.verdict != "refused")

    def to_dict(self) -> dict[str, Any]:
        """The certificate as plain JSON data."""
        return {
            "clean": self.clean,
            "summary": self.summary,
            "coverage": self.coverage,
            "grammar_checked": self.grammar_checked,
            "findings": [msgspec.to_builtins(finding) for finding in self.findings],
            "items": [
                {name: value for name, value in msgspec.to_builtins(item).items() if value} for item in self.items
            ],
        }
