"""`lint_template`: tries every rule on one template."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from syntagma.analysis.lint.report import Edit, LintFinding, Slip
from syntagma.analysis.lint.rules import RULES, Rule
from syntagma.analysis.lint.subject import ANSWER, Subject, message_of, user
from syntagma.analysis.render.conversation import SampleTurn
from syntagma.decoding import TokenizerInfo
from syntagma.errors import ArgumentTypeError, SyntagmaError
from syntagma.templates import ChatTemplate

__all__ = ["lint_template"]

_MAX_EDITS = 24
"""edits that are tried alone"""


def lint_template(template: ChatTemplate, tokenizer: TokenizerInfo | None = None) -> tuple[LintFinding, ...]:
    """The defects of a template, in the order of the rules; `docs/reference/template-lint.md` lists them.

    Args:
        template: the template, with its special tokens if they are known.
        tokenizer: the model's vocabulary, which has the control tokens; None: they are recognised by their look.

    Raises:
        TemplateError: `E-TEMPLATE-ANALYSIS`, no assistant's turn renders, or the renders went beyond their limits.
        ArgumentTypeError: `E-ARGUMENT-TEMPLATE`, `template` is not a template.
    """
    if not isinstance(template, ChatTemplate):
        raise ArgumentTypeError("E-ARGUMENT-TEMPLATE", f"expected a template, not {type(template).__name__}")
    subject = Subject(template, None if tokenizer is None else frozenset(tokenizer.control_tokens))
    return tuple(
        LintFinding(
            rule=rule.id,
            message=slip.message,
            request=slip.request,
            shown=slip.shown,
            hint=rule.hint,
            fix=_fix(subject, rule, slip),
        )
        for rule in RULES
        for slip in rule.check(subject)
    )


def _fix(subject: Subject, rule: Rule, slip: Slip) -> str | None:
    """The fewest of the proposed edits that fix the slip and change no plain conversation, as a unified diff.

    Edits that are not needed for it stay out: a filter of the same name may stand in a condition, or at another text.
    """
    source = subject.template.source
    needed = next((edits for edits in _to_try(slip.edits) if _mends(subject, rule, slip, edits)), None)
    if needed is None:
        return None
    for edit in needed if len(needed) > 1 else ():
        fewer = tuple(one for one in needed if one != edit)
        if _mends(subject, rule, slip, fewer):
            needed = fewer
    changed = _edited(source, needed)
    return _diff(source, changed) if _mends(Subject(subject.template, subject.control), rule, slip, needed) else None


def _to_try(edits: tuple[Edit, ...]) -> Iterator[tuple[Edit, ...]]:
    """Each edit alone, then all of them."""
    if len(edits) > 1:
        yield from ((edit,) for edit in edits[:_MAX_EDITS])
    if edits:
        yield edits


def _mends(subject: Subject, rule: Rule, slip: Slip, edits: tuple[Edit, ...]) -> bool:
    """Whether these edits fix a slip and leave plain conversations as they are."""
    try:
        changed = subject.with_source(_edited(subject.template.source, edits))
        kept = all(one.message != slip.message for one in rule.check(changed))
        return kept and _plain_renders(changed) == _plain_renders(subject)
    except SyntagmaError:
        return False


def _edited(source: str, edits: tuple[Edit, ...]) -> str:
    for edit in sorted(edits, reverse=True):
        source = source[: edit.start] + edit.text + source[edit.end :]
    return source


def _plain_renders(subject: Subject) -> list[str]:
    """Renders of conversations that a fix must not change; empty for refused ones."""
    turns = [SampleTurn(content=ANSWER)]
    if subject.shows_calls:
        turns.append(SampleTurn(calls=(subject.call(),)))
    found = []
    for turn in turns:
        messages = [user(), message_of(subject, turn)]
        for more in ([], [user("And then?")]):
            text = subject.render([*messages, *more], tools=bool(turn.calls))
            found.append(text if isinstance(text, str) else "")
    return found


def _diff(before: str, after: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), "template", "template", lineterm="", n=1)
    return "\n".join(lines)
