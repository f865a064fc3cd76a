"""Runs tests that need environments of their own, and says in a line for each what came of it.

A suite is a folder of tests. An environment of it is a file `requirements/NAME.txt` for pip, with `NAME.bare` beside it
for what is installed without what it asks for, since only parts of it are used; or `requirements/NAME.json`, a
`package.json` for npm. Its tests are `test_NAME.py`, `test_NAME_*.py` and what is in the folder `NAME`. It is made
anew when what it needs has changed. What does not install is skipped, with the reason.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

__all__ = ["HOME", "RECORD", "Outcome", "Suite", "cases_of", "main", "read_report"]

ROOT = Path(__file__).resolve().parents[1]
RECORD = "SYNTAGMA_RECORD"
"""the variable that tells tests to note which cases were held"""
HOME = "SYNTAGMA_ENVIRONMENT"
"""the variable that tells tests where their environment is"""
PIP_SECONDS, TEST_SECONDS = 1800, 1800
_PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
_STAMP = ".installed"


@dataclass(frozen=True)
class Outcome:
    """What came of the tests in one environment.

    Attributes:
        name: the environment.
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


@dataclass(frozen=True)
class Suite:
    """A folder of tests, each file of which belongs to one environment.

    Attributes:
        folder: where the tests and `requirements/` are; its name is in those of the environments.
        needs: what the tests need in every environment that pip makes, for pip.
        packaged: whether those environments have this package, too.
        at_once: how many environments are made at the same time.
        around: what holds while the tests run, such as a server; it tells them by variables of the environment.
    """

    folder: Path
    needs: tuple[str, ...]
    packaged: bool = True
    at_once: int = 1
    around: Callable[[], contextlib.AbstractContextManager[dict[str, str]]] = lambda: contextlib.nullcontext({})

    def names(self) -> list[str]:
        """The names of all environments."""
        return sorted(path.stem for path in self._requirements.iterdir() if path.suffix in (".txt", ".json"))

    def usual(self) -> list[str]:
        """The names of those that are run without being named."""
        return [name for name in self.names() if not self._asks(name).read_text().startswith("# Only when named")]

    def home_of(self, name: str) -> Path:
        """Where an environment is."""
        return ROOT / f".venv-{self.folder.name}-{name}"

    def tests_of(self, name: str) -> list[Path]:
        """The test files of an environment."""
        alone = self.folder / f"test_{name}.py"
        several = [*self.folder.glob(f"test_{name}_*.py"), *self.folder.glob(f"{name}/test_*.py")]
        return sorted([*([alone] if alone.exists() else []), *several])

    def report_of(self, name: str) -> Path:
        """The report of the last run of its tests."""
        return self.home_of(name) / "report.xml"

    def version_of(self, name: str) -> str:
        """The version of what the environment is made for: what its requirements name first."""
        home = self.home_of(name)
        if self._is_node(name):
            first = next(iter(json.loads(self._asks(name).read_text())["dependencies"]))
            return str(json.loads((home / "node_modules" / first / "package.json").read_text())["version"])
        first = re.findall(r"^[\w.-]+", self._asks(name).read_text(), re.MULTILINE)[0]
        asked = [_python(home), "-c", f"import importlib.metadata as m; print(m.version({first!r}))"]
        return subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()

    def install(self, name: str) -> str | None:
        """Make an environment unless it is there and still right; the installer's last line if it cannot be made."""
        home, bare = self.home_of(name), self._requirements / f"{name}.bare"
        read = [self._asks(name), bare, *([ROOT / "pyproject.toml"] if self.packaged else [])]
        asked = b"".join(path.read_bytes() for path in read if path.exists()) + repr(self.needs).encode()
        wanted = hashlib.sha256(asked).hexdigest()
        stamp = home / _STAMP
        if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
            return None
        shutil.rmtree(home, ignore_errors=True)
        refusal = self._install_node(name, home) if self._is_node(name) else self._install_python(name, home, bare)
        if refusal is None:
            stamp.write_text(wanted, encoding="utf-8")
        return refusal

    def run(self, name: str, variables: dict[str, str]) -> Outcome:
        """Make an environment and run its tests there; Node's are driven by tests in this one."""
        began = time.monotonic()

        def outcome(verdict: str, detail: str) -> Outcome:
            return Outcome(name, verdict, detail, time.monotonic() - began)

        refusal = self.install(name)
        if refusal is not None:
            return outcome("skipped", f"does not install here: {refusal}")
        home, report = self.home_of(name), self.report_of(name)
        report.unlink(missing_ok=True)
        python = sys.executable if self._is_node(name) else _python(home)
        command = [python, "-m", "pytest", "-q", f"--junitxml={report}", *map(str, self.tests_of(name))]
        told = {**os.environ, **variables, HOME: str(home)}
        try:
            done = subprocess.run(command, cwd=ROOT, check=False, timeout=TEST_SECONDS, env=told)
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

    @property
    def _requirements(self) -> Path:
        return self.folder / "requirements"

    def _asks(self, name: str) -> Path:
        return self._requirements / f"{name}.{'json' if self._is_node(name) else 'txt'}"

    def _is_node(self, name: str) -> bool:
        return (self._requirements / f"{name}.json").exists()

    def _install_python(self, name: str, home: Path, bare: Path) -> str | None:
        # Without a pip of its own, and compiled when it is imported: a quarter of the time.
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
        pip = [*_PIP, "--python", _python(home), "install", "--no-compile"]
        steps = [["-r", str(self._asks(name)), *self.needs]]
        steps += [["--no-deps", "-r", str(bare)]] if bare.exists() else []
        steps += [["--editable", ".[all]"]] if self.packaged else []
        return next((refusal for step in steps if (refusal := _refusal([*pip, *step], ROOT)) is not None), None)

    def _install_node(self, name: str, home: Path) -> str | None:
        npm = shutil.which("npm")
        if npm is None:
            return "npm is not installed"
        home.mkdir()
        shutil.copy(self._asks(name), home / "package.json")
        return _refusal([npm, "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"], home)


