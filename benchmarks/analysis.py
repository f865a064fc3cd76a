"""What the analysis of a chat template costs: one `sg.analyze` with its certificate, nothing remembered.

Milliseconds of CPU time of the thread, the median of five for each template. The templates are those of
`examples/templates` and, where they are at hand, those of `../shared/data/templates`. They are grouped by what the
analysis ended with, because that decides how much it does: a clean certificate ends it; with findings or failures,
every named format is tried, too; a template that shows no calls has half of the probes. `renders` counts what the
template was rendered for.

Run: `python benchmarks/analysis.py [--quick]`; `--quick` measures every fourth template, and each once.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import defaultdict
from pathlib import Path

from support.tables import Table, number

import syntagma as sg

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = (ROOT / "examples" / "templates", ROOT.parent / "shared" / "data" / "templates")
RUNS = 5
SHARE = 4
"""with `--quick`, one template in so many"""


def group_of(analysis: sg.Analysis) -> str:
    """What the analysis of a template ended with."""
    certificate = analysis.certificate
    if not analysis.capabilities.tool_calls:
        return "no calls shown"
    if analysis.chosen != "derived":
        return "a named format is better"
    return "clean certificate" if certificate is not None and certificate.clean else "certificate with findings"


def measured(template: sg.ChatTemplate, runs: int) -> tuple[sg.Analysis, float]:
    """The analysis of a template and the milliseconds it takes, in the median."""
    times = []
    for _ in range(runs):
        began = time.thread_time_ns()
        analysis = sg.analyze(template, cache={})
        times.append((time.thread_time_ns() - began) / 1e6)
    return analysis, statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    paths = [path for folder in FOLDERS for path in sorted(folder.glob("*.jinja"))]
    groups: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for path in paths[:: SHARE if quick else 1]:
        template = sg.ChatTemplate(path.read_text(encoding="utf-8"), eos_token="</s>")
        analysis, took = measured(template, 1 if quick else RUNS)
        groups[group_of(analysis)].append((took, analysis.renders))
    groups = {name: groups[name] for name in sorted(groups)}
    groups["total"] = [row for rows in groups.values() for row in rows]
    table = Table(("result", "templates", "renders, median", "median ms", "max ms", "all together ms"))
    for name, rows in groups.items():
        times = [took for took, _ in rows]
        renders = statistics.median(count for _, count in rows)
        table.row(name, len(rows), number(renders), *map(number, (statistics.median(times), max(times), sum(times))))


if __name__ == "__main__":
    main()
