"""The engine under load: what a thread waits for while others are at work, and what a compiler's cache costs.

*Known fills* are masks that were found before, filled again and again by one thread while a second one does something
with the same compiled grammar, or with another: wall time of a fill in microseconds, and the longest time for which a
third thread, which only counts, stood still. *Compilations*: a call of `compile` for a grammar that the compiler holds,
the same object each time and an equal one, and for a tiny schema that is new, by how many compiled grammars the cache
holds; microseconds, medians. *Batches*: masks of the first pass of so many rows, each at a place of its own of one
grammar, by threads; microseconds a row, wall time.

Run: `python benchmarks/contention.py [--quick]`.
"""

from __future__ import annotations

import pickle
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from support.arguments import arguments, there
from support.tables import Table, number
from support.vocabularies import Vocabulary

import syntagma as sg

LENGTH = 300_000
NAMED = 1_500
ENTRIES = (1, 31, 1_000)
ROWS = (64, 256)
THREADS = (1, 2, 16)
TINY = {
    "type": "object",
    "properties": {"a": {"type": "boolean"}},
    "required": ["a"],
    "additionalProperties": False,
}


def many(patterns: int, salt: int) -> dict[str, Any]:
    """A schema in which each of so many properties has masks of its own."""
    properties = {
        f"key_{at}": {"type": "string", "pattern": f"^[a-z]{{2,9}}x{(at * 7 + salt) % 9_973}$"}
        for at in range(patterns)
    }
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def walk(compiled: sg.CompiledGrammar, patterns: int, salt: int) -> Iterator[sg.GrammarMatcher]:
    """A matcher in front of each value of such an object."""
    matcher = sg.GrammarMatcher(compiled)
    for at in range(patterns):
        matcher.accept_bytes(f'{"," if at else "{"} "key_{at}": "'.encode())
        yield matcher
        matcher.accept_bytes(f'abcx{(at * 7 + salt) % 9_973}"'.encode())


