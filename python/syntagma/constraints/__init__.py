"""The strict reading of a format: what a model may write, as a grammar."""

from __future__ import annotations

from syntagma.constraints.literals import preserved_tokens, stop_strings, triggers
from syntagma.constraints.request import (
    Budgets,
    Choice,
    Enforce,
    ResponseFormat,
    read_choice,
    read_response_format,
    read_tools,
)
from syntagma.constraints.turn import build_grammar

__all__ = [
    "Budgets",
    "Choice",
    "Enforce",
    "ResponseFormat",
    "build_grammar",
    "preserved_tokens",
    "read_choice",
    "read_response_format",
    "read_tools",
    "stop_strings",
    "triggers",
]
