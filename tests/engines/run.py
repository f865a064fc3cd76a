"""Runs the tests of each engine in an environment of its own, and says in a line for each what came of it.

    python -m tests.engines.run              every engine but those whose requirements say: only when named
    python -m tests.engines.run NAME …       some of them
    python -m tests.engines.run --list       their names
    python -m tests.engines.run --record     also note in docs/engines/tried.json which cases were held
    python -m tests.engines.run --install …  only make the environments

An engine is a file `tests/engines/requirements/NAME.txt`, and `NAME.bare` beside it where a library is installed
without what it asks for, since only parts of it are used; its tests are `tests/engines/test_NAME.py`,
`tests/engines/test_NAME_*.py` and what is in `tests/engines/NAME/`. Its environment is `.venv-engines-NAME`, made anew
when what it needs has changed. An engine that does not install is skipped, with pip's reason; where tests
fail, the exit status is 1.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
REQUIREMENTS = HERE / "requirements"
# What the tests themselves need, whatever the engine.
NEEDED = ("hypothesis>=6.100", "pytest>=8")
PIP_SECONDS, TEST_SECONDS = 1800, 1800
_STAMP = ".installed"
RECORD = "SYNTAGMA_RECORD_ENGINES"
"""the environment variable that tells tests to note which cases were held"""


@dataclass(frozen=True)
class Outcome:
    """What came of one engine.

    Attributes:
        name: the engine.
        verdict: `passed`, `failed` or `skipped`.
        detail: counts, or the reason.
        seconds: wall-clock time of installing and testing.
    """

    name: str
    verdict: str
    detail: str
    seconds: float

    def __str__(self) -> str:
        return f"{self.name:<14} {self.verdict:<8} {self.detail} ({self.seconds:.0f} s)"


def engines() -> list[str]:
    """The names of all engines."""
    return sorted(path.stem for path in REQUIREMENTS.glob("*.txt"))


def usual_engines() -> list[str]:
    """The names of the engines that are run without being named."""
    return [
        name for name in engines() if not (REQUIREMENTS / f"{name}.txt").read_text().startswith("# Only when named")
    ]


def home_of(name: str) -> Path:
    """The environment of an engine."""
    return ROOT / f".venv-engines-{name}"


def tests_of(name: str) -> list[Path]:
    """The test files of an engine."""
    alone = HERE / f"test_{name}.py"
    return sorted(
        [*([alone] if alone.exists() else []), *HERE.glob(f"test_{name}_*.py"), *HERE.glob(f"{name}/test_*.py")]
    )


def run(name: str) -> Outcome:
    """Make the environment of an engine and run its tests there."""
    began = time.monotonic()

    def outcome(verdict: str, detail: str) -> Outcome:
        return Outcome(name, verdict, detail, time.monotonic() - began)

    home = home_of(name)
    refusal = install(name, home)
    if refusal is not None:
        return outcome("skipped", f"does not install here: {refusal}")
    report = home / "report.xml"
    report.unlink(missing_ok=True)
    command = [_python(home), "-m", "pytest", "-q", f"--junitxml={report}", *map(str, tests_of(name))]
    try:
        done = subprocess.run(command, cwd=ROOT, check=False, timeout=TEST_SECONDS)
    except subprocess.TimeoutExpired:
        return outcome("failed", f"its tests took more than {TEST_SECONDS} s")
    if not report.exists():
        return outcome("failed", f"pytest ended with status {done.returncode}")
    counts, reasons = read_report(report)
    detail = ", ".join(f"{counts[word]} {word}" for word in ("passed", "failed", "skipped") if counts[word])
    detail += "".join(f"; {number} skipped: {reason}" for reason, number in sorted(reasons.items()))
    if done.returncode:
        return outcome("failed", detail or f"pytest ended with status {done.returncode}")
    return outcome("passed" if counts["passed"] else "skipped", detail)


def install(name: str, home: Path) -> str | None:
    """Make the environment unless it is there and still right; pip's last line if it cannot be made."""
    requirements, bare = REQUIREMENTS / f"{name}.txt", REQUIREMENTS / f"{name}.bare"
    read = [path.read_bytes() for path in (requirements, bare, ROOT / "pyproject.toml") if path.exists()]
    wanted = hashlib.sha256(b"".join(read)).hexdigest()
    stamp = home / _STAMP
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return None
    shutil.rmtree(home, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", home], check=True)
    pip = [_python(home), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    without = [["--no-deps", "-r", str(bare)]] if bare.exists() else []
    for arguments in (["-r", str(requirements), *NEEDED], *without, ["--editable", ".[all]"]):
        try:
            done = subprocess.run([*pip, *arguments], cwd=ROOT, check=False, timeout=PIP_SECONDS, capture_output=True)
        except subprocess.TimeoutExpired:
            return f"pip took more than {PIP_SECONDS} s"
        if done.returncode:
            lines = done.stderr.decode(errors="replace").strip().splitlines()
            return lines[-1] if lines else f"pip ended with status {done.returncode}"
    stamp.write_text(wanted, encoding="utf-8")
    return None


def read_report(path: Path) -> tuple[Counter[str], Counter[str]]:
    """Tests by result, and skipped ones by reason, of a JUnit report."""
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for case in ET.parse(path).iter("testcase"):
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            counts["failed"] += 1
        elif skipped is not None:
            counts["skipped"] += 1
            reasons[skipped.get("message", "")] += 1
        else:
            counts["passed"] += 1
    return counts, reasons


def _python(home: Path) -> str:
    return str(home / ("Scripts" if os.name == "nt" else "bin") / "python")


def main() -> int:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="an engine; without names all but those that are large"
    )
    parser.add_argument("--list", action="store_true", help="only print their names")
    parser.add_argument("--install", action="store_true", help="only make the environments")
    parser.add_argument("--record", action="store_true", help="note which cases of the table were held")
    arguments = parser.parse_args()
    if arguments.record:
        os.environ[RECORD] = "1"
    unknown = set(arguments.names) - set(engines())
    if unknown:
        parser.error(f"no such engine: {', '.join(sorted(unknown))}; there are {', '.join(engines())}")
    names = arguments.names or usual_engines()
    if arguments.list:
        print("\n".join(names))
        return 0
    if arguments.install:
        refused = {name: reason for name in names if (reason := install(name, home_of(name)))}
        print(*(f"{name}: {reason}" for name, reason in refused.items()), sep="\n")
        return int(bool(refused))
    outcomes = []
    for name in names:
        print(f"== {name}", flush=True)
        outcomes.append(run(name))
        print(outcomes[-1], flush=True)
    print("\nengines:")
    for one in outcomes:
        print(f"  {one}")
    return int(any(one.verdict == "failed" for one in outcomes))


if __name__ == "__main__":
    sys.exit(main())
