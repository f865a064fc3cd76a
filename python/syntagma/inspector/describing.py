"""Formats and prompts in the words of the page."""

from __future__ import annotations

import functools
import re
from typing import Any

from syntagma.analysis import Analysis, comparisons, lint_template
from syntagma.analysis.layout import layout_of
from syntagma.codec import ChatCodec, Turn
from syntagma.decoding import TokenizerInfo
from syntagma.errors import SyntagmaError
from syntagma.inspector.values import Evidence, Fault, FormatSeen, PromptSeen
from syntagma.templates import ChatTemplate

__all__ = ["fault_of", "format_seen", "prompt_seen"]


def fault_of(error: SyntagmaError) -> Fault:
    """An error as the page shows it."""
    place = error.pointer or ""
    if error.line is not None:
        place = f"line {error.line}" + ("" if error.column is None else f", column {error.column}")
    return Fault(code=error.code, message=error.message, hint=error.hint or "", place=place)


def format_seen(codec: ChatCodec, analysis: Analysis | None) -> FormatSeen:
    """How the model writes, with what proves it.

    Raises:
        TemplateError: the template's renders went beyond their limits.
    """
    layout = analysis.layout if analysis is not None else layout_of(codec.format)
    pairs = [] if analysis is None or codec.template is None else comparisons(codec.template, analysis)
    evidence = []
    for pair in pairs:
        before, first, second, after = pair.parts
        evidence.append(
            Evidence(step=pair.step, question=pair.question, before=before, first=first, second=second, after=after)
        )
    kinds = ("reasoning_mode", "content_mode", "tool_format", "call_id_position", "argument_kind")
    certificate = None if analysis is None else analysis.certificate
    return FormatSeen(
        chosen=(codec.format.name or "") if analysis is None else analysis.chosen,
        toml=codec.format.to_toml(),
        markers=layout.markers,
        evidence=evidence,
        proof={name: _shown_by(marker, evidence) for name, marker in layout.markers.items()},
        certificate=[] if certificate is None else _certificate(certificate),
        why=_why(codec),
        defects=[] if codec.template is None else list(_defects(codec.template.source)),
        clean=None if certificate is None else certificate.clean,
        facts={kind: getattr(layout, kind) for kind in kinds},
        switches={name: list(values) for name, values in codec.capabilities.thinking_switches.items()},
    )


@functools.lru_cache(maxsize=8)
def _defects(source: str) -> tuple[str, ...]:
    return tuple(f"{one.rule}: {one.message}; {one.hint}" for one in lint_template(ChatTemplate(source)))


def _why(codec: ChatCodec) -> list[str]:
    found = codec.resolution
    if found is None:
        return []
    others = [f"as much speaks for {', '.join(found.alternatives)}"] if found.alternatives else []
    return [f"{found.name}: {found.level}", *found.reasons, *others]


def _certificate(certificate: Any) -> list[str]:
    verdict = "not clean" if not certificate.clean else "clean, but:" if certificate.losses else "clean"
    findings = [f"{finding.code}: {finding.message}" for finding in certificate.findings]
    return [verdict, *findings, *(f"{remark.verdict}: {remark}" for remark in certificate.remarks)]


def _shown_by(marker: str, evidence: list[Evidence]) -> list[int]:
    """The numbers of the pairs in which a marker is what differs; else of the first that has it at all."""
    text = marker.strip()
    if not text:
        return []
    differs = [at for at, one in enumerate(evidence) if text in one.first or text in one.second]
    return differs or [at for at, one in enumerate(evidence) if text in one.before + one.first + one.after][:1]


def prompt_seen(turn: Turn, info: TokenizerInfo) -> PromptSeen:
    """The prompt with its origins and special tokens.

    Raises:
        LimitError: the render with origins takes far longer than the one without.
    """
    prompt = turn.prompt
    markers = sorted({*info.control_tokens, *turn.markers}, key=len, reverse=True)
    pattern = re.compile("|".join(re.escape(marker) for marker in markers if len(marker) > 1) or r"(?!)")
    special = [
        (start + found.start(), start + found.end())
        for start, end in prompt.template_ranges()
        for found in pattern.finditer(prompt[start:end])
    ]
    return PromptSeen(
        segments=[(segment.text, segment.origin) for segment in prompt.segments],
        special=special,
        start=prompt.start,
        tokens=len(turn.prompt_ids(info)),
        reasoning=turn.start.reasoning,
    )
