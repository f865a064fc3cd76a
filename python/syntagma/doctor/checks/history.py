"""Conversations as agent programs send them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from syntagma.doctor.answers import answer_of
from syntagma.doctor.asks import DEVELOPER, OUT_OF_ORDER, REQUIRED, TWO_SYSTEMS
from syntagma.doctor.checks.common import must, taken
from syntagma.doctor.endpoint import Endpoint
from syntagma.doctor.outcomes import Check, Unsure
from syntagma.doctor.values import at, listed, word

__all__ = ["CHECKS"]

_SESSIONS_END = "Agents send this in the middle of a session, which then ends with an error."


def _answered(body: Mapping[str, Any]) -> Callable[[Endpoint], str | None]:
    def run(endpoint: Endpoint) -> str | None:
        must(endpoint.ask(body))
        return None

    return run


def _results_order(endpoint: Endpoint) -> str | None:
    taken(endpoint, OUT_OF_ORDER)
    return None


def _sent_back(endpoint: Endpoint) -> str | None:
    called = answer_of(endpoint.ask(REQUIRED))
    if not called.calls:
        raise Unsure("there is no call to send back")
    message = at(called.exchange.json(), "choices", 0, "message")
    ids = [word(call, "id") for call in listed(message, "tool_calls")]
    results = [{"role": "tool", "tool_call_id": call_id, "content": "clear"} for call_id in ids]
    must(endpoint.ask({**REQUIRED, "tool_choice": "auto", "messages": [*REQUIRED["messages"], message, *results]}))
    return None


CHECKS = (
    Check(
        "history.developer",
        "a message of role 'developer' is taken",
        "a developer message before the question",
        "Agents send their whole instructions under this role; the session does not begin.",
        "Read it as a system message where the template has no such role.",
        _answered(DEVELOPER),
    ),
    Check(
        "history.two-systems",
        "two system messages are taken",
        "two system messages before the question",
        _SESSIONS_END,
        "Join them where the template takes one.",
        _answered(TWO_SYSTEMS),
    ),
    Check(
        "history.results-order",
        "results may come in another order than their calls",
        "two calls, the result of the second first",
        _SESSIONS_END,
        "Go by the ids; put results in the order of the calls for templates that go by order.",
        _results_order,
    ),
    Check(
        "history.sent-back",
        "the server takes its own message back, with all its members",
        "the message with a call, as it came, and a result",
        _SESSIONS_END,
        "Read every member that answers have, reasoning among them.",
        _sent_back,
    ),
)
