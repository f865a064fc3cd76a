"""Several answers at once, and log-probabilities."""

from __future__ import annotations

from typing import Any

from syntagma.doctor.answers import answer_of, events_of
from syntagma.doctor.asks import PLAIN
from syntagma.doctor.endpoint import Endpoint
from syntagma.doctor.exchange import Exchange
from syntagma.doctor.outcomes import Check, Fault, NotOffered
from syntagma.doctor.values import at, listed

__all__ = ["CHECKS"]

_TWO = {**PLAIN, "n": 2}
_LOGPROBS = {**PLAIN, "logprobs": True, "top_logprobs": 2}


def _n(endpoint: Endpoint) -> str | None:
    exchange = endpoint.ask(_TWO)
    answer_of(exchange)
    indexes = [at(choice, "index") for choice in listed(exchange.json(), "choices")]
    if sorted(indexes, key=str) != [0, 1]:
        raise Fault(f"two answers were asked for, and the choices have the indexes {indexes}", exchange)
    return None


def _n_streamed(endpoint: Endpoint) -> str | None:
    exchange = endpoint.ask(_TWO, stream=True)
    reasons: dict[str, int] = {}
    for chunk in events_of(exchange).chunks:
        for choice in listed(chunk, "choices"):
            index = repr(at(choice, "index"))
            reasons[index] = reasons.get(index, 0) + (at(choice, "finish_reason") is not None)
    if sorted(reasons) != ["0", "1"]:
        raise Fault(f"two answers were asked for, and chunks have the indexes {', '.join(sorted(reasons))}", exchange)
    if set(reasons.values()) != {1}:
        raise Fault("not every answer has one finish reason", exchange)
    return None


def _judge_entries(entries: list[Any], exchange: Exchange) -> None:
    for entry in entries:
        raw = at(entry, "bytes")
        if not isinstance(at(entry, "token"), str) or not (raw is None or isinstance(raw, list)):
            raise Fault("an entry needs a token, and bytes, a list or null", exchange, entry)
        tops = at(entry, "top_logprobs")
        if not isinstance(tops, list) or len(tops) > 2:
            raise Fault("an entry needs top_logprobs, as many as were asked for at most", exchange, entry)
        for one in (entry, *tops):
            number = at(one, "logprob")
            if not isinstance(number, int | float) or isinstance(number, bool) or number > 1e-6:
                raise Fault(f"a log-probability is {number!r}", exchange, one)


def _judge_text(entries: list[Any], content: str, exchange: Exchange) -> None:
    """What tokens spell holds the content; where a token has no bytes, nothing can be said."""
    raw = [at(entry, "bytes") for entry in entries]
    try:
        spelled = b"".join(bytes(one) for one in raw).decode("utf-8", "replace")
    except (TypeError, ValueError):
        return
    if content.strip() not in spelled:
        raise Fault("the tokens do not spell the content", exchange, spelled)


def _logprobs(endpoint: Endpoint) -> str | None:
    exchange = endpoint.ask(_LOGPROBS)
    answer = answer_of(exchange)
    entries = listed(exchange.json(), "choices", 0, "logprobs", "content")
    if not entries:
        raise NotOffered("log-probabilities were asked for, and there are none")
    _judge_entries(entries, exchange)
    _judge_text(entries, answer.content, exchange)
    return None


def _logprobs_streamed(endpoint: Endpoint) -> str | None:
    exchange = endpoint.ask(_LOGPROBS, stream=True)
    answer = answer_of(exchange)
    entries = [
        entry
        for chunk in events_of(exchange).chunks
        for choice in listed(chunk, "choices")
        for entry in listed(choice, "logprobs", "content")
    ]
    if not entries:
        if listed(endpoint.ask(_LOGPROBS).json(), "choices", 0, "logprobs", "content"):
            raise Fault("a whole answer has log-probabilities, a streamed one has none", exchange)
        raise NotOffered("log-probabilities were asked for, and there are none")
    _judge_entries(entries, exchange)
    _judge_text(entries, answer.content, exchange)
    return None


CHECKS = (
    Check(
        "several.n",
        "n gives as many answers, numbered from 0",
        "one message, n 2",
        "Programs that choose the best of several get one, and do not know.",
        "Write that many choices, or refuse.",
        _n,
    ),
    Check(
        "several.n-streamed",
        "so it does in streams, each with one finish reason",
        "one message, n 2, streamed",
        "Answers are mixed to one, or a client waits for an end that does not come.",
        "Write `index` in every chunk, and one finish reason for each.",
        _n_streamed,
    ),
    Check(
        "logprobs.whole",
        "log-probabilities have tokens, bytes, and as many alternatives as asked for",
        "one message, logprobs true, top_logprobs 2",
        "Evaluations compute wrong figures, or raise.",
        "Write an entry for each token that was written; no log-probability is above 0.",
        _logprobs,
    ),
    Check(
        "logprobs.streamed",
        "the same holds in streams",
        "the same, streamed",
        "Tokens with held-back text lose their entries.",
        "Send the entries of every token, if necessary with a later chunk.",
        _logprobs_streamed,
    ),
)
