"""The JSON Schema Test Suite, which many validators share. It is not part of this repository.

The source archive of the library `jsonschema` holds it; `make suite` brings it into `.cache/`. What comes of every
group of its tests is compared with `conformance/json_schema/suite.toml`.

    python -m tests.grammars.schema_suite           write that file anew
    python -m tests.grammars.schema_suite --fetch   bring the suite here
"""

from __future__ import annotations

import json
import shutil
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
_HASH = "0c26707e2efad8aa1bfc5b7ce170f3fccc2e4918ff85989ba9ffa9facb2be326"
CACHE = ROOT / ".cache" / "json-schema-suite-4.26.0"
"""where `make test` puts the suite"""

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


def fetch() -> None:
    """Bring the suite into `.cache/`, from the archive with this hash and no other."""
    with tempfile.TemporaryDirectory() as folder:
        asked = Path(folder) / "asked.txt"
        asked.write_text(f"{_SOURCE} --hash=sha256:{_HASH}\n", encoding="utf-8")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
        subprocess.run([*command, "--require-hashes", "--dest", folder, "-r", str(asked)], check=True)
        [archive] = Path(folder).glob("*.tar.gz")
        unpacked = Path(folder) / "unpacked"
        with tarfile.open(archive) as source:
            # Python before 3.11.4 has no filters.
            source.extractall(unpacked, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
        [tests] = unpacked.glob("*/json/tests")
        CACHE.parent.mkdir(exist_ok=True)
        shutil.rmtree(CACHE, ignore_errors=True)
        shutil.move(tests, CACHE)


def groups() -> Iterator[Group]:
    """All groups of the drafts that the library reads."""
    for draft in DRAFTS:
        for path in sorted((CACHE / draft).rglob("*.json")):
            for index, group in enumerate(json.loads(path.read_text(encoding="utf-8"))):
                name = path.relative_to(CACHE / draft).as_posix()
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
    if sys.argv[1:] == ["--fetch"]:
        fetch()
        return 0
    found: dict[tuple[str, str], list[str]] = {}
    for group in groups():
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
