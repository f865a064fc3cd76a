"""What a check says, and what the linter makes of it."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["LintFinding", "Slip"]


class Slip(msgspec.Struct, frozen=True, kw_only=True):
    """One place where a template breaks a rule.

    Attributes:
        message: what it does, in a sentence.
        request: the smallest conversation that shows it, as a request: `messages`, and `tools` where some are declared.
        shown: what was rendered, or the error, as far as it matters.
        fixes: sources of the template that may be right; the linter offers the first that is.
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
        shown: what was rendered, or the error.
        hint: what to do.
        fix: the change as a unified diff, where one was found that mends this and changes nothing else; else None.
    """

    rule: str
    message: str
    request: dict[str, Any]
    shown: str
    hint: str
    fix: str | None = None
