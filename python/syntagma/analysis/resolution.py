"""`resolve_format`: the format of a template and a model, how sure it is, and what for."""

from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping
from typing import Any, Literal, TypeAlias, get_args

import msgspec

from syntagma.analysis.analysis import Vocabulary, analyze
from syntagma.analysis.certify.certificate import Certificate
from syntagma.analysis.result import Analysis
from syntagma.entry import entry
from syntagma.errors import ArgumentError, FormatError
from syntagma.formats import ChatFormat
from syntagma.templates import ChatTemplate

__all__ = ["Level", "Resolution", "resolve_format"]

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
_LEVELS: tuple[Level, ...] = get_args(Level)


class Resolution(msgspec.Struct, frozen=True, kw_only=True):
    """The format that was chosen for a template and a model.

    Attributes:
        format: the format.
        name: `derived`, or the name of a named format.
        level: how sure the choice is, the lowest level of its parts: `proved`, a clean certificate; `proved with
            losses`, the template itself loses or changes something; `supported`, evidence beside renders tells it from
            every other that it fits, or few messages fail; `guessed`, neither.
        parts: the level of `content`, `reasoning` and `calls`, as far as template and format have them.
        reasons: what speaks for the choice, and against it, in sentences.
        alternatives: the names of formats for which as much speaks.
        analysis: the analysis of the template.
    """

    format: ChatFormat
    name: str
    level: Level
    parts: dict[Part, Level]
    reasons: tuple[str, ...]
    alternatives: tuple[str, ...]
    analysis: Analysis

    @classmethod
    def of(cls, analysis: Analysis) -> Resolution:
        """The resolution that an analysis tells; without a certificate, all of it is guessed."""
        parts, reasons = _how_sure(analysis)
        return cls(
            format=analysis.format,
            name=analysis.chosen,
            level=max((*parts.values(),), key=_LEVELS.index, default="guessed"),
            parts=parts,
            reasons=reasons,
            alternatives=analysis.alternatives,
            analysis=analysis,
        )

    @property
    def is_unsure(self) -> bool:
        """Whether somebody should look at it: a part of the template is guessed, or is not read at all."""
        return self.level == "guessed"

    @property
    def line(self) -> str:
        """The resolution in one line, for a log."""
        parts = ", ".join(f"{part} {level}" for part, level in self.parts.items())
        others = f"; as likely: {', '.join(self.alternatives)}" if self.alternatives else ""
        return f"format {self.name}: {self.level} ({parts}); {'; '.join(self.reasons)}{others}"

    def require(self, level: Level) -> None:
        """Refuse a choice that is less sure.

        Args:
            level: the lowest level that is enough.

        Raises:
            FormatError: `E-FORMAT-UNSURE`, the choice is less sure.
            ArgumentError: `E-ARGUMENT-VALUE`, there is no such level.
        """
        if level not in _LEVELS:
            raise ArgumentError("E-ARGUMENT-VALUE", f"a level is one of {', '.join(_LEVELS)}", pointer="/level")
        if _LEVELS.index(self.level) > max(_LEVELS.index(level), _LEVELS.index("proved with losses")):
            raise FormatError(
                "E-FORMAT-UNSURE",
                f"the format of the template is {self.level}, not {level}: {'; '.join(self.reasons)}",
                hint="name the format that the model writes; `formats.names()` lists them",
            )

    def to_dict(self) -> dict[str, Any]:
        """The resolution as plain JSON data, without the analysis."""
        return {
            "name": self.name,
            "level": self.level,
            "parts": dict(self.parts),
            "reasons": list(self.reasons),
            "alternatives": list(self.alternatives),
        }


@entry
def resolve_format(
    template: ChatTemplate | str,
    *,
    vocabulary: Vocabulary | None = None,
    config: Mapping[str, Any] | None = None,
    cache: MutableMapping[str, Analysis] | str | os.PathLike[str] | None = None,
) -> Resolution:
    """Find the format that a model writes, from its chat template and what else is known of the model.

    Args:
        template: the template, or its source.
        vocabulary: the model's vocabulary, or the texts of its special and added tokens; None: it is unknown.
        config: the model's configuration, as `config.json` has it; only its `model_type` is read, to break ties.
        cache: see `analyze`.

    Raises:
        TemplateError: `E-TEMPLATE-ANALYSIS`, no assistant's turn renders, or the renders went beyond their limits.
        ArgumentTypeError: `E-ARGUMENT-TEMPLATE` or `E-ARGUMENT-TYPE`, an argument has another type.
    """
    return Resolution.of(analyze(template, vocabulary=vocabulary, config=config, cache=cache))


def _how_sure(analysis: Analysis) -> tuple[dict[Part, Level], tuple[str, ...]]:
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
