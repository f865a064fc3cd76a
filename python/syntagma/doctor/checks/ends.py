"""How answers end: bounds on tokens, calls that are cut, stop strings."""

from __future__ import annotations

from typing import Any

from syntagma.doctor.answers import Answer, answer_of
from syntagma.doctor.asks import CREW, REQUIRED, TEXT, Crew
from syntagma.doctor.checks.common import fits
from syntagma.doctor.endpoint import Endpoint
from syntagma.doctor.exchange import Exchange
from syntagma.doctor.markers import left_over
from syntagma.doctor.outcomes import Check, Fault, Unsure
from syntagma.doctor.values import at, is_count, object_of

__all__ = ["CHECKS"]

_FEW = 4
_CUTS = (2, 5, 9, 14, 20)
"""bounds under which a call is cut in its opener, its name, its arguments, and after them"""
_ARGUMENT = "city"
"""the first argument of that call"""


def _length(endpoint: Endpoint) -> str | None:
    for exchange in endpoint.both({**TEXT, "max_tokens": _FEW}):
        _is_cut(exchange)
    return None


def _completion_tokens(endpoint: Endpoint) -> str | None:
    _is_cut(endpoint.ask({**TEXT, "max_completion_tokens": _FEW}))
    return None


def _is_cut(exchange: Exchange) -> None:
    answer = answer_of(exchange)
    written = at(answer.usage, "completion_tokens")
    if is_count(written) and written > _FEW:
        raise Fault(f"{written} tokens were written, {_FEW} at most were asked for", exchange)
    if answer.finish_reason == "stop" and is_count(written) and written < _FEW:
        raise Unsure("the model ended by itself")
    if answer.finish_reason != "length":
        raise Fault(f"finish_reason of an answer that was cut is {answer.finish_reason!r}", exchange)


def _cut_call(endpoint: Endpoint, *, stream: bool) -> str | None:
    lost = 0
    for most in _CUTS:
        exchange = endpoint.ask({**REQUIRED, "max_tokens": most}, stream=stream)
        answer = answer_of(exchange)
        _judge_cut(answer)
        lost += not answer.kinds
    return f"{lost} of {len(_CUTS)} answers have nothing of what was written" if lost else None


def _judge_cut(answer: Answer) -> None:
    for call in answer.calls:
        if not call.name:
            raise Fault("a call without a name is passed on", answer.exchange, call.raw)
        if object_of(call.arguments) is None and answer.finish_reason != "length":
            said = f"arguments that were cut are passed off as whole: finish_reason is {answer.finish_reason!r}"
            raise Fault(said, answer.exchange)
    if answer.finish_reason == "tool_calls" and not answer.calls:
        raise Fault("finish_reason is 'tool_calls', and there is no call", answer.exchange)
    # Before its name is whole, nobody can be sure that a marker opens a call; after it, it is no text any more.
    if left_over(answer.content) and _ARGUMENT in answer.content:
        raise Fault("arguments of a call that was cut stand in content, with the markers", answer.exchange)


def _cut_calls(endpoint: Endpoint) -> str | None:
    return _cut_call(endpoint, stream=False)


def _cut_calls_streamed(endpoint: Endpoint) -> str | None:
    return _cut_call(endpoint, stream=True)


def _cut_schema(endpoint: Endpoint) -> str | None:
    for exchange in endpoint.both({**CREW, "max_tokens": _FEW}):
        answer = answer_of(exchange)
        if answer.finish_reason != "length":
            fits(answer.content, Crew, exchange, f"content with finish_reason {answer.finish_reason!r}")
    return None


def _stop_of(endpoint: Endpoint) -> tuple[dict[str, Any], str, str]:
    """A request with a stop string that its answer comes to, the string, and what stands before it."""
    text = answer_of(endpoint.ask(TEXT)).content
    for at_ in range(len(text) // 3, len(text) - 3):
        stop = text[at_ : at_ + 3]
        if stop.isascii() and stop.isalpha():
            return {**TEXT, "stop": [stop]}, stop, text[: text.index(stop)]
    raise Unsure("the answer without a stop string is too short to be stopped")


def _stop(endpoint: Endpoint, *, stream: bool) -> str | None:
    body, stop, before = _stop_of(endpoint)
    exchange = endpoint.ask(body, stream=stream)
    answer = answer_of(exchange)
    if stop in answer.content:
        raise Fault(f"the stop string {stop!r} stands in content", exchange)
    if not before.startswith(answer.content) and not answer.content.startswith(before):
        raise Unsure("answers to one request differ from time to time")
    if answer.content.startswith(before) and answer.finish_reason != "stop":
        raise Fault(f"finish_reason after a stop string is {answer.finish_reason!r}", exchange)
    if answer.content.rstrip() != before.rstrip():
        raise Fault("text before the stop string is lost, or text after it is not", exchange, answer.content)
    return None


def _stop_whole(endpoint: Endpoint) -> str | None:
    return _stop(endpoint, stream=False)


def _stop_streamed(endpoint: Endpoint) -> str | None:
    return _stop(endpoint, stream=True)


_CALLS = f"one tool, tool_choice 'required', max_tokens {', '.join(map(str, _CUTS))}"
CHECKS = (
    Check(
        "ends.length",
        "max_tokens cuts an answer, with finish reason 'length'",
        f"a long answer, max_tokens {_FEW}; whole and streamed",
        "Programs take half an answer for a whole one.",
        "Tell 'length' where the bound ended the answer.",
        _length,
    ),
    Check(
        "ends.max-completion-tokens",
        "so does max_completion_tokens",
        f"a long answer, max_completion_tokens {_FEW}",
        "Newer clients send this name only; their bound is ignored.",
        "Read both names.",
        _completion_tokens,
    ),
    Check(
        "ends.cut-calls",
        "a truncated call is not presented as complete",
        _CALLS,
        "Tools run with partial arguments, or agents wait for a call that does not exist.",
        "Report 'length'; after the name of a tool, the text is a call, complete or not.",
        _cut_calls,
    ),
    Check(
        "ends.cut-calls-streamed",
        "the same holds in streams",
        _CALLS + ", streamed",
        "The same.",
        "The same; a truncated stream must agree with the truncated answer.",
        _cut_calls_streamed,
    ),
    Check(
        "ends.cut-schema",
        "JSON that is cut is not passed off as whole",
        f"response_format json_schema, max_tokens {_FEW}; whole and streamed",
        "Programs decode half a JSON text.",
        "Tell 'length', or bring the text to a valid ending.",
        _cut_schema,
    ),
    Check(
        "ends.stop",
        "a stop string ends the answer and is not in it",
        "a long answer, once more with a part of it as a stop string",
        "Programs that cut by stop strings get them in the text, or text after them.",
        "Cut before the string, and tell 'stop'.",
        _stop_whole,
    ),
    Check(
        "ends.stop-streamed",
        "the same holds in streams",
        "the same, streamed",
        "The beginning of the string was sent before its end was known.",
        "Hold back text that may begin a stop string.",
        _stop_streamed,
    ),
)