class Bench:
    """The vocabulary, and what is measured on it."""

    def __init__(self, name: str, seconds: float) -> None:
        tokens = Vocabulary(name)
        self.info = sg.TokenizerInfo.from_tokens(
            tokens.tokens, eos_token_ids=tokens.eos, special_token_ids=tokens.special
        )
        self.seconds = seconds

    def compiler(self) -> sg.GrammarCompiler:
        return sg.GrammarCompiler(self.info)

    def beside(self, work: Callable[[threading.Event], None] | None, matcher: sg.GrammarMatcher) -> list[str]:
        """Known fills of a matcher while some work is going on."""
        row = sg.allocate_token_bitmask(1, self.info.vocab_size)
        matcher.fill_next_token_bitmask(row)
        stop = threading.Event()
        threads = [threading.Thread(target=work, args=(stop,))] if work else []
        times: list[float] = []
        pauses: list[float] = []
        threads.append(threading.Thread(target=count, args=(stop, pauses)))
        for thread in threads:
            thread.start()
        end = time.perf_counter() + self.seconds
        while (begun := time.perf_counter_ns()) < end * 1e9:
            matcher.fill_next_token_bitmask(row)
            times.append((time.perf_counter_ns() - begun) / 1e3)
            time.sleep(0)
        stop.set()
        for thread in threads:
            thread.join()
        points = [float(np.percentile(times, share)) for share in (50, 99, 99.9)]
        return [*map(number, points), number(max(times)), number(max(pauses))]

    def known_fills(self) -> None:
        table = Table(
            ["meanwhile", "p50", "p99", "p99.9", "max", "longest pause, ms"], title="known fills, microseconds"
        )
        grammar = sg.Grammar.from_ebnf("""start ::= "[" (@word(#"[a-z]+") ",")* "]";""")
        text = b"[" + b"abcdefgh," * (LENGTH // 9)
        compiled = self.compiler().compile(grammar)
        busy = sg.GrammarMatcher(compiled)
        busy.accept_bytes(text)

        def captures(stop: threading.Event) -> None:
            while not stop.is_set():
                busy.captures()

        def reading(stop: threading.Event) -> None:
            while not stop.is_set():
                sg.GrammarMatcher(compiled).accept_bytes(text)

        here = sg.GrammarMatcher(compiled)
        here.accept_bytes(b"[abc")
        table.row("nothing", *self.beside(None, here))
        table.row(f"captures of {LENGTH:,} bytes", *self.beside(captures, here))
        table.row(f"{LENGTH:,} bytes are read", *self.beside(reading, here))
        for salt in (1, 2):
            compiler = self.compiler()
            found = [compiler.compile(sg.Grammar.from_json_schema(many(NAMED, other))) for other in (1, 2)]
            first = next(walk(found[0], 1, 1))
            what = f"new masks of {'the same' if salt == 1 else 'another'} grammar"
            table.row(what, *self.beside(partial(self.finding, found[salt - 1], salt), first))

    def finding(self, compiled: sg.CompiledGrammar, salt: int, stop: threading.Event) -> None:
        """Ask for one new mask after the other."""
        row = sg.allocate_token_bitmask(1, self.info.vocab_size)
        for matcher in walk(compiled, NAMED, salt):
            matcher.fill_next_token_bitmask(row)
            if stop.is_set():
                return

    def compilations(self, rounds: int) -> None:
        table = Table(["compiled grammars held", "hit", "hit of an equal one", "new"], title="compile, microseconds")
        for entries in ENTRIES:
            compiler = sg.GrammarCompiler(self.info, limits=sg.Limits(compiler_cache_entries=10_000))
            for at in range(entries):
                compiler.compile(sg.Grammar.from_json_schema({"const": f"held {at}"}))
            grammar = sg.Grammar.from_json_schema(TINY)
            compiler.compile(grammar)
            equal = [pickle.loads(pickle.dumps(grammar)) for _ in range(rounds)]
            new = [sg.Grammar.from_json_schema({"const": f"new {at}"}) for at in range(rounds)]
            times = [timed(compiler.compile, of) for of in ([grammar] * rounds, equal, new)]
            table.row(f"{entries:,}", *map(number, times))

    def batches(self, rounds: int) -> None:
        columns = ["rows", *(f"{threads} {'threads' if threads > 1 else 'thread'}" for threads in THREADS)]
        table = Table(columns, title="first pass, microseconds a row")
        for rows in ROWS:
            found = []
            for at, threads in enumerate(THREADS):
                times = []
                for salt in range(at * rounds, (at + 1) * rounds):
                    compiled = self.compiler().compile(sg.Grammar.from_json_schema(many(rows, salt)))
                    matchers = [matcher.fork() for matcher in walk(compiled, rows, salt)]
                    bitmask = sg.allocate_token_bitmask(rows, self.info.vocab_size)
                    begun = time.perf_counter()
                    sg.fill_next_token_bitmask_batch(matchers, bitmask, threads=threads)
                    times.append((time.perf_counter() - begun) / rows * 1e6)
                found.append(number(statistics.median(times)))
            table.row(f"{rows}", *found)


def count(stop: threading.Event, pauses: list[float]) -> None:
    """Count, and note the longest pause in milliseconds."""
    last, longest = time.perf_counter(), 0.0
    while not stop.is_set():
        time.sleep(0.0005)
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
    pauses.append(longest * 1e3)


def timed(call: Callable[[Any], Any], arguments_: list[Any]) -> float:
    """The median time of a call, in microseconds."""
    times = []
    for one in arguments_:
        begun = time.perf_counter_ns()
        call(one)
        times.append(time.perf_counter_ns() - begun)
    return statistics.median(times) / 1e3


def main() -> None:
    quick = arguments(__doc__).quick
    for vocabulary in there()[:1]:
        bench = Bench(vocabulary, seconds=2 if quick else 10)
        bench.known_fills()
        bench.compilations(200 if quick else 1_000)
        bench.batches(3 if quick else 9)


if __name__ == "__main__":
    main()
