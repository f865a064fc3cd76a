"""Matchers that wait for their grammar to come back."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Hashable
from concurrent.futures import Future

import msgspec

from syntagma.decoding import GrammarCompiler, GrammarMatcher
from syntagma.grammars import Grammar

__all__ = ["Lease", "MatcherPool"]

_IDLE_MATCHERS = 16


class Lease(msgspec.Struct, frozen=True):
    """A matcher that one generation uses alone, and what it took to get it."""

    key: Hashable
    matcher: GrammarMatcher
    init_s: float


class MatcherPool:
    """Matchers that wait for their grammar to come back. Shared between threads."""

    def __init__(self, compiler: GrammarCompiler) -> None:
        self._compiler = compiler
        self._lock = threading.Lock()
        self._idle: OrderedDict[Hashable, GrammarMatcher] = OrderedDict()

    def take(self, key: Hashable, grammar: Grammar) -> Lease:
        """A matcher at the start of the text, compiled if none waits."""
        began = time.perf_counter()
        with self._lock:
            matcher = self._idle.pop(key, None)
        if matcher is None:
            matcher = GrammarMatcher(self._compiler.compile(grammar))
        else:
            matcher.reset()
        return Lease(key, matcher, time.perf_counter() - began)

    def give_back(self, lease: Lease) -> None:
        """Let the matcher wait; those that have waited longest are given up."""
        with self._lock:
            self._idle[lease.key] = lease.matcher
            self._idle.move_to_end(lease.key)
            while len(self._idle) > _IDLE_MATCHERS:
                self._idle.popitem(last=False)

    def give_back_result(self, pending: Future[Lease]) -> None:
        """The same for a matcher that nobody has waited for."""
        if not pending.cancelled() and pending.exception() is None:
            self.give_back(pending.result())
