"""Matchers that are kept for the next generation with the same grammar."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Hashable
from concurrent.futures import Future

import msgspec

from syntagma.decoding import GrammarCompiler, GrammarMatcher
from syntagma.forks import ForkSafeLock
from syntagma.grammars import Grammar

__all__ = ["Lease", "MatcherPool"]

_MAX_IDLE = 16


class Lease(msgspec.Struct, frozen=True):
    """A matcher that one generation uses alone, and what it took to get it."""

    key: Hashable
    matcher: GrammarMatcher
    init_s: float


class MatcherPool:
    """Matchers that are kept for the next generation with the same grammar. Threads may share it."""

    def __init__(self, compiler: GrammarCompiler) -> None:
        self._compiler = compiler
        self._idle: OrderedDict[Hashable, GrammarMatcher] = OrderedDict()
        self._guard = ForkSafeLock(self._idle.clear)

    def take(self, key: Hashable, grammar: Grammar) -> Lease:
        """A matcher at the start of the text, compiled if none is kept."""
        began = time.perf_counter()
        with self._guard.lock:
            matcher = self._idle.pop(key, None)
        if matcher is None:
            matcher = GrammarMatcher(self._compiler.compile(grammar))
        else:
            matcher.reset()
        return Lease(key, matcher, time.perf_counter() - began)

    def give_back(self, lease: Lease) -> None:
        """Keep the matcher; those that were kept longest are dropped."""
        with self._guard.lock:
            self._idle[lease.key] = lease.matcher
            self._idle.move_to_end(lease.key)
            while len(self._idle) > _MAX_IDLE:
                self._idle.popitem(last=False)

    def give_back_result(self, pending: Future[Lease]) -> None:
        """Keep a matcher whose generation never began."""
        if not pending.cancelled() and pending.exception() is None:
            self.give_back(pending.result())
