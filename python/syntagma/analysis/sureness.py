"""How sure the format of an analysis is, part by part."""

from __future__ import annotations

from typing import Literal, TypeAlias

from syntagma.analysis.certify.certificate import Certificate
from syntagma.analysis.result import Analysis

__all__ = ["Level", "Part", "how_sure"]

Level: TypeAlias = Literal["proved", "proved with losses", "supported", "guessed"]
"""how sure a choice is, the surest first"""
Part: TypeAlias = Literal["content", "reasoning", "calls"]

_LETTERS: dict[Part, Literal["C", "R", "T"]] = {"content": "C", "reasoning": "R", "calls": "T"}
_OF_ANOTHER_PART: dict[Part, tuple[str, ...]] = {
    "content": ("calls-", "mention-", "reasoning-", "notation-"),
    "reasoning": ("calls-", "mention-calls", "notation-"),
    "calls": ("reasoning-", "mention-thinking"),
}
"""how the codes of findings begin that are about another part"""
_FEW = 0.1
"""the share of messages of a part that may fail where the format is still supported by the others"""


def how_sure(analysis: Analysis) -> tuple[dict[Part, Level], tuple[str, ...]]:
    """The level of each part that template or format have, and the reasons in sentences."""
    certificate = analysis.certificate
    if certificate is None:
        return {"content": "guessed"}, ("the format was not certified",)
    spec, found = analysis.format.spec, analysis.capabilities
    reasons = [*analysis.reasons, certificate.summary]
    parts: dict[Part, Level] = {"content": _level(certificate, "content", analysis)}
    tried = {item.name for item in certificate.items}
    is_read = spec.reasoning is not None or found.reasoning is not None or bool(found.thinking_switches)
    if is_read or tried & {"reasoning", "prompted thoughts"}:
        parts["reasoning"] = _level(certificate, "reasoning", analysis)
    if spec.tools is not None or found.tools or found.tool_calls:
        parts["calls"] = _level(certificate, "calls", analysis)
        if spec.tools is None:
            reasons.insert(0, "no calls are read")
    return parts, tuple(reasons)


def _level(certificate: Certificate, part: Part, analysis: Analysis) -> Level:
    items = [item for item in certificate.items if _LETTERS[part] in item.shape]
    failing = [item for item in items if item in certificate.failing]
    if len(failing) > _FEW * len(items):
        return "guessed"
    if not certificate.covers(_LETTERS[part]):
        return _untold(certificate, part, analysis)
    others = _OF_ANOTHER_PART[part]
    if failing or any(not finding.code.startswith(others) for finding in certificate.findings):
        return "supported"
    return "proved with losses" if certificate.losses else "proved"


def _untold(certificate: Certificate, part: Part, analysis: Analysis) -> Level:
    """The level of a part that no render shows."""
    told = any(item.name == part and item.verdict == "not rendered" for item in certificate.items)
    prompted = part == "reasoning" and any(
        item.name == "prompted thoughts" and item.verdict == "works" for item in certificate.items
    )
    if part == "reasoning" and analysis.format.spec.reasoning is not None and (prompted or not told):
        return "supported"
    return "supported" if told and not (part == "calls" and analysis.alternatives) else "guessed"
