"""Runs the suites of cases that are not part of this repository.

    python tests/external/run.py SUITE... [--data DIR] [--json] [--verbose]

A suite is a module in `suites/` with one function, `run(data: Path)`, that yields `(case, problem)`: the name of the
case, and what is wrong or None. Without data nothing is run, and that is said.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
DEFAULT_DATA = HERE.parents[2] / "shared" / "data"

SUITES = {
    "renders": "autoparser/renders.json",
    "tool_formats": "formats/tool_vectors.jsonl",
    "reasoning_formats": "formats/reasoning_vectors.jsonl",
    "autoparser": "autoparser/roundtrip.jsonl",
}
"""Every suite with a file that must be there for it to run, relative to the data; the module has the suite's name."""


KNOWN = HERE / "known"
"""One file a suite, if needed: the cases that are known to fail, one a line, a reason behind the blank."""


class Result(NamedTuple):
    """What came of one suite: the problem of every failed case by its name, and the number of all cases."""

    total: int
    failed: dict[str, str]

    def to_dict(self) -> dict[str, object]:
        """The result as it is printed with `--json`."""
        return {"passed": self.total - len(self.failed), "total": self.total, "failed": sorted(self.failed)}


def is_there(suite: str, data: Path) -> bool:
    """Whether the suite has its data."""
    return (data / SUITES[suite]).exists()


def known_failures(suite: str) -> frozenset[str]:
    """The cases of a suite that are known to fail; the list may only become shorter."""
    path = KNOWN / f"{suite}.txt"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return frozenset(line.split(" ", 1)[0] for line in lines if line.strip() and not line.startswith("#"))


def cases(suite: str, data: Path) -> Iterator[tuple[str, str | None]]:
    """The cases of a suite, each with its problem or None."""
    spec = importlib.util.spec_from_file_location(f"external_{suite}", HERE / "suites" / f"{suite}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield from module.run(data)


def run_suite(suite: str, data: Path) -> Result:
    """Run a suite; one without data has no cases."""
    if not is_there(suite, data):
        return Result(0, {})
    total = 0
    failed: dict[str, str] = {}
    for case, problem in cases(suite, data):
        total += 1
        if problem is not None:
            failed[case] = problem
    return Result(total, failed)


def main() -> int:
    """Run the suites named on the command line; 0 if nothing failed that is not known to fail."""
    parser = argparse.ArgumentParser(description="run suites of outside cases")
    parser.add_argument("suites", nargs="+", choices=[*SUITES, "all"], metavar="SUITE", help="a suite's name, or all")
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA, help="the folder of the cases")
    parser.add_argument("--json", action="store_true", help="print {suite: {passed, total, failed}}")
    parser.add_argument("--verbose", action="store_true", help="say what is wrong with every failed case")
    options = parser.parse_args()
    names = list(SUITES) if "all" in options.suites else list(dict.fromkeys(options.suites))
    results = {name: run_suite(name, options.data) for name in names}
    if options.json:
        print(json.dumps({name: result.to_dict() for name, result in results.items()}, indent=2))
    else:
        for name, result in results.items():
            if not is_there(name, options.data):
                print(f"{name}: no data in {options.data}, nothing was run")
            else:
                print(f"{name}: {result.total - len(result.failed)} of {result.total} passed")
            for case, problem in sorted(result.failed.items()):
                print(f"  {case}: {problem}" if options.verbose else f"  {case}")
    return 1 if any(result.failed.keys() - known_failures(name) for name, result in results.items()) else 0


if __name__ == "__main__":
    sys.exit(main())
