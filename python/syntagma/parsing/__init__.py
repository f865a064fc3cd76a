"""The lenient reading: raw model output, in any chunks → events → a message."""

from __future__ import annotations

from syntagma.parsing.policies import Policies
from syntagma.parsing.start import start_state
from syntagma.parsing.stream_parser import StreamParser

__all__ = ["Policies", "StreamParser", "start_state"]
