"""Whether a server that speaks OpenAI's chat completions keeps to the protocol: checks of any endpoint.

`diagnose` asks and reports; `CHECKS` lists the checks, each with its law, what it asks, and what a fault means.
"""

from __future__ import annotations

from syntagma.doctor.checks import CHECKS
from syntagma.doctor.diagnosis import diagnose
from syntagma.doctor.outcomes import Check, Report, Result, Verdict

__all__ = ["CHECKS", "Check", "Report", "Result", "Verdict", "diagnose"]
