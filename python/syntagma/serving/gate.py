"""The gate before all endpoints: it checks the key of a request and the key's bounds."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Final

from syntagma.errors import RequestError
from syntagma.serving.keys import Key, key_shown
from syntagma.serving.operations import Operations
from syntagma.serving.records import current_record
from syntagma.serving.refusals import refusal

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["OPEN_PATHS", "Gate"]

OPEN_PATHS: Final = frozenset({"/", "/health", "/ready"})
"""paths that need no key: machines, and people, ask them to see whether the server runs"""


class _Allowance:
    """The requests that one key may still make.

    Args:
        now: the time, seconds.
        rate: requests a minute; None: no bound.
        concurrency: requests at once; None: no bound.
    """

    def __init__(self, now: float, rate: int | None, concurrency: int | None) -> None:
        self._rate = rate
        self._concurrency = concurrency
        self._left = float(rate or 0)
        self._at = now
        self._active = 0

    def wait(self, now: float) -> tuple[float, str] | None:
        """Take a request; None: it may go on. Else the seconds until another try may succeed, and why."""
        if self._concurrency is not None and self._active >= self._concurrency:
            return 1.0, f"{self._active} requests that are being answered, and may have no more at once"
        if self._rate is not None:
            self._left = min(self._rate, self._left + (now - self._at) * self._rate / 60)
            self._at = now
            if self._left < 1:
                return (1 - self._left) * 60 / self._rate, f"asked more than {self._rate} times a minute"
            self._left -= 1
        self._active += 1
        return None

    def leave(self) -> None:
        """Note that a request has been answered."""
        self._active -= 1


class Gate:
    """An ASGI application around another.

    Args:
        app: the other application.
        operations: the keys and their bounds.
        clock: a monotonic clock, seconds.
        open_paths: paths that need no key.
    """

    def __init__(
        self,
        app: ASGIApp,
        operations: Operations,
        clock: Callable[[], float] = time.monotonic,
        open_paths: Collection[str] = OPEN_PATHS,
    ) -> None:
        self._app = app
        self._operations = operations
        self._clock = clock
        self._open_paths = open_paths
        self._allowances = {
            key.name: _Allowance(clock(), operations.rate, operations.concurrency) for key in operations.keys
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; see ASGI."""
        path = "" if scope["type"] != "http" else scope["path"].removeprefix(scope.get("root_path", ""))
        if not self._operations.keys or scope["type"] != "http" or path in self._open_paths:
            await self._app(scope, receive, send)
            return
        key = key_shown(scope["headers"], self._operations.keys)
        if key is None:
            error = RequestError(
                "E-REQUEST-KEY",
                "the request shows no key that is accepted",
                hint="send it as `Authorization: Bearer KEY` or `x-api-key: KEY`",
                status=401,
            )
            answer = refusal(path, error)
            answer.headers["www-authenticate"] = "Bearer"
            await answer(scope, receive, send)
            return
        record = current_record()
        if record is not None:
            record.key = key.name
        # Only requests for work count: models and metrics may be read freely.
        counted = scope["method"] == "POST"
        wait = self._allowances[key.name].wait(self._clock()) if counted else None
        if wait is not None:
            seconds, what = wait
            error = RequestError("E-REQUEST-RATE", f"the key has {what}", status=429)
            answer = refusal(path, error)
            answer.headers["retry-after"] = str(max(1, math.ceil(seconds)))
            await answer(scope, receive, send)
            return
        with self._left_at_the_end(key, counted=counted):
            await self._app(scope, receive, send)

    @contextlib.contextmanager
    def _left_at_the_end(self, key: Key, *, counted: bool) -> Iterator[None]:
        try:
            yield
        finally:
            if counted:
                self._allowances[key.name].leave()
