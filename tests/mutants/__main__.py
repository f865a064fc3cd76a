"""Draw faults, and see which tests notice them: the short ones, and on those that survive, the long ones.

    python -m tests.mutants [--count 50] [--rust 10] [--seed 0] [--skip 0] [--jobs 2] [--timeout 1800]

Each fault is made in a copy of the tree, and the tests of its package run until the first failure. It prints a line for
each fault, and a table at the end. What the long tests alone notice is listed: the law that a short one lacks.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from typing import NamedTuple

from tests.changes import ROOT
from tests.grammars.schema_suite import CACHE
from tests.mutants.draw import Fault, draw

TESTS = {
    "parsing": ("parsing", "formats", "constraints"),
    "constraints": ("constraints", "formats"),
    "formats": ("formats", "constraints"),
    "analysis": ("analysis",),
    "codec": ("codec", "serving"),
    "serving": ("serving",),
    "grammars": ("grammars", "values"),
}
"""package → the folders of the tests that hold its laws, its own first"""
VERDICTS = ("short", "long", "none")


class Outcome(NamedTuple):
    """What noticed a fault: `short` or `long` tests, or `none`; and the first test that did."""

    fault: Fault
    verdict: str
    by: str
    seconds: float


def _copy(target: Path) -> Path:
    """The tree, with the extension and what the tests fetch."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    extensions = (path.relative_to(ROOT) for path in (ROOT / "python" / "syntagma").glob("_engine*.so"))
    for name in (*listed.splitlines(), *map(str, extensions)):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    shutil.copytree(CACHE, target / CACHE.relative_to(ROOT))
    return target


def _first_failure(command: list[str], copy: Path, seconds: float) -> str | None:
    """Run tests; the first that fails."""
    told = {**os.environ, "CI": "1", "PYTHONPATH": str(copy / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, cwd=copy, env=told, check=False, timeout=seconds, capture_output=True, text=True)
    except subprocess.TimeoutExpired:
        return "it took too long"
    if done.returncode in (0, 5):  # 5: there is no test
        return None
    said = done.stdout + done.stderr
    found = re.search(r"^(?:FAILED|ERROR) (\S+)|^---- (\S+) stdout|^(error.*)", said, re.MULTILINE)
    return next(filter(None, found.groups())) if found else said[-200:]


def judged(fault: Fault, copy: Path, seconds: float) -> Outcome:
    """Make a fault in a copy, and run the tests on it."""
    path = copy / fault.path
    whole = path.read_text(encoding="utf-8")
    began = time.monotonic()
    path.write_text(fault.applied(whole), encoding="utf-8")
    try:
        for verdict in VERDICTS[:2]:
            by = _first_failure(_command(fault, verdict), copy, seconds)
            if by is not None:
                return Outcome(fault, verdict, by, time.monotonic() - began)
    finally:
        path.write_text(whole, encoding="utf-8")
    return Outcome(fault, "none", "", time.monotonic() - began)


def _command(fault: Fault, verdict: str) -> list[str]:
    if fault.path.startswith("crates"):
        if verdict == "long":
            return ["true"]  # tests of Rust have one tier
        return ["cargo", "test", "--quiet", "--package", f"syntagma-{fault.package}", "--lib", "--tests"]
    folders = [f"tests/{folder}" for folder in TESTS[fault.package]]
    marks = "long" if verdict == "long" else "not torch and not long"
    return [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", marks, *folders]


@contextmanager
def _copies(jobs: int) -> Iterator[Queue[Path]]:
    with tempfile.TemporaryDirectory() as folder:
        ready: Queue[Path] = Queue()
        for number in range(jobs):
            ready.put(_copy(Path(folder) / str(number)))
        yield ready


def main() -> int:
    """Print what came of each fault, and the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--rust", type=int, default=10, help="how many of them are in the crates")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--skip", type=int, default=0, help="how many of them an earlier run has tried")
    parser.add_argument("--timeout", type=float, default=1800, help="seconds after which a fault counts as noticed")
    options = parser.parse_args()
    outcomes = []
    with _copies(options.jobs) as copies, ThreadPoolExecutor(options.jobs) as pool:

        def run(fault: Fault) -> Outcome:
            copy = copies.get()
            try:
                outcome = judged(fault, copy, options.timeout)
            finally:
                copies.put(copy)
            print(f"{outcome.verdict:<5} {outcome.seconds:4.0f} s  {fault}  {outcome.by}", flush=True)
            return outcome

        outcomes = list(pool.map(run, draw(options.seed, options.count, options.rust)[options.skip :]))
    counts = Counter((one.fault.package, one.verdict) for one in outcomes)
    print("\n| package | faults | short | long only | none |\n|:--|--:|--:|--:|--:|")
    for package in dict.fromkeys(one.fault.package for one in outcomes):
        cells = [counts[package, verdict] for verdict in VERDICTS]
        print(f"| {package} | {sum(cells)} | {' | '.join(map(str, cells))} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
