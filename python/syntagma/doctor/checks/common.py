"""What checks of several families share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import msgspec

from syntagma.doctor.answers import Answer, Call, answer_of, answers_of
from syntagma.doctor.asks import NAMED, REQUIRED
from syntagma.doctor.endpoint import Endpoint
from syntagma.doctor.exchange import Exchange
from syntagma.doctor.outcomes import Fault, NotOffered, Outcome, Unsure

__all__ = ["TEXT_ENDS", "calls_of", "first_call", "fits", "judge_each", "must", "same_answer", "taken", "uncut"]


TEXT_ENDS: Final = ("stop", "length", "content_filter")
"""finish reasons of answers without calls"""


def must(exchange: Exchange) -> Answer:
    """An answer that every server gives: a refusal is a fault, too."""
    try:
        return answer_of(exchange)
    except NotOffered as refused:
        raise Fault(refused.said, exchange) from refused


def taken(endpoint: Endpoint, body: Mapping[str, Any]) -> Answer:
    """An answer that every server gives that writes calls."""
    try:
        return answer_of(endpoint.ask(body))
    except NotOffered as refused:
        # Where calls are written, their results must be taken.
        raise Fault(refused.said, refused.exchange) if _calls_at_all(endpoint) else refused from refused


def _calls_at_all(endpoint: Endpoint) -> bool:
    for exchange in (*endpoint.both(REQUIRED), endpoint.ask(NAMED)):
        try:
            if answer_of(exchange).calls:
                return True
        except Outcome:
            continue
    return False


def uncut(answer: Answer) -> Answer:
    """The answer; inconclusive (`Unsure`) if its `finish_reason` is `length`."""
    if answer.was_cut:
        raise Unsure("the answer was cut by the bound on tokens; ask again with more (--max-tokens)")
    return answer


def calls_of(exchanges: Iterable[Exchange]) -> list[tuple[Answer, Call]]:
    """Every call of some answers, with its answer; there is at least one."""
    answers = answers_of(tuple(exchanges))
    found = [(answer, call) for answer in answers for call in answer.calls]
    if not found:
        raise Unsure("no answer has a call to look at")
    return found


def first_call(answer: Answer) -> Call:
    """The first call of an answer, which there is."""
    if not answer.calls:
        raise Unsure("there is no call to look at")
    return answer.calls[0]


def fits(text: Any, kind: type[msgspec.Struct], exchange: Exchange, what: str) -> None:
    """Raise unless a text is JSON of a type."""
    if not isinstance(text, str):
        raise Fault(f"{what} is not a string", exchange, text)
    try:
        msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise Fault(f"{what} is not in the schema: {error}", exchange, text) from error


def judge_each(exchanges: Iterable[Exchange], judge: Callable[[Exchange], None]) -> None:
    """Judge each; an inconclusive one is told only if no other shows a fault."""
    unsure: Unsure | None = None
    for exchange in exchanges:
        try:
            judge(exchange)
        except Unsure as raised:
            unsure = raised
    if unsure is not None:
        raise unsure


def same_answer(endpoint: Endpoint, body: Mapping[str, Any]) -> str | None:
    """Raise unless an answer says the same, whole and streamed.

    Sampling at temperature 0 may still differ from run to run, so a difference is a fault only if each way of asking
    agrees with itself.
    """
    whole, streamed = answers_of(endpoint.both(body))
    first, second = _compared(whole), _compared(streamed)
    if first == second:
        return None
    again = answer_of(endpoint.ask(body, again=True)), answer_of(endpoint.ask(body, stream=True, again=True))
    if (_compared(again[0]), _compared(again[1])) != (first, second):
        raise Unsure("answers to one request differ from time to time")
    for name, one, other in zip(_FIELDS, first, second, strict=True):
        if one != other:
            raise Fault(
                f"{name}: {one!r:.200} as a whole, {other!r:.200} streamed",
                streamed.exchange,
            )
    return None


_FIELDS = ("content", "reasoning", "calls", "finish reason")


def _compared(answer: Answer) -> tuple[Any, ...]:
    calls = tuple((call.name, call.arguments) for call in answer.calls)
    return answer.content, answer.reasoning, calls, answer.finish_reason
