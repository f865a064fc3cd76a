"""Template analysis: how a chat template writes reasoning, content and calls, derived from renders alone, with proof.

`analysis.py` names the stages in order; each has a folder of its own: `render`, `probe`, `locate`, `infer`, `certify`.
A stage imports those before it.
"""

from __future__ import annotations

from syntagma.analysis.analysis import Analysis, analyze
from syntagma.analysis.certify.certificate import Certificate, Item, Remark, Verdict
from syntagma.analysis.infer.format import Evidence, Finding
from syntagma.analysis.probe.capabilities import Capabilities

__all__ = ["Analysis", "Capabilities", "Certificate", "Evidence", "Finding", "Item", "Remark", "Verdict", "analyze"]
