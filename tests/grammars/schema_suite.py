"""The JSON Schema Test Suite, which many validators share. It is not part of this repository.

`files()` fetches it (the source archive of the library `jsonschema` holds it) and keeps it in `.cache/`. What comes of
every group of its tests is compared with `conformance/json_schema/suite.toml`; run this module to write that file anew:

    python -m tests.grammars.schema_suite
"""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import syntagma as sg
from tests.grammars.walks import accepts, byte_compiler

ROOT = Path(__file__).resolve().parents[2]
BASELINE = ROOT / "conformance" / "json_schema" / "suite.toml"
_SOURCE = "jsonschema==4.26.0"
_CACHE = ROOT / ".cache" / "json-schema-suite-4.26.0"
_SECONDS = 120

DRAFTS: dict[str, Any] = {
    "draft4": "draft-04",
    "draft6": "draft-06",
    "draft7": "draft-07",
    "draft2019-09": "2019-09",
    "draft2020-12": "2020-12",
}


class Group(NamedTuple):
    """A schema with instances.

    Attributes:
        file: path below the folder of the draft.
        index: of the group in its file.
    """

    draft: str
    file: str
    index: int
    schema: Any
    tests: list[dict[str, Any]]


def files() -> Path | None:
    """The folder of the suite; None where it cannot be fetched."""
    if _CACHE.is_dir():
        return _CACHE
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
        try:
            subprocess.run([*command, "--dest", folder, _SOURCE], check=True, capture_output=True, timeout=_SECONDS)
        except (subprocess.SubprocessError, OSError):
            return None
        [archive] = Path(folder).glob("*.tar.gz")
        unpacked = Path(folder) / "unpacked"
        with tarfile.open(archive) as source:
            # Python before 3.11.4 has no filters.
            source.extractall(unpacked, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
        [tests] = unpacked.glob("*/json/tests")
        _CACHE.parent.mkdir(exist_ok=True)
        # Two runs at once may both come here; what they bring is the same.
        if not _CACHE.is_dir():
            tests.rename(_CACHE)
    return _CACHE


def groups(suite: Path) -> Iterator[Group]:
    """All groups of the drafts that the library reads."""
    for draft in DRAFTS:
        for path in sorted((suite / draft).rglob("*.json")):
            for index, group in enumerate(json.loads(path.read_text(encoding="utf-8"))):
                name = path.relative_to(suite / draft).as_posix()
                yield Group(draft, name, index, group["schema"], group["tests"])


_ANNOTATIONS = ("optional/content.json",)
_COMPILER = byte_compiler()


def outcome(group: Group) -> str:
    """`exact`: every instance is judged right; else what is wrong.

    `outside`: a reference leaves the schema. `widened`: reported so, and nothing valid is rejected. `limit`: it takes
    too much. `rejected`: a valid instance is. `annotation`: an invalid instance is accepted, of a keyword that need
    not be enforced. `accepted`: an invalid instance is, by a grammar that is said to be exact; that must not be.
    """
    try:
        grammar = sg.Grammar.from_json_schema(group.schema, order="any", draft=DRAFTS[group.draft])
        compiled = _COMPILER.compile(grammar)
    except sg.UnsupportedSchema as error:
        if error.code == "E-SCHEMA-UNSATISFIABLE":
            return "rejected" if any(test["valid"] for test in group.tests) else "exact"
        return "outside" if error.code == "E-SCHEMA-REF" else f"refused {error.code}"
    except sg.LimitError:
        return "limit"
    verdicts = [
        (test["valid"], accepts(compiled, json.dumps(test["data"], ensure_ascii=False))) for test in group.tests
    ]
    if (False, True) in verdicts and grammar.report.status == "exact":
        return "annotation" if group.file in _ANNOTATIONS else "accepted"
    if (True, False) in verdicts:
        return "rejected"
    return grammar.report.status


def baseline() -> dict[str, dict[str, dict[str, Any]]]:
    """Draft → file → `groups`, their number, and `not_exact`, the outcome of each that is not exact, by its index."""
    return tomllib.loads(BASELINE.read_text(encoding="utf-8"))


def main() -> int:
    """Write the baseline."""
    suite = files()
    if suite is None:
        print("the suite cannot be fetched", file=sys.stderr)
        return 1
    found: dict[tuple[str, str], list[str]] = {}
    for group in groups(suite):
        found.setdefault((group.draft, group.file), []).append(outcome(group))
    lines = ["# What comes of each group of the JSON Schema Test Suite; written by tests/grammars/schema_suite.py.\n"]
    for (draft, file), outcomes in found.items():
        wrong = {str(at): outcome for at, outcome in enumerate(outcomes) if outcome != "exact"}
        listed = ", ".join(f'{at} = "{outcome}"' for at, outcome in wrong.items())
        lines.append(f'[{draft}."{file}"]\ngroups = {len(outcomes)}\n')
        if wrong:
            lines.append(f"not_exact = {{ {listed} }}\n")
    BASELINE.parent.mkdir(exist_ok=True)
    BASELINE.write_text("".join(lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
