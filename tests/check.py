"""What `make check` runs: the tests of the packages that the change touches, and the style and types of its files.

    python -m tests.check [--list] [--seconds N]

The change is what differs from the merge base with `main`, or from the last commit on it, and what is not committed.
Without git everything runs. The tests come in an order that mixes their files; what there is no time left for is
skipped and counted, and `make test` runs all of it.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.changes import ROOT, changed_files

__all__ = ["commands", "tests_of"]

_BIN = Path(sys.executable).parent
SECONDS = 40
"""how long the tests may run; collecting them and the types take up to ten more"""
OF_PACKAGES = {"format_schema": "formats", "request": "constraints", "testing": "values"}
"""packages whose tests are in a folder of another name; modules without a folder have theirs in `values`"""
OF_DATA = {
    "conformance/formats": "tests/formats/test_conformance.py",
    "conformance/grammars": "tests/grammars",
    "conformance/hosts": "tests/hosts",
    "conformance/json_schema": "tests/grammars",
    "conformance/openchatml": "tests/openchatml",
    "conformance/parsing": "tests/parsing",
    "conformance/shapes": "tests/formats/test_conformance.py",
    "conformance/templates": "tests/analysis",
    "crates/python": "tests/decoding",
    "docs": "tests/docs/test_docs.py",
    "examples": "tests/docs/test_docs.py",
    "python/syntagma/formats/data": "tests/formats",
}
"""folders of data → the tests that read them"""


def tests_of(changed: Iterable[str]) -> list[str]:
    """The files and folders of tests that belong to changed files; those that changed themselves come first."""
    own, others = set(), set()
    for path in changed:
        parts = path.split("/")
        data = next((tests for folder, tests in OF_DATA.items() if path.startswith(f"{folder}/")), None)
        if data is not None:
            others.add(data)
        elif (
            parts[0] == "tests"
            and len(parts) > 2
            and parts[1] not in ("agents", "clients", "engines", "external", "javascript", "mutants", "torch")
        ):
            own.add(path if parts[-1].startswith("test_") else "/".join(parts[:2]))
        elif parts[0] == "tests" and len(parts) == 2:
            others.add("tests/shape")
        elif path.startswith("python/syntagma/"):
            folder = f"tests/{OF_PACKAGES.get(parts[2], parts[2])}"
            others.add(folder if (ROOT / folder).is_dir() else "tests/values")
        elif path.endswith(".md"):
            others.add("tests/docs/test_docs.py")
    there = [one for one in (*sorted(own), *sorted(others - own)) if (ROOT / one).exists()]
    return [one for one in there if not any(one.startswith(f"{other}/") for other in there)]


def commands(changed: frozenset[str], seconds: float) -> tuple[list[list[str]], list[list[str]]]:
    """What is run, in two rows beside each other: the tests, and what reads the sources."""
    tests = tests_of(changed)
    there = sorted(path for path in changed if (ROOT / path).is_file())
    python = [path for path in there if path.endswith((".py", ".pyi"))]
    crates = sorted({path.split("/")[1] for path in changed if path.startswith("crates/")} - {"python"})
    crates += ["fuzz"] if any(path.startswith("fuzz/") for path in changed) else []
    packages = [word for crate in crates for word in ("--package", f"syntagma-{crate}")]
    run, read = [], []
    if tests:
        run.append([sys.executable, "-m", "pytest", "-q", "--numprocesses", "2", "--seconds", str(seconds), *tests])
    if packages:
        run.append(["cargo", "test", "--quiet", *packages])
    if python:
        read += [[str(_BIN / "ruff"), "format", "--check", *python], [str(_BIN / "ruff"), "check", *python]]
    if any(path.startswith("python/") for path in python):
        read += [[str(_BIN / "mypy")], [str(_BIN / "lint-imports")]]
    if any(path.startswith(("crates/", "fuzz/")) for path in changed):
        read += [
            ["cargo", "fmt", "--all", "--check"],
            ["cargo", "clippy", "--quiet", *packages, "--", "-D", "warnings"],
        ]
    return run, read


def _run_all(row: Iterable[list[str]]) -> list[str]:
    """Run commands one after the other; those that fail."""
    failed = []
    for command in row:
        began = time.monotonic()
        done = subprocess.run(
            command, cwd=ROOT, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        shown = shlex.join(command)
        print(f"{done.stdout}{'failed' if done.returncode else 'passed'} in {time.monotonic() - began:.0f} s: {shown}")
        if done.returncode:
            failed.append(shown)
    return failed


def main() -> int:
    """Run what the change touches; 1 where something fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="only print what would run")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long tests of Python may run")
    options = parser.parse_args()
    changed = changed_files()
    if changed is None:
        print("git tells of no change: everything runs")
        return subprocess.run(["make", "test", "lint"], cwd=ROOT, check=False).returncode
    rows = commands(changed, options.seconds)
    without = [path for path in sorted(changed) if not tests_of([path]) and not path.startswith(("crates/", "fuzz/"))]
    if without:
        print(f"no tests belong to {', '.join(without)}: make test runs what they may concern")
    if options.list:
        print(*(shlex.join(command) for row in rows for command in row), sep="\n")
        return 0
    with ThreadPoolExecutor() as pool:
        failed = [command for row in pool.map(_run_all, rows) for command in row]
    print(*(f"failed: {command}" for command in failed), sep="\n")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
