"""Compilers: caches and their bounds, one compilation at a time, the background; all of it under threads."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from syntagma.decoding import GrammarCompiler, GrammarMatcher, TokenizerInfo
from syntagma.errors import ArgumentError, GrammarError, LimitError
from syntagma.grammars import Grammar
from syntagma.limits import Limits

INFO = TokenizerInfo.from_tokens([bytes([byte]) for byte in range(256)] + [b"<end>"], eos_token_ids=[256])
THREADS = 8


def schema(number: int) -> Grammar:
    """A grammar of its own for every number, with something to compile."""
    properties = {f"key{number}_{i}": {"type": "string", "maxLength": 5 + i} for i in range(12)}
    return Grammar.from_json_schema({"type": "object", "properties": properties})


def together(work: Callable[[int], Any]) -> list[Any]:
    """What `work` returns on each of several threads that begin at once."""
    barrier = threading.Barrier(THREADS)

    def run(number: int) -> Any:
        barrier.wait(10)
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return [task.result(60) for task in [pool.submit(run, number) for number in range(THREADS)]]


def test_one_compilation_for_all_who_ask_at_once() -> None:
    compiler = GrammarCompiler(INFO)
    # Each thread brings a grammar object of its own: equal ones are one.
    compiled = together(lambda _: compiler.compile(schema(0)))
    assert all(each is not None for each in compiled)
    assert len({each.fingerprint for each in compiled}) == 1
    assert (compiler.stats.misses, compiler.stats.hits, compiler.stats.entries) == (1, THREADS - 1, 1)
    # And it is the same tables: what one matcher finds out, the others know.
    before = compiled[-1].stats()["masks"]
    GrammarMatcher(compiled[0]).fill_next_token_bitmask(bytearray_mask())
    assert compiled[-1].stats()["masks"] == before + 1


def bytearray_mask() -> memoryview:
    return memoryview(bytearray(4 * 9)).cast("i")


def test_a_failure_reaches_all_who_wait_and_is_not_kept() -> None:
    compiler = GrammarCompiler(INFO)
    empty = Grammar.from_ebnf("start ::= nothing!;")

    def code(_: int) -> str:
        with pytest.raises(GrammarError) as caught:
            compiler.compile(empty)
        return caught.value.code

    assert set(together(code)) == {"E-GRAMMAR-EMPTY"}
    assert compiler.stats.entries == 0
    assert compiler.compile(schema(1)) is not None


def test_bounds_hold_while_many_compile() -> None:
    entries = GrammarCompiler(INFO, limits=Limits(compiler_cache_entries=3))
    together(lambda number: [entries.compile(schema(number * 10 + i)) for i in range(5)])
    assert 1 <= entries.stats.entries <= 3
    probe = GrammarCompiler(INFO)
    probe.compile(schema(0))
    one = probe.stats.bytes
    by_bytes = GrammarCompiler(INFO, cache_bytes=4 * one)
    together(lambda number: [by_bytes.compile(schema(number * 10 + i)) for i in range(5)])
    assert 1 <= by_bytes.stats.entries < 8
    assert by_bytes.stats.bytes <= 5 * one
    # What was used last is what stays.
    kept = by_bytes.compile(schema(99))
    misses = by_bytes.stats.misses
    assert by_bytes.compile(schema(99)).fingerprint == kept.fingerprint
    assert by_bytes.stats.misses == misses


def test_without_a_cache_every_call_compiles() -> None:
    off = GrammarCompiler(INFO, cache=False)
    compiled = together(lambda _: off.compile(schema(0)))
    assert len({id(each) for each in compiled}) == THREADS
    assert off.stats.entries == off.stats.hits == off.stats.bytes == 0


def test_clear_while_others_compile_and_match() -> None:
    compiler = GrammarCompiler(INFO)
    text = b'{"key3_0": "abc"}'

    def work(number: int) -> bool:
        for _ in range(20):
            if number == 0:
                compiler.clear()
            matcher = GrammarMatcher(compiler.compile(schema(3)))
            if not (matcher.accept_bytes(text) and matcher.is_accepting()):
                return False
        return True

    assert all(together(work))
    compiler.clear()
    assert compiler.stats.entries == 0


def test_verify_finds_no_difference_on_many_threads() -> None:
    compiler = GrammarCompiler(INFO, verify=True)

    def work(number: int) -> int:
        matcher = GrammarMatcher(compiler.compile(schema(5)))
        mask = bytearray_mask()
        taken = 0
        for byte in b'{"key5_%d": "ab\\u00e9"' % (number % 12):
            matcher.fill_next_token_bitmask(mask)
            assert mask[byte // 32] >> (byte % 32) & 1
            taken += matcher.accept_token(byte)
        return taken

    assert min(together(work)) > 15


def test_the_background_for_threads_and_for_asyncio() -> None:
    compiler = GrammarCompiler(INFO)
    assert compiler.compile_async(schema(7)).result(60).vocab_size == INFO.vocab_size

    async def gather() -> list[Any]:
        tasks = [compiler.compile_async(schema(7 + i % 3)) for i in range(9)]
        return [await task for task in tasks]

    compiled = asyncio.run(gather())
    assert len({each.fingerprint for each in compiled}) == 3
    assert compiler.stats.misses == 3

    async def fails() -> None:
        await compiler.compile_async(Grammar.from_ebnf("start ::= nothing!;"))

    with pytest.raises(GrammarError):
        asyncio.run(fails())
    with pytest.raises(LimitError):
        GrammarCompiler(INFO, limits=Limits(compile_fuel=3)).compile_async(schema(0)).result(60)


def test_a_cancelled_compilation_is_not_begun() -> None:
    compiler = GrammarCompiler(INFO)
    # More than the pool does at once, so that some are still waiting.
    tasks = [compiler.compile_async(schema(100 + i)) for i in range(60)]
    cancelled = [task for task in reversed(tasks) if task.cancel()]
    done = [task for task in tasks if not task.cancelled()]
    assert all(task.result(60).vocab_size == INFO.vocab_size for task in done)
    assert compiler.stats.misses <= len(done)
    assert len(cancelled) + len(done) == len(tasks)


def test_matchers_of_one_grammar_on_many_threads_agree() -> None:
    compiled = GrammarCompiler(INFO).compile(schema(2))
    alone = GrammarMatcher(GrammarCompiler(INFO).compile(schema(2)))
    text = b'{"key2_1": "x", "key2_4": "yy", "key2_11": "\\n"}'
    expected = []
    for byte in text:
        mask = bytearray_mask()
        alone.fill_next_token_bitmask(mask)
        expected.append(bytes(mask))
        assert alone.accept_token(byte)

    def work(number: int) -> list[bytes]:
        matcher, seen = GrammarMatcher(compiled), []
        for at, byte in enumerate(text):
            if at % (number + 2) == 0:
                matcher = GrammarMatcher.from_state_bytes(compiled, matcher.state_bytes())
            mask = bytearray_mask()
            matcher.fill_next_token_bitmask(mask)
            seen.append(bytes(mask))
            matcher.accept_token(byte)
        return seen

    assert all(seen == expected for seen in together(work))


def test_budgets_without_parts_are_refused() -> None:
    from syntagma import Budgets

    compiled = GrammarCompiler(INFO).compile(Grammar.literal("a"))
    GrammarMatcher(compiled, budgets=Budgets())
    with pytest.raises(ArgumentError) as caught:
        GrammarMatcher(compiled, budgets=Budgets(content_tokens=5))
    assert caught.value.code == "E-BUDGET-LABEL"


RESIDENT = """
import sys
from syntagma.decoding import GrammarCompiler, TokenizerInfo
from syntagma.grammars import Grammar

def resident():
    with open("/proc/self/statm") as numbers:
        return int(numbers.read().split()[1])

compiler = GrammarCompiler(TokenizerInfo.from_tokens([bytes([byte]) for byte in range(256)], eos_token_ids=[]))
compiler.compile(Grammar.from_ebnf("start ::= 'a';"))
before = resident()
# Work space of compiling is free memory afterwards.
compiler.compile(Grammar.from_json_schema({"properties": {f"key{n}": {"minLength": n} for n in range(8_000)}}))
with_grammar = resident()
compiler.clear()
print(with_grammar - before, resident() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="counts pages as Linux tells them")
def test_clearing_gives_memory_back() -> None:
    answer = subprocess.run([sys.executable, "-c", RESIDENT], capture_output=True, text=True, check=True)
    grown, left = map(int, answer.stdout.split())
    assert grown > 2_000
    assert left < grown * 3 / 4
