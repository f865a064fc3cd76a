"""Matchers that are kept for the next generation with the same grammar."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future

import msgspec

from syntagma.decoding import GrammarCompiler, GrammarMatcher
from syntagma.forks import ForkSafeLock
from syntagma.grammars import Grammar

__all__ = ["Lease", "MatcherPool"]

_MAX_IDLE = 16
_log = logging.getLogger("syntagma.generation")


class Lease(msgspec.Struct, frozen=True):
    """A matcher that one generation uses alone, and the seconds that it took to get it."""

    key: Hashable
    matcher: GrammarMatcher
    init_s: float


class MatcherPool:
    """Matchers that are kept for the next generation with the same grammar. Threads may share it."""

    def __init__(self, compiler: GrammarCompiler) -> None:
        self._compiler = compiler
        self._idle: OrderedDict[Hashable, GrammarMatcher] = OrderedDict()
        self._guard = ForkSafeLock(self._idle.clear)

    def take(
        self,
        key: Hashable,
        grammar: Grammar | Callable[[], Grammar | None],
        begin: Callable[[GrammarMatcher], None] | None = None,
    ) -> Lease | None:
        """A matcher at the start of the text, kept or newly compiled; None if there is no grammar.

        Args:
            key: equal keys promise equal grammars; None: the grammar itself is the key.
            grammar: the grammar, or a function that makes it, whose time counts as well.
            begin: moves the matcher on from the start of the text; its exceptions are raised.
        """
        began = time.perf_counter()
        if callable(grammar):
            made = grammar()
            if made is None:
                return None
            grammar = made
        key = grammar if key is None else key
        with self._guard.lock:
            matcher = self._idle.pop(key, None)
        is_new = matcher is None
        if matcher is None:
            matcher = GrammarMatcher(self._compiler.compile(grammar))
        else:
            matcher.reset()
        if begin is not None:
            begin(matcher)
        took = time.perf_counter() - began
        _log.info("grammar matcher %s in %.2f ms", "made" if is_new else "reused and reset", took * 1e3)
        return Lease(key, matcher, took)

    def give_back(self, lease: Lease) -> None:
        """Keep the matcher; those kept longest are dropped."""
        with self._guard.lock:
            self._idle[lease.key] = lease.matcher
            self._idle.move_to_end(lease.key)
            while len(self._idle) > _MAX_IDLE:
                self._idle.popitem(last=False)

    def give_back_result(self, pending: Future[Lease | None]) -> None:
        """Keep a matcher whose generation never began."""
        if not pending.cancelled() and pending.exception() is None and (lease := pending.result()) is not None:
            self.give_back(lease)
