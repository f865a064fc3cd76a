"""A batch of 64 matchers: microseconds a row of filling all their masks in one call, on one thread and on two.

Each matcher follows a document of its own, under schemas that every engine here compiles and whose documents all of
them read. After each call all matchers take their next token, outside of the measurement; one at its end begins anew.
Rows are wall time of the call, since threads are what is measured; the lower quartile is the machine's own noise
taken off. The first pass over the documents has everything new; the second one is warm. `one by one` fills the same
rows with a call each.

Run: `python benchmarks/batch.py [--quick]`.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from support.arguments import arguments, there
from support.cases import Case, cases
from support.engines import Engine
from support.replay import replay
from support.tables import Table, number, percentiles
from support.vocabularies import Vocabulary
from support.workers import Failed, Worker, started

ENGINES = ("syntagma", "llguidance", "xgrammar")
ROWS = 64
STEPS = 120
THREADS = (1, 2)
SECONDS = 60
LONGEST = 400
"""tokens of a document"""
EASY = 6_000
"""bytes of a schema: what a peer compiles in seconds would only wait"""


def fills(engine: Engine, vocabulary: Vocabulary, jobs: list[Case], threads: int, steps: int) -> list[list[float]]:
    """Microseconds a row at every step: first pass, second pass; `threads` 0: one call for each row."""
    compiled = [(engine.compile("json_schema", job.schema), job.documents[0]) for job in jobs]
    rows = np.zeros((len(jobs), vocabulary.words), np.int32)
    found: list[list[float]] = []
    for _ in range(2):
        matchers = [engine.matcher(one) for one, _ in compiled]
        places = [0] * len(jobs)
        times = []
        for _ in range(steps):
            calls = [engine.calls(matcher, rows[at])[0] for at, matcher in enumerate(matchers)] if not threads else []
            begun = time.perf_counter_ns()
            if threads:
                engine.fill_batch(matchers, rows, threads)
            for call in calls:
                call()
            times.append((time.perf_counter_ns() - begun) / 1e3 / len(jobs))
            _advance(engine, compiled, matchers, places, rows)
        found.append(times)
    return found


def _advance(engine: Engine, compiled: list[Any], matchers: list[Any], places: list[int], rows: Any) -> None:
    for at, (grammar, tokens) in enumerate(compiled):
        if places[at] == len(tokens):
            matchers[at], places[at] = engine.matcher(grammar), 0
        else:
            if engine.calls(matchers[at], rows[at])[1](tokens[places[at]]) is False:
                raise ValueError("refused its document")
            places[at] += 1


def chosen(tokens: Vocabulary, workers: list[Worker], count: int) -> list[Case]:
    """Schemas, each with one document, that every engine reads."""
    found: list[Case] = []
    for case in cases(tokens):
        documents = [one for one in case.documents if 20 <= len(one) <= LONGEST][:1]
        if not documents or len(case.schema) > EASY:
            continue
        done = [worker.run(replay, "json_schema", case.schema, documents, passes=1, seconds=2) for worker in workers]
        if all(not isinstance(one, Failed) and one.passes[0][0].whole for one in done):
            found.append(Case(case.name, case.schema, documents))
        if len(found) == count:
            break
    return [found[at % len(found)] for at in range(count)]


def main() -> None:
    options = arguments(__doc__)
    vocabulary = there()[0]
    tokens = Vocabulary(vocabulary)
    workers = started(ENGINES, vocabulary)
    jobs = chosen(tokens, workers, ROWS)
    for worker in workers:  # what was learnt while choosing is forgotten
        worker.stop()
    print(f"\n{ROWS} matchers, {len({job.schema for job in jobs})} schemas, {len(tokens.tokens):,} tokens.\n")
    shares = (25, 50, 90, 99)
    columns = ["engine", "calls", *(f"{name} p{share}" for name in ("first", "again") for share in shares), "÷ ours"]
    table = Table(columns, texts=2)
    ours: dict[int, float] = {}
    for threads in (0, *THREADS):
        for worker in workers:
            worker.stop()
            steps = STEPS // 4 if options.quick else STEPS
            done = worker.run(fills, jobs, threads, steps, seconds=SECONDS)
            label = f"{threads} thread{'s' * (threads > 1)}" if threads else "one by one"
            if isinstance(done, Failed):
                table.row(worker.name, label, done.message.replace("\n", " ")[:80])
                continue
            middle = float(np.percentile(done[1], 50))
            ours.setdefault(threads, middle)
            cells = [cell for times in done for cell in percentiles(times, shares)]
            table.row(worker.name, label, *cells, number(middle / ours[threads]))
    for worker in workers:
        worker.stop()


if __name__ == "__main__":
    main()
