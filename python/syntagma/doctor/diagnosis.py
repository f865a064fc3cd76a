"""Runs the checks against one endpoint."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from urllib.parse import urlsplit

import msgspec

from syntagma.doctor.asks import PLAIN
from syntagma.doctor.checks import CHECKS
from syntagma.doctor.endpoint import Endpoint
from syntagma.doctor.exchange import Exchange, shortened
from syntagma.doctor.outcomes import Broken, Check, Fault, NotOffered, Outcome, Report, Result, Unsure, Verdict
from syntagma.doctor.values import listed, word
from syntagma.errors import ArgumentError, UpstreamError

__all__ = ["diagnose"]

_SHOWN = 10
"""models that a hint lists"""
_FIRST = frozenset({"chat.whole", "stream.answered", "models.list", "models.asked", "models.by-name"})
"""checks that say something of a server that answers no question"""


def diagnose(
    url: str,
    *,
    model: str | None = None,
    api_key: str | None = None,
    only: Sequence[str] = (),
    skip: Sequence[str] = (),
    timeout: float = 60.0,
    limit: float | None = None,
    max_tokens: int = 512,
    on_result: Callable[[Result], None] | None = None,
) -> Report:
    """Check whether a server keeps to OpenAI's protocol of chat completions.

    Args:
        url: the base URL, such as `http://127.0.0.1:8000/v1`; `/v1` is added where it has no path.
        model: the model to ask for; None: the first that the server lists.
        api_key: goes out as a bearer token, and is never shown.
        only: checks or families of checks (`stream.done`, `stream`) that are run; empty: all.
        skip: those that are left out.
        timeout: seconds that one answer may take.
        limit: seconds for everything; checks after it are `unsure`. None: no limit.
        max_tokens: tokens of an answer whose length does not matter; models that reason long need more.
        on_result: told of each result as it is there.

    Raises:
        UpstreamError: `E-UPSTREAM-URL`, this is no address; `E-UPSTREAM-CONNECT`, nobody answers there;
            `E-UPSTREAM-KEY`, it refuses the key; `E-UPSTREAM-REFUSED`, it has no such paths; `E-UPSTREAM-MODEL`, it has
            no such model.
        ArgumentError: `E-ARGUMENT-VALUE`, no check has this name, a number is not positive, or the key cannot be sent.
    """
    chosen = _chosen(only, skip)
    _check_numbers(timeout=timeout, limit=limit, max_tokens=max_tokens)
    if api_key is not None and not (api_key.isascii() and api_key.isprintable()):
        raise ArgumentError("E-ARGUMENT-VALUE", "the key has characters that a header cannot have")
    began = time.monotonic()
    endpoint = Endpoint(
        _base(url),
        model=model,
        api_key=api_key,
        timeout=timeout,
        deadline=None if limit is None else began + limit,
        max_tokens=max_tokens,
    )
    listing = endpoint.get("/models")
    if listing.status is None:
        raise UpstreamError(
            "E-UPSTREAM-CONNECT",
            f"the server does not answer: {listing.failed}",
            hint="start the server, or correct the address",
            source=endpoint.url,
            status=503,
        )
    endpoint.model = model or word(listed(listing.json(), "data"), 0, "id") or None
    plain = endpoint.settle(PLAIN)
    if plain.status in (401, 403):
        hint = "another key" if api_key is not None else "give a key (api_key, --api-key, or SYNTAGMA_API_KEY)"
        raise UpstreamError("E-UPSTREAM-KEY", "the server refuses the key", source=endpoint.url, hint=hint)
    if {listing.status, plain.status} <= {404, 405}:
        hint = "on most servers the base URL ends in /v1"
        message = "the server has neither /models nor /chat/completions there"
        raise UpstreamError("E-UPSTREAM-REFUSED", message, source=endpoint.url, hint=hint)
    known = [word(one, "id") for one in listed(listing.json(), "data")]
    if model is not None and plain.status in (400, 404) and known and model not in known:
        hint = f"it lists {', '.join(known[:_SHOWN])}"
        message = f"the server has no model {model!r}"
        raise UpstreamError("E-UPSTREAM-MODEL", message, source=endpoint.url, hint=hint)
    results = []
    blamed: dict[tuple[str, bytes | None], str] = {}
    for check in chosen:
        result = _run(check, endpoint, blamed)
        results.append(result)
        if on_result is not None:
            on_result(result)
    return Report(
        url=endpoint.url,
        model=endpoint.model,
        results=tuple(results),
        requests=len(endpoint.exchanges),
        seconds=round(time.monotonic() - began, 3),
    )


def _run(check: Check, endpoint: Endpoint, blamed: dict[tuple[str, bytes | None], str]) -> Result:
    """The result of one check.

    Args:
        check: which.
        endpoint: the server.
        blamed: by request, the check that has told that it has no answer or is refused, so that it is told once.
    """
    began = time.monotonic()
    try:
        if endpoint.time_is_over:
            raise Unsure("the time for everything was over")
        outcome, said = None, check.run(endpoint) or ""
    except Outcome as raised:
        outcome, said = raised, raised.said
    if isinstance(outcome, Broken | NotOffered) and outcome.exchange is not None:
        asked = (outcome.exchange.url, outcome.exchange.body)
        if endpoint.time_is_over:
            outcome, said = Unsure(said), "the time for everything was over"
        elif blamed.setdefault(asked, check.id) != check.id:
            refused = isinstance(outcome, NotOffered)
            outcome = outcome if refused else Unsure(said)
            said = f"its request {'is refused' if refused else 'has no answer'}, as {blamed[asked]} tells"
    if isinstance(outcome, Fault) and check.id not in _FIRST and not endpoint.answers:
        outcome, said = Unsure(said), "the server does not answer even a plain question"
    verdict: Verdict = "held" if outcome is None else outcome.verdict
    made = Result(
        id=check.id, title=check.title, verdict=verdict, said=said, seconds=round(time.monotonic() - began, 3)
    )
    if outcome is None or isinstance(outcome, Unsure | NotOffered):
        return made
    return msgspec.structs.replace(made, harm=check.harm, mend=check.mend, **_shown(outcome.exchange, outcome.came))


def _shown(exchange: Exchange | None, came: object) -> dict[str, str]:
    """The request that shows a fault, and what came."""
    if exchange is None:
        return {}
    if came is None:
        return {"request": exchange.curl(), "came": exchange.came()}
    text = came if isinstance(came, str) else msgspec.json.encode(came).decode()
    return {"request": exchange.curl(), "came": shortened(text)}


def _chosen(only: Sequence[str], skip: Sequence[str]) -> list[Check]:
    known = {check.id for check in CHECKS} | {_family(check) for check in CHECKS}
    for name in (*only, *skip):
        if name not in known:
            families = sorted({_family(check) for check in CHECKS})
            raise ArgumentError(
                "E-ARGUMENT-VALUE",
                f"no check is called {name!r}",
                hint=f"families: {', '.join(families)}; docs/reference/doctor-checks.md lists all",
            )
    return [check for check in CHECKS if (not only or _is_among(check, only)) and not _is_among(check, skip)]


def _is_among(check: Check, names: Iterable[str]) -> bool:
    return any(name in (check.id, _family(check)) for name in names)


def _family(check: Check) -> str:
    return check.id.partition(".")[0]


def _check_numbers(**numbers: float | None) -> None:
    for name, number in numbers.items():
        if number is not None and not number > 0:
            raise ArgumentError("E-ARGUMENT-VALUE", f"{name} is a positive number, not {number}")


def _base(url: str) -> str:
    try:
        parts = urlsplit(url)
        right = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        right = False
    if not right or not url.isascii() or not url.isprintable() or " " in url:
        raise UpstreamError("E-UPSTREAM-URL", f"{url!r} is not an address", hint="such as http://127.0.0.1:8000/v1")
    base = url.rstrip("/")
    return base if parts.path.strip("/") else f"{base}/v1"
