"""The results of checks and of the linter."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["LintFinding", "Slip"]


class Slip(msgspec.Struct, frozen=True, kw_only=True):
    """One place where a template breaks a rule.

    Attributes:
        message: what the template does, in a sentence.
        request: the smallest conversation that shows it, as a request: `messages`, and `tools` if some are declared.
        shown: the relevant part of the render, or the error.
        fixes: changed sources of the template; the linter offers the first that is right.
    """

    message: str
    request: dict[str, Any]
    shown: str = ""
    fixes: tuple[str, ...] = ()


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
