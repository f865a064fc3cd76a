"""Template analysis: how a chat template writes thoughts, content and calls, derived from renders alone, with proof."""

from __future__ import annotations

from syntagma.analysis.analysis import Analysis, analyze
from syntagma.analysis.capabilities import Capabilities
from syntagma.analysis.certificate import Certificate, Item
from syntagma.analysis.inference import Evidence, Finding

__all__ = ["Analysis", "Capabilities", "Certificate", "Evidence", "Finding", "Item", "analyze"]
