"""The results of checks and of the linter."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

__all__ = ["Edit", "LintFinding", "Slip"]


class Edit(NamedTuple):
    """A change of a source: the text between two offsets is replaced."""

    start: int
    end: int
    text: str


class Slip(msgspec.Struct, frozen=True, kw_only=True):
    """One place where a template breaks a rule.

    Attributes:
        message: what the template does, in a sentence.
        request: the smallest conversation that shows it, as a request: `messages`, and `tools` if some are declared.
        shown: the relevant part of the render, or the error.
        edits: changes of the source, in its order; the linter offers the fewest with which the rule is kept.
    """

    message: str
    request: dict[str, Any]
    shown: str = ""
    edits: tuple[Edit, ...] = ()


class LintFinding(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that a template breaks.

    Attributes:
        rule: the id of the rule.
        message: what the template does.
        request: a conversation that shows it; `syntagma render --messages` reads it.
        shown: the relevant part of the render, or the error.
        hint: what to do.
        fix: a change that fixes this and nothing else, as a unified diff; None: none was found.
    """

    rule: str
    message: str
    request: dict[str, Any]
    shown: str
    hint: str
    fix: str | None = None
