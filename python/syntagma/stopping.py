"""Cancellation and a limit of CPU time for reading grammars, between one source and the next.

One source costs a bounded number of units, about half a second at most; what a request brings many of is bounded here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from contextvars import ContextVar

from syntagma.errors import LimitError

__all__ = ["check_going_on", "unless_stopped", "within_seconds"]

_checks: ContextVar[tuple[Callable[[], None], ...]] = ContextVar("checks", default=())


def check_going_on() -> None:
    """Called before a source is read.

    Raises:
        CancelledError: nobody waits for it.
        LimitError: `E-LIMIT-GRAMMAR-TIME`.
    """
    for check in _checks.get():
        check()


@contextmanager
def unless_stopped(stopped: Callable[[], bool]) -> Iterator[None]:
    """What is read inside goes on as long as `stopped` gives False.

    Args:
        stopped: whether nobody waits any longer; asked in the reading thread.
    """

    def check() -> None:
        if stopped():
            raise CancelledError

    with _checked(check):
        yield


@contextmanager
def within_seconds(most: float) -> Iterator[None]:
    """What is read inside has so much CPU time of this thread, seconds."""
    until = time.thread_time() + most

    def check() -> None:
        if time.thread_time() > until:
            message = f"reading the schemas and grammars takes more than {most:g} s of CPU time"
            hint = "`Limits(grammar_seconds=…)` allows more"
            raise LimitError("E-LIMIT-GRAMMAR-TIME", message, limit="grammar_seconds", allowed=most, hint=hint)

    with _checked(check):
        yield


@contextmanager
def _checked(check: Callable[[], None]) -> Iterator[None]:
    token = _checks.set((*_checks.get(), check))
    try:
        yield
    finally:
        _checks.reset(token)
