"""How the engine's cost grows with the length of a text: nanoseconds a byte, from a thousand bytes to a million.

Each shape is a grammar and a text of any length. A matcher of a fresh compiler takes the text in pieces of 1,000 bytes;
a point is the cost of a byte up to that length, the median of several runs after one that is not counted (in it the
process gets its memory from the system), in CPU time of the thread. `2n : n` is the largest ratio of the costs of a
byte between a length and its half (a linear engine shows 1.0, a quadratic one 2.0), found on texts of at least 31,250
bytes, where a run is long enough to be measured. `states` and `sets` are what the compiled grammar holds after the
longest text: a bounded number means that the recogniser became an automaton.

The second table takes shorter texts token by token with a mask for each, beside the peers, each in its own notation:
microseconds a token at a length and at its double. The third opens 100,000 matchers one after another and reads a
document with each: resident memory in MiB along the way.

Run: `python benchmarks/growth.py [--quick]`.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from support.arguments import arguments, there
from support.cases import OWN
from support.engines import plain_json
from support.replay import replay
from support.shapes import SHAPES, Shape
from support.tables import Table, number
from support.vocabularies import SHIPPED, Vocabulary
from support.workers import Failed, Worker, started

import syntagma as sg

LENGTHS = (1_000, 4_000, 16_000, 31_250, 62_500, 125_000, 250_000, 500_000, 1_000_000)
SHOWN = (1_000, 16_000, 125_000, 1_000_000)
STEADY = 31_250
PIECE = 1_000
RUNS = 3
PEERS = ("llguidance", "xgrammar", "kbnf")
TOKENS = (2_000, 4_000)
BUDGET = 60
"""CPU seconds of one text of a peer"""


class Costs(NamedTuple):
    """Nanoseconds a byte by length; what the compiled grammar holds at the end."""

    by_length: dict[int, float]
    stats: dict[str, int]


def costs(shape: Shape, lengths: tuple[int, ...]) -> Costs | str:
    """Cost of a byte of the shape's text, or why it was not read."""
    info = sg.TokenizerInfo.from_tokens([bytes([byte]) for byte in range(256)] + [b"</s>"], eos_token_ids=[256])
    by_length: dict[int, list[float]] = {length: [] for length in lengths}
    stats: dict[str, int] = {}
    for length in lengths:
        text = shape.text(length).encode()
        for run in range(RUNS + 1):
            compiled = sg.GrammarCompiler(info).compile(sg.Grammar.from_ebnf(shape.ebnf))
            matcher = sg.GrammarMatcher(compiled)
            begun = time.thread_time_ns()
            try:
                for at in range(0, len(text), PIECE):
                    if not matcher.accept_bytes(text[at : at + PIECE]):
                        return f"refused within byte {at + PIECE:,}"
            except sg.SyntagmaError as error:
                return f"{error.code} within byte {at + PIECE:,} of {len(text):,}"
            if run:
                by_length[length].append((time.thread_time_ns() - begun) / len(text))
            stats = compiled.stats()
            if not matcher.is_accepting():
                return "the end was refused"
    return Costs({length: statistics.median(found) for length, found in by_length.items()}, stats)


def bytes_table(lengths: tuple[int, ...]) -> None:
    shown = [length for length in SHOWN if length in lengths]
    columns = ["shape", *(f"{length:,}" for length in shown), "2n : n", "states", "sets"]
    table = Table(columns, title="nanoseconds a byte")
    for name, shape in SHAPES.items():
        found = costs(shape, lengths)
        if isinstance(found, str):
            table.row(name, found)
            continue
        by_length = found.by_length
        ratios = [by_length[2 * n] / by_length[n] for n in lengths if n >= STEADY and 2 * n in by_length]
        holds = [f"{found.stats[key]:,}" if key in found.stats else "" for key in ("states", "sets")]
        table.row(name, *(number(by_length[n]) for n in shown), number(max(ratios, default=0)), *holds)


