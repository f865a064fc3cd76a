"""Grammars that are no schemas, and regular expressions: compiling, and masks along a text, engine by engine.

Each engine reads the language in the notation that suits it best (EBNF, GBNF or Lark; regular expressions as they are),
and all of them the same tokens. `compile` is milliseconds of CPU time; masks are microseconds with everything new and
a second time. `÷ ours` divides the total of the first pass over the text. Engines that cannot say a language are left
out; kbnf ends at the first possible end, so every text ends in what nothing may follow.

Run: `python benchmarks/plain_grammars.py [--quick]`.
"""

from __future__ import annotations

import numpy as np
from support.arguments import arguments, there
from support.languages import LANGUAGES, REGEXES, Language
from support.replay import replay
from support.tables import Table, number, percentiles
from support.vocabularies import Vocabulary
from support.workers import Failed, Worker, started

KINDS = {
    "syntagma": ("regex", "ebnf"),
    "llguidance": ("regex", "lark"),
    "xgrammar": ("regex", "gbnf"),
    "kbnf": ("ebnf",),
    "outlines-core": ("regex",),
}
SECONDS = 20
SHARES = (50, 90, 99, 100)


def row(table: Table, name: str, worker: Worker, language: Language, *, tokens: list[int], ours: float) -> float:
    """One engine on one language; returns the total of its first pass."""
    kind = next((kind for kind in KINDS[worker.name] if language.source(kind)), None)
    if kind is None:
        return 0.0
    done = worker.run(replay, kind, language.source(kind), [tokens], passes=2, seconds=SECONDS)
    if isinstance(done, Failed):
        table.row(name, worker.name, done.message.replace("\n", " ").replace("|", "/")[:60])
        return 0.0
    first, again = (reads[0] for reads in done.passes)
    if not first.whole:
        table.row(name, worker.name, f"refused token {len(first.fills):,}")
        return 0.0
    total = float(np.sum(first.fills))
    cells = [cell for read in (first, again) for cell in percentiles(read.fills, SHARES)]
    table.row(name, worker.name, number(done.compile / 1e3), *cells, number(total / (ours or total)))
    return total


def main() -> None:
    options = arguments(__doc__)
    vocabulary = there()[0]
    tokens = Vocabulary(vocabulary)
    workers = started(tuple(KINDS), vocabulary)
    print()
    columns = ["language", "engine", "compile", *(f"{name} {share}" for name in ("first", "again") for share in NAMES)]
    table = Table([*columns, "÷ ours"], texts=2)
    for name, language in {**LANGUAGES, **REGEXES}.items():
        text = tokens.greedy(language.text(1_500 if options.quick else 6_000).encode())
        ours = 0.0
        for worker in workers:
            total = row(table, name, worker, language, tokens=text, ours=ours)
            ours = ours or total
    for worker in workers:
        worker.stop()


NAMES = ["max" if share == 100 else f"p{share}" for share in SHARES]

if __name__ == "__main__":
    main()
