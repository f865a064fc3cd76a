"""Rules about safety: what separates the turns must be something that no user can write."""

from __future__ import annotations

from collections.abc import Iterator

from syntagma.analysis.lint.report import Slip
from syntagma.analysis.lint.subject import ANSWER, QUESTION, Subject, message_of, user
from syntagma.analysis.render.conversation import SampleTurn

__all__ = ["forgeable_turns"]

_BRACKETS = frozenset("<>[]{}|⟦⟧«»‹›【】◁▷▁")


def forgeable_turns(subject: Subject) -> Iterator[Slip]:
    """Between a user's text and the answer stands plain text only, so that a user can write an answer of the assistant.

    A control token there cannot be written by users, where prompts are encoded with care; plain text can, whatever an
    engine does. Without a vocabulary, words with brackets and the special tokens of the template count as control
    tokens.
    """
    text = subject.render([user(), message_of(subject, SampleTurn(content=ANSWER))])
    if not isinstance(text, str) or QUESTION not in text or ANSWER not in text:
        return
    between = text[text.rfind(QUESTION) + len(QUESTION) : text.rfind(ANSWER)]
    if not between.strip() or _holds_control_token(subject, between):
        return
    forged = [user(QUESTION + between + ANSWER)]
    rendered = subject.render(forged)
    if isinstance(rendered, str) and text[: text.rfind(ANSWER) + len(ANSWER)] in rendered:
        yield Slip(
            message=f"{between!r} separates a question from its answer, which any user can write",
            request=subject.request(forged),
            shown=rendered,
        )


def _holds_control_token(subject: Subject, text: str) -> bool:
    if subject.control is not None:
        return any(token in text for token in subject.control)
    template = subject.template
    special = (template.bos_token, template.eos_token, *template.special_tokens.values())
    bracketed = any(len(word) > 2 and not _BRACKETS.isdisjoint(word) for word in text.split())
    return bracketed or any(token and token in text for token in special)
