"""Reasoning: its fields, and that nothing of its markers is left in an answer."""

from __future__ import annotations

from collections.abc import Iterator

from syntagma.doctor.answers import REASONING_FIELDS, Answer, answer_of, answers_of, events_of
from syntagma.doctor.asks import AUTO, NONE, NOT_THINKING, PLAIN, REQUIRED, THINKING, THINKING_CALL
from syntagma.doctor.checks.common import uncut
from syntagma.doctor.endpoint import Endpoint
from syntagma.doctor.markers import left_over
from syntagma.doctor.outcomes import Check, Fault, NotOffered, Outcome, Unsure
from syntagma.doctor.values import at, is_count, listed, word

__all__ = ["CHECKS"]

_LEAST = 12
"""characters of reasoning that stand in content by no chance"""


def _readable(endpoint: Endpoint) -> Iterator[Answer]:
    """Every answer that there is to questions without markers."""
    for body in (PLAIN, NONE, AUTO, REQUIRED, THINKING, NOT_THINKING, THINKING_CALL):
        for exchange in endpoint.both(body):
            try:
                yield answer_of(exchange)
            except Outcome:
                continue


def _markers(endpoint: Endpoint) -> str | None:
    looked = False
    for answer in _readable(endpoint):
        looked = True
        for text in (answer.content, *answer.reasoning.values()):
            marker = left_over(text)
            if marker is not None:
                raise Fault(f"the marker {marker!r} is left in the text of the answer", answer.exchange, text)
    if not looked:
        raise Unsure("there is no answer to look at")
    return None


def _thinking(endpoint: Endpoint) -> tuple[Answer, Answer]:
    """The answers to a question that asks for reasoning, whole and streamed; at least one has some."""
    for body in (THINKING, THINKING_CALL):
        try:
            whole, streamed = answers_of(endpoint.both(body))
        except NotOffered:
            continue
        if whole.reasoning or streamed.reasoning:
            return whole, streamed
    raise NotOffered("no answer has reasoning_content or reasoning")


def _fields(endpoint: Endpoint) -> str | None:
    whole, streamed = _thinking(endpoint)
    if set(whole.reasoning) != set(streamed.reasoning):
        said = f"reasoning stands in {sorted(whole.reasoning)} as a whole, in {sorted(streamed.reasoning)} streamed"
        raise Fault(said, streamed.exchange)
    return ", ".join(sorted(whole.reasoning))


def _apart(endpoint: Endpoint) -> str | None:
    for answer in _thinking(endpoint):
        for name, text in answer.reasoning.items():
            if len(text.strip()) >= _LEAST and text.strip() in answer.content:
                raise Fault(f"{name} stands in content once more", answer.exchange)
    return None


def _before(endpoint: Endpoint) -> str | None:
    _, streamed = _thinking(endpoint)
    began = False
    for chunk in events_of(streamed.exchange).chunks:
        for choice in listed(chunk, "choices"):
            delta = at(choice, "delta")
            if began and any(word(delta, name) for name in REASONING_FIELDS):
                raise Fault("reasoning comes after content or calls", streamed.exchange, chunk)
            began = began or bool(word(delta, "content").strip() or listed(delta, "tool_calls"))
    return None


def _off(endpoint: Endpoint) -> str | None:
    for answer in answers_of(endpoint.both(NOT_THINKING)):
        if not uncut(answer).content.strip():
            if answer.reasoning:
                raise Fault("reasoning is off, and the answer stands in the field of reasoning", answer.exchange)
            raise Unsure("the model wrote nothing")
    return None


def _call(endpoint: Endpoint) -> str | None:
    for answer in answers_of(endpoint.both(THINKING_CALL)):
        if not uncut(answer).calls:
            raise Fault("with reasoning there is no call, though one is required", answer.exchange)
    return None


def _counted(endpoint: Endpoint) -> str | None:
    whole, _ = _thinking(endpoint)
    counted = at(whole.usage, "completion_tokens_details", "reasoning_tokens")
    if counted is None:
        raise NotOffered("usage has no reasoning_tokens")
    total = at(whole.usage, "completion_tokens")
    if not is_count(counted) or (whole.reasoning and not counted) or (is_count(total) and counted > total):
        raise Fault(f"reasoning_tokens is {counted!r}", whole.exchange, whole.usage)
    return None


_ASKS = "chat_template_kwargs with enable_thinking true, a message, and one with a required tool; whole and streamed"
CHECKS = (
    Check(
        "reasoning.markers",
        "no marker of a template is left in an answer",
        "seven questions, whole and streamed",
        "Users see `<think>` or half a call; a call is lost.",
        "Read the answer with the format that the model's template implies.",
        _markers,
    ),
    Check(
        "reasoning.fields",
        "reasoning is in one field, whole and streamed",
        _ASKS,
        "Clients that know one name show reasoning in only one of the two modes.",
        "Write the same field in messages and deltas.",
        _fields,
    ),
    Check(
        "reasoning.apart",
        "reasoning is not repeated in content",
        _ASKS,
        "Users read everything twice, and pay for it again in the next turn.",
        "Write reasoning in its field only.",
        _apart,
    ),
    Check(
        "reasoning.before",
        "streamed reasoning comes before content and calls",
        _ASKS,
        "Clients close the reasoning at the first content, and show later reasoning as the answer.",
        "Send parts in their order.",
        _before,
    ),
    Check(
        "reasoning.off",
        "where reasoning is off, the answer is in content",
        "one message, chat_template_kwargs with enable_thinking false; whole and streamed",
        "Users see an empty answer.",
        "Derive from the prompt whether reasoning is open.",
        _off,
    ),
    Check(
        "reasoning.call",
        "a required call is made with reasoning, too",
        "one tool, tool_choice 'required', enable_thinking true; whole and streamed",
        "Agents have to choose between calls and reasoning.",
        "Begin the grammar of the turn with the reasoning.",
        _call,
    ),
    Check(
        "reasoning.counted",
        "reasoning_tokens counts the reasoning",
        _ASKS,
        "Bills and budgets are wrong.",
        "Count the tokens that were read as reasoning.",
        _counted,
    ),
)
