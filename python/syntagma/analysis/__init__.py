"""Template analysis: how a chat template writes reasoning, content and calls, derived from renders, with a certificate.

`analysis.py` names the stages in order; each has a folder of its own: `render`, `probe`, `locate`, `infer`, `certify`.
A stage imports those before it.
"""

from __future__ import annotations

from syntagma.analysis.analysis import Vocabulary, analyze, certify_format
from syntagma.analysis.certify.certificate import Certificate, Item, Remark, Verdict
from syntagma.analysis.comparisons import Comparison, comparisons
from syntagma.analysis.infer.format import Evidence, Finding
from syntagma.analysis.layout import GenerationPrompt, TurnLayout
from syntagma.analysis.lint.linter import lint_template
from syntagma.analysis.lint.report import LintFinding
from syntagma.analysis.probe.capabilities import Capabilities
from syntagma.analysis.probe.inputs import probe_capabilities
from syntagma.analysis.resolution import Level, Resolution, resolve_format
from syntagma.analysis.result import Analysis

__all__ = [
    "Analysis",
    "Capabilities",
    "Certificate",
    "Comparison",
    "Evidence",
    "Finding",
    "GenerationPrompt",
    "Item",
    "Level",
    "LintFinding",
    "Remark",
    "Resolution",
    "TurnLayout",
    "Verdict",
    "Vocabulary",
    "analyze",
    "certify_format",
    "comparisons",
    "lint_template",
    "probe_capabilities",
    "resolve_format",
]
