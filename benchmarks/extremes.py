"""Sources that are large, deep or wide: compiling them, masks along a text of theirs, and memory, engine by engine.

`compile` and `again` are milliseconds of CPU time of the whole process, masks microseconds as in `masks.py`, and memory
is by how many MiB the process grew at its peak. An engine that refuses a source, or does not end within the bound on
CPU time, says so in its row.

Run: `python benchmarks/extremes.py [--quick]`.
"""

from __future__ import annotations

from pathlib import Path

from support.arguments import arguments, there
from support.engines import Engine
from support.extremes import EXTREMES
from support.replay import Replay, replay
from support.tables import Table, number, percentiles
from support.vocabularies import Vocabulary
from support.workers import Failed, started

ENGINES = ("syntagma", "llguidance", "xgrammar")
SECONDS = 20
QUICK = 6
SHARES = (50, 99, 100)


def measured(engine: Engine, vocabulary: Vocabulary, kind: str, source: str, text: list[int]) -> tuple[Replay, float]:
    """A source compiled and its text read twice; MiB by which the process grew at most."""
    reset = Path("/proc/self/clear_refs")
    if reset.exists():
        reset.write_text("5")  # the peak begins anew
    before = memory("VmRSS")
    done = replay(engine, vocabulary, kind, source, [text], passes=2)
    return done, memory("VmHWM") - before


def memory(name: str) -> float:
    """A line of the process's status, MiB; 0 where the system does not tell."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(name + ":")), 0.0)


def main() -> None:
    options = arguments(__doc__)
    vocabulary = there()[0]
    tokens = Vocabulary(vocabulary)
    workers = started(ENGINES, vocabulary)
    print()
    columns = [f"{name} {share}" for name in ("first", "again") for share in ("p50", "p99", "max")]
    table = Table(["source", "engine", "bytes", "tokens", "compile, ms", "again, ms", *columns, "MiB"], texts=2)
    for name, extreme in list(EXTREMES.items())[:: QUICK if options.quick else 1]:
        source = extreme.source()
        text = tokens.greedy(extreme.text().encode())
        for worker in workers:
            done = worker.run(measured, extreme.kind, source, text, seconds=SECONDS)
            cells = [name.replace("|", "\\|"), worker.name, f"{len(source):,}", f"{len(text):,}"]
            if isinstance(done, Failed):
                table.row(*cells, done.message.split("\n")[0].replace("|", "/")[:70])
                continue
            found, grown = done
            first, again = (reads[0] for reads in found.passes)
            if not first.whole:
                table.row(*cells, f"refused token {len(first.fills):,}")
                continue
            masks = [cell for read in (first, again) for cell in percentiles(read.fills, SHARES)]
            table.row(*cells, number(found.compile / 1e3), number(found.again / 1e3), *masks, f"{grown:.0f}")
    for worker in workers:
        worker.stop()


if __name__ == "__main__":
    main()