def _refusal(command: list[str], folder: Path) -> str | None:
    """Run an installer; its last line if it fails."""
    try:
        done = subprocess.run(command, cwd=folder, check=False, timeout=PIP_SECONDS, capture_output=True)
    except subprocess.TimeoutExpired:
        return f"installing took more than {PIP_SECONDS} s"
    if done.returncode == 0:
        return None
    lines = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else f"the installer ended with status {done.returncode}"


def read_report(path: Path) -> tuple[Counter[str], Counter[str]]:
    """Tests by result, and skipped ones by reason, of a JUnit report."""
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for result, case in _results(path):
        counts[result] += 1
        if result == "skipped":
            skipped = case.find("skipped")
            reasons["" if skipped is None else skipped.get("message", "")] += 1
    return counts, reasons


def cases_of(path: Path) -> list[tuple[str, str]]:
    """The names of the tests of a JUnit report, and what came of each."""
    return [(case.get("name", ""), result) for result, case in _results(path)]


def _results(path: Path) -> list[tuple[str, ET.Element]]:
    found = []
    for case in ET.parse(path).iter("testcase"):
        failed = case.find("failure") is not None or case.find("error") is not None
        found.append(("failed" if failed else "passed" if case.find("skipped") is None else "skipped", case))
    return found


def _python(home: Path) -> str:
    return str(home / ("Scripts" if os.name == "nt" else "bin") / "python")


def main(suite: Suite, description: str, record: Callable[[list[Outcome]], None] | None = None) -> int:
    """Run what the command line names.

    Args:
        suite: the tests.
        description: what `--help` says.
        record: what `--record` does after the runs, beside telling the tests.

    Returns:
        The exit status: 1 where tests failed.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="some; without names all but those that are large")
    parser.add_argument("--list", action="store_true", help="only print their names")
    parser.add_argument("--install", action="store_true", help="only make the environments")
    parser.add_argument("--record", action="store_true", help="note which cases of the table were held")
    arguments = parser.parse_args()
    if arguments.record:
        os.environ[RECORD] = "1"
    unknown = set(arguments.names) - set(suite.names())
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(suite.names())}")
    names = arguments.names or suite.usual()
    if arguments.list:
        print("\n".join(names))
        return 0
    with ThreadPoolExecutor(suite.at_once) as pool:
        refusals = pool.map(suite.install, names) if arguments.install or suite.at_once > 1 else ()
        refused = [f"{name}: {reason}" for name, reason in zip(names, refusals, strict=False) if reason is not None]
    if arguments.install:
        print(*refused, sep="\n")
        return int(bool(refused))
    outcomes = _run_all(suite, names)
    if arguments.record and record is not None:
        record(outcomes)
    print(f"\n{suite.folder.name}:")
    for one in outcomes:
        print(f"  {one}")
    return int(any(one.verdict == "failed" for one in outcomes))


def _run_all(suite: Suite, names: Sequence[str]) -> list[Outcome]:
    outcomes = []
    with suite.around() as variables:
        for name in names:
            print(f"== {name}", flush=True)
            outcomes.append(suite.run(name, variables))
            print(outcomes[-1], flush=True)
    return outcomes
