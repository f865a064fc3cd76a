"""`GrammarCompiler`: compiles each grammar once for a vocabulary."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Any, NoReturn

import msgspec

from syntagma import _engine
from syntagma.decoding.pickling import refusal
from syntagma.decoding.tokenizer_info import TokenizerInfo
from syntagma.entry import check_argument, own
from syntagma.grammars import Grammar
from syntagma.limits import Limits

__all__ = ["Compilation", "CompilerStats", "GrammarCompiler"]


class CompilerStats(msgspec.Struct, frozen=True):
    """Counts of a compiler's cache.

    Attributes:
        hits: requests answered from the cache.
        misses: requests that compiled.
        entries: compiled grammars in the cache.
        bytes: their approximate size.
    """

    hits: int
    misses: int
    entries: int
    bytes: int


class Compilation(Future[_engine.CompiledGrammar]):
    """A compilation in the background: a future for threads (`result`) that can also be awaited in asyncio.

    Cancelling it, or the task that awaits it, stops a compilation that has not begun. A running one is finished, and
    its result is cached.
    """

    def __await__(self) -> Generator[Any, None, _engine.CompiledGrammar]:
        return asyncio.wrap_future(self).__await__()


class GrammarCompiler:
    """Compiles grammars for one vocabulary and caches them. Safe for several threads.

    Args:
        info: the vocabulary.
        cache_bytes: bound on the cache, bytes; None: `limits.compiler_cache_bytes`.
        cache: False compiles a grammar each time.
        verify: a second recogniser checks every mask and token of matchers; very slow, for canaries and tests.
        limits: bounds on work and memory.
    """

    __slots__ = ("_inner", "info")

    def __init__(
        self,
        info: TokenizerInfo,
        *,
        cache_bytes: int | None = None,
        cache: bool = True,
        verify: bool = False,
        limits: Limits | None = None,
    ) -> None:
        bounds = limits or Limits()
        if cache_bytes is not None:
            bounds = msgspec.structs.replace(bounds, compiler_cache_bytes=cache_bytes)
        self.info = own(info)
        self._inner = _engine.GrammarCompiler(self.info._inner, cache, verify, bounds)

    def __reduce__(self) -> NoReturn:
        refusal("a GrammarCompiler", "pickle the TokenizerInfo, and make a compiler where it is used")(self)

    def compile(self, grammar: Grammar) -> _engine.CompiledGrammar:
        """Compile a grammar, or take it from the cache. Releases the GIL.

        Threads that ask for the same grammar at the same time share one compilation.

        Raises:
            GrammarError: `E-GRAMMAR-EMPTY`, no text matches; or the vocabulary lacks a token of the grammar.
            LimitError: `E-LIMIT-…`, the compilation exceeds a limit.
        """
        grammar = own(grammar)
        if not isinstance(grammar, Grammar):
            check_argument("grammar", grammar, Grammar)
        compiled = self._inner.compile(grammar._inner)
        return compiled.bounded(grammar._bounds) if grammar._bounds else compiled

    def compile_async(self, grammar: Grammar) -> Compilation:
        """Compile in the background. Waiting for the result raises the errors of `compile`."""
        compilation = Compilation()

        def run() -> None:
            if not compilation.set_running_or_notify_cancel():
                return
            try:
                compiled = self.compile(grammar)
            except BaseException as error:  # raised again by the thread or task that waits
                compilation.set_exception(error)
            else:
                compilation.set_result(compiled)

        _pool(os.getpid()).submit(run)
        return compilation

    def clear(self) -> None:
        """Empty the cache and return free memory to the system. Grammars in use stay valid."""
        self._inner.clear()

    @property
    def stats(self) -> CompilerStats:
        """The counts of the cache so far."""
        return CompilerStats(**self._inner.stats())


@cache
def _pool(_process: int) -> ThreadPoolExecutor:
    """The compilation threads of this process. A forked child needs its own, because threads do not survive a fork."""
    return ThreadPoolExecutor(max_workers=2, thread_name_prefix="syntagma-compile")
