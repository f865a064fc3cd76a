"""The grammar of a turn that is a sequence of messages with headers."""

from __future__ import annotations

from syntagma.constraints.text import answer_text, literal, reasoning_text
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
) -> list[Grammar]:
    """Thoughts, then an answer, or calls, or an answer and calls; the prompt holds what opens the first message.

    Args:
        spec: the format.
        messages: its headers.
        start: what the prompt has already begun.
        forced: calls must come.
        shaped: what the answer must be, or None for text.
        calls: the calls that may come, or None.

    Raises:
        FormatError: `E-FORMAT-UNSUPPORTED`, nothing ends a message.
    """
    if not messages.end:
        raise FormatError(
            "E-FORMAT-UNSUPPORTED", "messages that only the next one ends cannot be held by a grammar yet"
        )
    between = literal(_opener(messages))
    if start.content_open and start.reasoning != "open":
        return _behind_open_answer(spec, between, forced=forced, shaped=shaped, calls=calls)
    rest = _rest(spec, messages, between, forced=forced, shaped=shaped, calls=calls)
    if spec.reasoning is None or start.reasoning == "done":
        return [rest]
    block = spec.reasoning.block[0]
    thoughts = [reasoning_text(spec, block), *literal(block.closer), *between]
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
) -> Grammar:
    """What follows the thoughts."""
    if forced and calls is not None:
        return calls
    content = spec.content
    if content is None or not content.block:
        if calls is None:
            raise FormatError("E-FORMAT-UNSUPPORTED", "the format has no answers")
        return calls
    ways = [Grammar.concat(*literal(content.block[0].opener), *_answer(spec, content.block[0], shaped))]
    if calls is not None:
        ways.append(calls)
        if shaped is None:
            before = answer_before_calls(content, messages)
            ways.append(Grammar.concat(*literal(before.opener), *_answer(spec, before, None), *between, calls))
    return Grammar.union(*ways)


def _behind_open_answer(
    spec: FormatSpec, between: list[Grammar], *, forced: bool, shaped: Grammar | None, calls: Grammar | None
) -> list[Grammar]:
    """The prompt holds the header of an answer."""
    assert spec.content is not None
    block = spec.content.block[0]
    if forced and calls is not None:
        return [*literal(block.closer), *between, calls]
    parts = _answer(spec, block, shaped)
    if calls is None or shaped is not None:
        return parts
    return [*parts, Grammar.optional(Grammar.concat(*between, calls))]


def _answer(spec: FormatSpec, block: Pattern, shaped: Grammar | None) -> list[Grammar]:
    """The body of an answer, with the marker that ends it."""
    text = answer_text(spec, closer=block.closer) if shaped is None else shaped
    return [text, *literal(block.closer)]
