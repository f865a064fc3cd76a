"""The strict reading of a format: what a model may write, as a grammar."""

from __future__ import annotations

from syntagma.constraints.turn import build_call_grammar, build_grammar

__all__ = ["build_call_grammar", "build_grammar"]