def peers_table(vocabulary: str, shapes: dict[str, Shape]) -> None:
    tokens = Vocabulary(vocabulary)
    print(f"\n### Token by token, {vocabulary}, {len(tokens.tokens):,} tokens\n")
    workers = started(("syntagma", *PEERS), vocabulary)
    columns = ["shape", "engine", *(f"{count:,} tokens" for count in TOKENS), "2n : n", "worst, µs"]
    table = Table(columns, texts=2, title="microseconds a token, mask and step")
    for name, shape in shapes.items():
        text, length = [], TOKENS[-1]
        while len(text) < TOKENS[-1]:
            length *= 2
            text = tokens.greedy(shape.text(length).encode())
        for worker in workers:
            source = shape.source(KINDS[worker.name])
            if source and (shape.kbnf or worker.name != "kbnf"):
                table.row(name, worker.name, *_tokens_cells(worker, KINDS[worker.name], source, text))
    for worker in workers:
        worker.stop()


def _tokens_cells(worker: Worker, kind: str, source: str, text: list[int]) -> list[str]:
    """Cost of a token at each length, the ratio of the last two, the worst single token."""
    costs_, worst = [], 0.0
    for count in TOKENS:
        done = worker.run(replay, kind, source, [text[:count]], passes=1, seconds=BUDGET)
        if isinstance(done, Failed):
            return [*map(number, costs_), done.message.replace("\n", " ")[:60]]
        (read,) = done.passes[0]
        if not read.whole:
            return [*map(number, costs_), f"refused token {len(read.fills):,}"]
        times = read.fills + read.takes
        costs_.append(float(times.sum()) / count)
        worst = float(times.max())
    return [*map(number, costs_), number(costs_[-1] / costs_[0]), number(worst)]


KINDS = {"syntagma": "ebnf", "llguidance": "lark", "xgrammar": "gbnf", "kbnf": "ebnf"}


def resident() -> float:
    """Resident memory of this process, MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def memory_table(requests: int) -> None:
    points = [0, *(requests // 100 * share for share in (1, 10, 50, 100))]
    table = Table(["requests", *(f"{point:,}" for point in points)], title="resident memory, MiB")
    tokens = Vocabulary(SHIPPED)
    info = sg.TokenizerInfo.from_tokens(tokens.tokens, eos_token_ids=tokens.eos, special_token_ids=tokens.special)
    row = sg.allocate_token_bitmask(1, info.vocab_size)
    for name, schema_of in _REQUESTS.items():
        compiler = sg.GrammarCompiler(info)
        found = []
        for request in range(requests + 1):
            if request in points:
                gc.collect()
                found.append(resident())
            schema, document = schema_of(request, tokens)
            matcher = sg.GrammarMatcher(compiler.compile(sg.Grammar.from_json_schema(schema)))
            for token in document:
                matcher.fill_next_token_bitmask(row)
                matcher.accept_token(token)
        table.row(name, *(f"{one:,.1f}" for one in found))


def _same(request: int, tokens: Vocabulary) -> tuple[Any, list[int]]:
    del request
    return OWN[0][0], _document(tokens)


def _hundred(request: int, tokens: Vocabulary) -> tuple[Any, list[int]]:
    schema = {"type": "object", "properties": {f"key_{request % 100}": {"type": "integer"}}}
    return schema, tokens.greedy(f'{{"key_{request % 100}": {request}}}'.encode())


def _new(request: int, tokens: Vocabulary) -> tuple[Any, list[int]]:
    schema = {
        "type": "object",
        "properties": {f"key_{request}": {"type": "string", "pattern": f"^[a-z]{{2,9}}{request}$"}},
    }
    return schema, tokens.greedy(f'{{"key_{request}": "abc{request}"}}'.encode())


_REQUESTS: dict[str, Callable[[int, Vocabulary], tuple[Any, list[int]]]] = {
    "one schema": _same,
    "a hundred schemas in turn": _hundred,
    "a new schema and pattern each": _new,
}


@cache
def _document(tokens: Vocabulary) -> list[int]:
    return tokens.greedy(plain_json(OWN[0][1][0]).encode())


def main() -> None:
    options = arguments(__doc__)
    bytes_table(LENGTHS[:6] if options.quick else LENGTHS)
    peers_table(there()[0], SHAPES if not options.quick else dict(list(SHAPES.items())[:5]))
    memory_table(5_000 if options.quick else 100_000)


if __name__ == "__main__":
    main()
