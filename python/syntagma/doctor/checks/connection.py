"""Clients that leave."""

from __future__ import annotations

from syntagma.doctor.answers import answer_of
from syntagma.doctor.asks import PLAIN, TEXT
from syntagma.doctor.endpoint import Endpoint
from syntagma.doctor.outcomes import Check, Fault, Outcome, Unsure

__all__ = ["CHECKS"]

_LEAVERS = 3


def _left(endpoint: Endpoint) -> str | None:
    for _ in range(_LEAVERS):
        left = endpoint.leave(TEXT, 2)
        if left.status != 200:
            raise Unsure(f"no stream began that could be left: status {left.status}")
    exchange = endpoint.ask(PLAIN, again=True)
    try:
        answer_of(exchange)
    except Outcome as raised:
        raise Fault(f"when {_LEAVERS} clients have left, a plain question fails: {raised.said}", exchange) from raised
    return None


CHECKS = (
    Check(
        "connection.left",
        "clients that leave do no harm",
        f"{_LEAVERS} streams that are closed after two events, then a plain question",
        "Places for answers stay taken, until the server answers nobody.",
        "End the generation when its client is gone.",
        _left,
    ),
)
