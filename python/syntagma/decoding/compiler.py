"""`GrammarCompiler`: grammars to compiled grammars, each once."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache

import msgspec

from syntagma import _engine
from syntagma.decoding.tokenizer_info import TokenizerInfo
from syntagma.grammars import Grammar
from syntagma.limits import Limits

__all__ = ["CompilerStats", "GrammarCompiler"]


class CompilerStats(msgspec.Struct, frozen=True):
    """How a compiler's cache fares: answers from it, compilations done, grammars held, their approximate bytes."""

    hits: int
    misses: int
    entries: int
    bytes: int


class GrammarCompiler:
    """Compiles grammars for one vocabulary and remembers them. Every method may be called from many threads at once.

    Args:
        info: the vocabulary.
        cache_bytes: bound on the cache, bytes; None: `limits.compiler_cache_bytes`.
        cache: False compiles every grammar anew.
        verify: matchers compute every mask by a plain walk, too, and report a difference; slow, for canaries.
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
        self.info = info
        self._inner = _engine.GrammarCompiler(info._inner, cache, verify, bounds)

    def compile(self, grammar: Grammar) -> _engine.CompiledGrammar:
        """The compiled grammar. Threads that ask for the same one share one compilation; the interpreter is released.

        Raises:
            GrammarError: `E-GRAMMAR-EMPTY`, nothing matches; or a token that the vocabulary does not have.
            LimitError: `E-LIMIT-…`, too much work.
        """
        return self._inner.compile(grammar._inner)

    def compile_async(self, grammar: Grammar) -> Future[_engine.CompiledGrammar]:
        """Compile in the background; the future raises what `compile` raises."""
        return _pool().submit(self.compile, grammar)

    def clear(self) -> None:
        """Forget every compiled grammar; those in use live on."""
        self._inner.clear()

    @property
    def stats(self) -> CompilerStats:
        """How the cache fares."""
        return CompilerStats(**self._inner.stats())


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=2, thread_name_prefix="syntagma-compile")
