"""The grammar of a turn that is a sequence of messages with headers."""

from __future__ import annotations

from syntagma.constraints.budgets import BudgetLabels
from syntagma.constraints.text import answer_text, literal, reasoning_text, unclosed_text
from syntagma.errors import FormatError
from syntagma.format_schema import FormatSpec, MessagesSpec, Pattern, StartState, answer_before_calls
from syntagma.grammars import Grammar

__all__ = ["message_parts"]


def message_parts(
    spec: FormatSpec,
    messages: MessagesSpec,
    start: StartState,
    *,
    forced: bool,
    shaped: Grammar | None,
    calls: Grammar | None,
    labels: BudgetLabels,
) -> list[Grammar]:
    """Thoughts, then an answer, or calls, or an answer and calls; the prompt holds what opens the first message.

    Args:
        spec: the format.
        messages: its headers.
        start: what the prompt has already begun.
        forced: calls must come.
        shaped: what the answer must be, or None for text.
        calls: the calls that may come, or None.
        labels: what labels thoughts and answers.

    Raises:
        FormatError: `E-FORMAT-UNSUPPORTED`, an answer is wanted of a format that has none.
    """
    between = literal(_opener(messages))
    if start.content_open and start.reasoning != "open":
        return _behind_open_answer(spec, messages, between, forced=forced, shaped=shaped, calls=calls, labels=labels)
    rest = _rest(spec, messages, between, forced=forced, shaped=shaped, calls=calls, labels=labels)
    if spec.reasoning is None or start.reasoning == "done":
        return [rest]
    block = spec.reasoning.block[0]
    inner = reasoning_text(spec, block) if messages.end else unclosed_text(spec, messages, followed=True)
    thoughts = [labels.reasoning(inner), *literal(block.closer), *between]
    if start.reasoning == "open":
        return [*thoughts, rest]
    return [Grammar.optional(Grammar.concat(*literal(block.opener), *thoughts)), rest]


def _opener(messages: MessagesSpec) -> str:
    return messages.start[0] if messages.start else ""


def _rest(
    spec: FormatSpec,
    messages: MessagesSpec,
    between: list[Grammar],
    *,
    forced: bool,
    shaped: Grammar | None,
    calls: Grammar | None,
    labels: BudgetLabels,
) -> Grammar:
    """What follows the thoughts."""
    if forced and calls is not None:
        return calls
    content = spec.content
    if content is None or not content.block:
        if calls is None:
            raise FormatError("E-FORMAT-UNSUPPORTED", "the format has no answers")
        return calls
    ways = [
        Grammar.concat(*literal(content.block[0].opener), *_answer(spec, messages, content.block[0], shaped, labels))
    ]
    if calls is not None:
        ways.append(calls)
        if shaped is None:
            before = answer_before_calls(content, messages)
            answer = _answer(spec, messages, before, None, labels, followed=True)
            ways.append(Grammar.concat(*literal(before.opener), *answer, *between, calls))
    return Grammar.union(*ways)


def _behind_open_answer(
    spec: FormatSpec,
    messages: MessagesSpec,
    between: list[Grammar],
    *,
    forced: bool,
    shaped: Grammar | None,
    calls: Grammar | None,
    labels: BudgetLabels,
) -> list[Grammar]:
    """The prompt holds the header of an answer."""
    assert spec.content is not None
    block = spec.content.block[0]
    if forced and calls is not None:
        return [*literal(block.closer), *between, calls]
    alone = _answer(spec, messages, block, shaped, labels)
    if calls is None or shaped is not None:
        return alone
    if messages.end:
        return [*alone, Grammar.optional(Grammar.concat(*between, calls))]
    before = _answer(spec, messages, block, None, labels, followed=True)
    return [Grammar.union(Grammar.concat(*alone), Grammar.concat(*before, *between, calls))]


def _answer(
    spec: FormatSpec,
    messages: MessagesSpec,
    block: Pattern,
    shaped: Grammar | None,
    labels: BudgetLabels,
    *,
    followed: bool = False,
) -> list[Grammar]:
    """The body of an answer, with the marker that ends it; `followed`: a message comes behind it."""
    if shaped is not None:
        return [shaped, *literal(block.closer)]
    if not messages.end:
        return [labels.content(unclosed_text(spec, messages, followed=followed))]
    return [labels.content(answer_text(spec, closer=block.closer)), *literal(block.closer)]
