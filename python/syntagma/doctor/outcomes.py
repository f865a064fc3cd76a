"""What comes of a check: verdicts, results, the report; and how a check says that something is not held."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias

import msgspec

from syntagma.doctor.endpoint import Endpoint
from syntagma.doctor.exchange import Exchange

__all__ = ["VERDICTS", "Broken", "Check", "Fault", "NotOffered", "Outcome", "Report", "Result", "Unsure", "Verdict"]

Verdict: TypeAlias = Literal["held", "fault", "not offered", "unsure"]
VERDICTS: Final[tuple[Verdict, ...]] = ("held", "fault", "not offered", "unsure")


class Outcome(Exception):
    """What a check raises where its law is not held; it never leaves the package.

    Args:
        said: what was found, in one sentence.
        exchange: the request that shows it, and its answer.
        came: the part of the answer that shows it; None: its beginning.
    """

    verdict: Verdict = "unsure"

    def __init__(self, said: str, exchange: Exchange | None = None, came: Any = None) -> None:
        super().__init__(said)
        self.said = said
        self.exchange = exchange
        self.came = came


class Fault(Outcome):
    """The answer is not what the protocol says."""

    verdict: Verdict = "fault"


class Broken(Fault):
    """There is no answer to look at: the connection failed, the status is 5xx, or the body cannot be read."""


class NotOffered(Outcome):
    """The server says that it does not do this, or shows nothing of it."""

    verdict: Verdict = "not offered"


class Unsure(Outcome):
    """The answer shows neither that the law is held nor that it is not."""


class Check(msgspec.Struct, frozen=True):
    """One law of the protocol.

    Attributes:
        id: `FAMILY.NAME`; stable.
        title: the law.
        asks: the request that tries it.
        harm: what a fault does to those who use the server.
        mend: what to change in the server.
        run: looks; returns a note or None where the law is held, and raises an `Outcome` where it is not.
    """

    id: str
    title: str
    asks: str
    harm: str
    mend: str
    run: Callable[[Endpoint], str | None]


class Result(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came of one check.

    Attributes:
        id: the check.
        title: its law.
        verdict: `held`, `fault`, `not offered`, or `unsure`.
        said: what was found; empty where nothing is to be said.
        harm: what the fault does to users; empty where there is none.
        mend: how the server is mended; likewise.
        request: the request that shows it, as a curl command; likewise.
        came: what came back; likewise.
        seconds: wall-clock time that the check took.
    """

    id: str
    title: str
    verdict: Verdict
    said: str = ""
    harm: str = ""
    mend: str = ""
    request: str = ""
    came: str = ""
    seconds: float = 0.0


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What came of all checks.

    Attributes:
        url: the base URL that was asked.
        model: the model that was asked for, or None.
        results: one for each check, in their order.
        requests: how many requests were sent.
        seconds: wall-clock time of all.
    """

    url: str
    model: str | None
    results: tuple[Result, ...]
    requests: int
    seconds: float

    @property
    def faults(self) -> tuple[Result, ...]:
        """Those whose law is not held."""
        return tuple(result for result in self.results if result.verdict == "fault")

    @property
    def counts(self) -> dict[Verdict, int]:
        """How many results have each verdict."""
        counted = Counter(result.verdict for result in self.results)
        return {verdict: counted[verdict] for verdict in VERDICTS}

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data, counts included."""
        return {"counts": self.counts, **msgspec.to_builtins(self)}
