"""Two checkouts of this library side by side: what a change costs, or saves.

Every figure is measured in new processes, in turn: before, after, before again, as many rounds as asked for; the table
has the medians. `noise` is the second run of the same build against its first: what a difference means nothing below.
All times are CPU time. Both checkouts need their extension built (`make build`); the figures are taken by the scripts
of the checkout that this script lies in.

Run: `python benchmarks/compare.py BEFORE AFTER [--rounds 5] [figure …]`; a checkout is its folder.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from support.figures import FIGURES
from support.tables import Table, number

HERE = Path(__file__).resolve().parent


def measured(checkout: Path, figure: str) -> dict[str, float]:
    """The figures of one group, taken by a new process that imports the library from this checkout."""
    environment = {**os.environ, "PYTHONPATH": f"{checkout / 'python'}", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "support.figures", figure]
    done = subprocess.run(command, cwd=HERE, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("figures", nargs="*", metavar="figure", help=f"of {', '.join(FIGURES)}; all by default")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_intermixed_args()
    turns = {"before": options.before.resolve(), "after": options.after.resolve(), "again": options.before.resolve()}
    table = Table(["figure", "before", "after", "after : before", "noise"])
    for figure in options.figures or FIGURES:
        runs: dict[str, list[dict[str, float]]] = {name: [] for name in turns}
        for _ in range(options.rounds):
            for name, checkout in turns.items():
                runs[name].append(measured(checkout, figure))
        for name in runs["before"][0]:
            before, after, again = (statistics.median(run[name] for run in runs[turn]) for turn in turns)
            table.row(name, number(before), number(after), f"{after / before:.2f}", f"{again / before:.2f}")


if __name__ == "__main__":
    main()
