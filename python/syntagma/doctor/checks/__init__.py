"""All checks, a family a file, in the order in which they are run."""

from __future__ import annotations

from typing import Final

from syntagma.doctor.checks import (
    calls,
    chat,
    connection,
    ends,
    history,
    injection,
    models,
    reasoning,
    refusals,
    several,
    shapes,
    stream,
)
from syntagma.doctor.outcomes import Check

__all__ = ["CHECKS"]

_FAMILIES = (models, chat, stream, calls, history, reasoning, shapes, ends, several, injection, connection, refusals)
CHECKS: Final[tuple[Check, ...]] = tuple(check for family in _FAMILIES for check in family.CHECKS)
