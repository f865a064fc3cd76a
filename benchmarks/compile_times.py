"""Compiling JSON Schemas: from the schema's text to a matcher that can be asked, on each vocabulary.

Times are microseconds of CPU time of the whole process. `first` compiles a schema that is new to the engine, `again`
the same schema a second time. Engines without a cache of their own, or with it switched off, pay twice. A schema that
an engine refuses, or does not compile within the bound on CPU time, counts in its column and in no percentile; `÷ ours`
divides the totals over the schemas that both compile.

The second table names the schemas that take us longest, with the same times for peers. The third is one schema of a
million bytes that the script writes: objects of objects with every kind of facet.

Run: `python benchmarks/compile_times.py [--quick] [vocabulary …]`.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from support.arguments import arguments, wanted
from support.cases import Case, cases
from support.replay import compile_twice
from support.tables import Table, names_of, number, percentiles
from support.vocabularies import Vocabulary
from support.workers import Failed, Worker, started

ENGINES = ("syntagma", "xgrammar", "xgrammar, no cache", "llguidance", "outlines-core")
SECONDS = 10
QUICK = 8
SLOW = {"outlines-core": 8}
"""engines whose compilation takes seconds see every n-th schema only"""
SHARES = (50, 75, 90, 99, 100)
HARDEST = 50
LARGE = 1_000_000
"""bytes of the schema that is written"""

Times = dict[str, tuple[float, float]]
"""By the schema's name: microseconds of the first and the second compilation."""
Bad = dict[str, str]
"""By the schema's name: `refused`, or what else came of it."""


def measure(workers: list[Worker], schemas: list[Case]) -> dict[str, tuple[Times, Bad]]:
    """For each engine its times, and what came of the schemas that it did not compile."""
    found: dict[str, tuple[Times, Bad]] = {worker.name: ({}, {}) for worker in workers}
    for at, case in enumerate(schemas):
        for worker in workers:
            if at % SLOW.get(worker.name, 1):
                continue
            done = worker.run(compile_twice, "json_schema", case.schema, seconds=SECONDS)
            times, bad = found[worker.name]
            if isinstance(done, Failed):
                bad[case.name] = done.kind
            else:
                times[case.name] = done
    return found


def hardest(found: dict[str, tuple[Times, Bad]], worker: Worker, schemas: list[Case]) -> None:
    """The table of those that take us longest, of all schemas: milliseconds of the first compilation, and bytes of the
    schema. A peer's cell is empty where it was not asked in a quick run."""
    ours = dict(found[worker.name][0])
    for case in schemas:
        if case.name not in ours:
            done = worker.run(compile_twice, "json_schema", case.schema, seconds=SECONDS)
            if not isinstance(done, Failed):
                ours[case.name] = done
    sizes = {case.name: len(case.schema) for case in schemas}
    peers = [name for name in found if name not in SLOW and name != worker.name]
    columns = ["schema", "bytes", *(f"{name}, ms" for name in (worker.name, *peers))]
    table = Table(columns, title="The hardest, by our own time")
    for name in sorted(ours, key=lambda name: -ours[name][0])[:HARDEST]:
        cells = [milliseconds(ours[name][0])]
        for times, bad in (found[peer] for peer in peers):
            cells.append(milliseconds(times[name][0]) if name in times else bad.get(name, ""))
        table.row(name, f"{sizes[name]:,}", *cells)


def large_schema(size: int) -> str:
    """A schema of about this many bytes."""
    facets: list[dict[str, Any]] = [
        {"type": "string", "minLength": 1, "maxLength": 64},
        {"type": "integer", "minimum": 0, "maximum": 1000},
        {"enum": ["north", "east", "south", "west"]},
        {"type": "array", "items": {"type": "number"}, "maxItems": 8},
        {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
        {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{4}$"},
        {"type": "string", "format": "date"},
    ]
    one = len(json.dumps(facets[0])) + 12
    properties: dict[str, Any] = {}
    while len(json.dumps(properties)) < size:
        for _ in range(max(1, size // (12 * one) // 10)):
            number_ = len(properties)
            fields = {f"field_{number_}_{i}": facets[(number_ + i) % len(facets)] for i in range(12)}
            properties[f"group_{number_}"] = {
                "type": "object",
                "properties": fields,
                "required": list(fields)[::2],
                "additionalProperties": False,
            }
    return json.dumps({"type": "object", "properties": properties, "additionalProperties": False})


def main() -> None:
    options = arguments(__doc__, vocabularies=True)
    for name in wanted(options):
        tokens = Vocabulary(name)
        print(f"\n### {name}, {len(tokens.tokens):,} tokens\n")
        workers = started(ENGINES, name)
        schemas = list(cases(tokens))
        found = measure(workers, schemas[:: QUICK if options.quick else 1])
        print()
        shares = names_of(SHARES)
        columns = ["engine", "compiled", "refused", "timeout", *shares, "÷ ours", "again p50", "again p99"]
        table = Table(columns)
        ours = found["syntagma"][0]
        for engine, (times, bad) in found.items():
            both = sorted(set(times) & set(ours))
            refused = sum(kind == "refused" for kind in bad.values())
            ratio = sum(times[at][0] for at in both) / max(1e-9, sum(ours[at][0] for at in both))
            cells = percentiles([first for first, _ in times.values()], SHARES)
            again = percentiles([second for _, second in times.values()], (50, 99))
            table.row(engine, len(times), refused, len(bad) - refused, *cells, f"{ratio:.1f}", *again)
        hardest(found, workers[0], schemas)
        print()
        text = large_schema(LARGE // 10 if options.quick else LARGE)
        table = Table([f"one schema of {len(text):,} bytes", "first, ms", "again, ms"])
        for worker in workers:
            if worker.name not in SLOW:
                done = worker.run(compile_twice, "json_schema", text, seconds=3 * SECONDS)
                table.row(worker.name, *([done.message] if isinstance(done, Failed) else map(milliseconds, done)))
            worker.stop()


def milliseconds(microseconds: float) -> str:
    return number(float(np.round(microseconds / 1e3, 3)))


if __name__ == "__main__":
    main()
