"""Masks along valid documents of many JSON Schemas, the same tokens for every engine, on two large vocabularies.

A schema is new to an engine when its documents are first read; what the engine has learnt from earlier schemas stays,
as it would in a server. `first` is that first replay, `again` a second one. Times are microseconds for one mask called
from Python, the lesser of wall time and CPU time of the thread. Each engine has a process of its own and takes its turn
at every schema. All is done in rounds, each by new processes, and the least time of a mask counts: on a machine that is
shared, or has to find memory for a process that grows, the same work takes up to twice as long.

The first table is one peer at a time beside this library, over exactly the tokens of those documents that both read to
their end; `total` is the time of all of its masks in milliseconds, the last column how much more that is than ours.
The second is this library alone over everything it read, with the time to take a token, and the same replay in Rust
without Python (which also reads the documents that a schema refuses, up to the refusal).

Run: `python benchmarks/masks.py [--quick] [vocabulary …]`.
"""

from __future__ import annotations

import numpy as np
from support import rust
from support.arguments import arguments, wanted
from support.cases import Case, cases
from support.replay import Replay, common, least, replay
from support.tables import Table, names_of, number, percentiles
from support.vocabularies import Vocabulary
from support.workers import Failed, Worker, started

PEERS = ("xgrammar", "llguidance", "outlines-core")
SECONDS = 5
"""CPU time of one engine for one schema with its documents; what takes longer is left out"""
ROUNDS = 2
QUICK = 8
"""every n-th schema only and one round, with --quick"""
SLOW = {"outlines-core": 8}
"""engines whose compilation takes seconds see every n-th schema only"""
PASSES = ("first", "again")


def measure(workers: list[Worker], tokens: Vocabulary, every: int, rounds: int) -> list[dict[str, Replay]]:
    """For each schema what each engine made of it in every round; engines that refused it are left out."""
    found = []
    for _ in range(rounds):
        turns = enumerate(cases(tokens, every))
        found.append([{worker.name: done for worker in workers if (done := _turn(worker, *turn))} for turn in turns])
        for worker in workers:
            worker.stop()
    return [
        {name: least([done[name] for done in same]) for name in same[0] if all(name in done for done in same)}
        for same in zip(*found, strict=True)
    ]


def _turn(worker: Worker, at: int, case: Case) -> Replay | None:
    if not case.documents or at % SLOW.get(worker.name, 1):
        return None
    done = worker.run(replay, "json_schema", case.schema, case.documents, passes=2, seconds=SECONDS)
    return None if isinstance(done, Failed) else done


def beside(found: list[dict[str, Replay]], peers: list[str]) -> None:
    shares = names_of()
    table = Table(["pass", "engine", "schemas", "masks", *shares, "total", "÷ ours"], texts=2)
    for peer in peers:
        for turn, name in enumerate(PASSES):
            (ours, theirs), schemas = common(found, ("syntagma", peer), turn)
            if not ours.size:
                table.row(name, peer, 0)
                continue
            for engine, times in (("syntagma", ours), (peer, theirs)):
                total = f"{times.sum() / 1e3:,.0f}"
                ratio = f"{times.sum() / ours.sum():.1f}"
                table.row(name, engine, schemas, f"{times.size:,}", *percentiles(times), total, ratio)


def alone(found: list[dict[str, Replay]], vocabulary: str) -> None:
    table = Table(["syntagma alone", "n", "mean", *names_of()])

    def row(label: str, values: np.ndarray) -> None:
        table.row(label, f"{values.size:,}", number(values.mean()), *percentiles(values))

    for turn, name in enumerate(PASSES):
        reads = [read for done in found if "syntagma" in done for read in done["syntagma"].passes[turn]]
        row(f"mask, {name} replay", np.concatenate([read.fills for read in reads]))
        row(f"token, {name} replay", np.concatenate([read.takes for read in reads]))
    for label, cells in rust.schema_masks(vocabulary):
        table.row(f"Rust: {label}", *cells)


def main() -> None:
    options = arguments(__doc__, vocabularies=True)
    for name in wanted(options):
        tokens = Vocabulary(name)
        print(f"\n### {name}, {len(tokens.tokens):,} tokens\n")
        workers = started(("syntagma", *PEERS), name)
        found = measure(workers, tokens, *((QUICK, 1) if options.quick else (1, ROUNDS)))
        print()
        beside(found, [worker.name for worker in workers[1:]])
        print()
        alone(found, name)


if __name__ == "__main__":
    main()
