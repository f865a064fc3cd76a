"""Runs the suites of cases that are not part of this repository.

    python tests/external/run.py SUITE... [--data DIR] [--json] [--verbose]

A suite is one or more modules in `suites/`, each with one function, `run(data: Path)`, that yields `(case, problem)`:
the name of the case, and what is wrong or None. Modules of several suites take one more text, with which the paths of
their files begin. Without data nothing is run, and that is said.
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


class Suite(NamedTuple):
    """A suite: a file that must be there for it to run, relative to the data (none: its cases are here), its modules in
    `suites/`, and with what the paths of their files begin where several suites share them."""

    needs: str
    modules: tuple[str, ...]
    files: str = ""


SUITES = {
    "renders": Suite("autoparser/renders.json", ("renders",)),
    "autoparser": Suite("autoparser/roundtrip.jsonl", ("autoparser",)),
    "conversations": Suite("auto/cases.jsonl", ("conversations",)),
    "openchatml": Suite("openchatml/vectors.jsonl", ("openchatml",)),
    "schemas": Suite("engine/schemas.jsonl", ("schemas",)),
    "agreement": Suite("openchatml/harmony_vectors.jsonl", ("agreement",)),
    "vocabularies": Suite("engine/vocabs/llama3.tkv", ("vocabularies",)),
    "jumps": Suite("engine/vocabs/llama3.tokenizer.json", ("jumps",)),
    "grammar": Suite("autoparser/roundtrip.jsonl", ("grammar",)),
    "formats": Suite("formats/tool_vectors.jsonl", ("tool_formats", "reasoning_formats"), "formats/"),
    "lark": Suite(str(HERE / "lark.toml"), ("lark",)),
    "wild": Suite("wild/parse.jsonl", ("wild_parse", "wild_serve")),
    "structural_tag": Suite("", ("structural_tag",)),
    "vllm": Suite("vllm/vllm_tool_vectors.jsonl", ("tool_formats", "reasoning_formats"), "vllm/vllm_"),
}

KNOWN = HERE / "known"
"""One file a suite, if needed: the cases that are known to fail, one a line (`*` at its end: all that begin so)."""


class Result(NamedTuple):
    """What came of one suite: the problem of every failed case by its name, and the number of all cases."""

    total: int
    failed: dict[str, str]

    def to_dict(self) -> dict[str, object]:
        """The result as it is printed with `--json`."""
        return {"passed": self.total - len(self.failed), "total": self.total, "failed": sorted(self.failed)}


def is_there(suite: str, data: Path) -> bool:
    """Whether the suite has its data."""
    return (data / SUITES[suite].needs).exists() or not SUITES[suite].needs


def unknown_failures(suite: str, result: Result) -> dict[str, str]:
    """The failures that are not known; the list of the known ones may only become shorter."""
    path = KNOWN / f"{suite}.txt"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    known = [line for line in lines if line and not line.startswith("#")]
    exact = {line for line in known if not line.endswith("*")}
    beginnings = tuple(line.removesuffix("*") for line in known if line.endswith("*"))
    return {
        case: problem
        for case, problem in result.failed.items()
        if case not in exact and not case.startswith(beginnings or ("\n",))
    }


def cases(suite: str, data: Path) -> Iterator[tuple[str, str | None]]:
    """The cases of a suite, each with its problem or None; named after their module where a suite has several."""
    _, modules, files = SUITES[suite]
    for name in modules:
        spec = importlib.util.spec_from_file_location(f"external_{name}", HERE / "suites" / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        for case, problem in module.run(data, files) if files else module.run(data):
            yield (f"{name}/{case}" if len(modules) > 1 else case), problem


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
    return 1 if any(unknown_failures(name, result) for name, result in results.items()) else 0


if __name__ == "__main__":
    sys.exit(main())
