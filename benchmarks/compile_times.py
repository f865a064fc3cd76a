"""Compiling JSON Schemas: from the schema's text to a matcher that can be asked, on each vocabulary.

Times are microseconds of CPU time of the whole process. `first` compiles a schema that is new to the engine, `again`
the same schema a second time. Engines without a cache of their own, or with it switched off, pay twice. A schema that
an engine refuses, or does not compile within the bound on CPU time, counts in its column and in no percentile; `÷ ours`
divides the totals over the schemas that both compile.

The second table is one schema of a million bytes that the script writes: objects of objects with every kind of facet.

Run: `python benchmarks/compile_times.py [--quick] [vocabulary …]`.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from support.arguments import arguments, wanted
from support.cases import cases
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
LARGE = 1_000_000
"""bytes of the schema that is written"""

Times = dict[int, tuple[float, float]]
"""By the schema's number: microseconds of the first and the second compilation."""


def measure(workers: list[Worker], tokens: Vocabulary, every: int) -> dict[str, tuple[Times, int, int]]:
    """For each engine its times, and how many schemas it refused and did not finish."""
    found: dict[str, Times] = {worker.name: {} for worker in workers}
    refused = dict.fromkeys(found, 0)
    late = dict.fromkeys(found, 0)
    for at, case in enumerate(cases(tokens, every)):
        for worker in workers:
            if at % SLOW.get(worker.name, 1):
                continue
            done = worker.run(compile_twice, "json_schema", case.schema, seconds=SECONDS)
            if not isinstance(done, Failed):
                found[worker.name][at] = done
            elif done.kind == "refused":
                refused[worker.name] += 1
            else:
                late[worker.name] += 1
    return {name: (times, refused[name], late[name]) for name, times in found.items()}


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
        found = measure(workers, tokens, QUICK if options.quick else 1)
        print()
        shares = names_of(SHARES)
        columns = ["engine", "compiled", "refused", "timeout", *shares, "÷ ours", "again p50", "again p99"]
        table = Table(columns)
        ours = found["syntagma"][0]
        for engine, (times, refused, late) in found.items():
            both = sorted(set(times) & set(ours))
            ratio = sum(times[at][0] for at in both) / max(1e-9, sum(ours[at][0] for at in both))
            cells = percentiles([first for first, _ in times.values()], SHARES)
            again = percentiles([second for _, second in times.values()], (50, 99))
            table.row(engine, len(times), refused, late, *cells, f"{ratio:.1f}", *again)
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
