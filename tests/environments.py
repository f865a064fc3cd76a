"""Runs tests that need environments of their own, and says in a line for each what came of it.

A suite is a folder of tests. An environment of it is a file `requirements/NAME.txt` for uv, with `NAME.bare` beside it
for what is installed without what it asks for, since only parts of it are used; or `requirements/NAME.json`, a
`package.json` for npm. Its tests are `test_NAME.py`, `test_NAME_*.py` and what is in the folder `NAME`. It is made
anew when what it needs has changed. What does not install, or not in its time, is skipped, with the reason.

uv keeps each library once, however many environments have it: gigabytes, where several need torch. The package itself
is that of the environment which runs this, in place.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib.metadata
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

__all__ = ["HOME", "RECORD", "Outcome", "Suite", "cases_of", "main", "noted_in", "read_report"]

ROOT = Path(__file__).resolve().parents[1]
RECORD = "SYNTAGMA_RECORD"
"""the variable that tells tests to note which cases were held"""
HOME = "SYNTAGMA_ENVIRONMENT"
"""the variable that tells tests where their environment is"""
INSTALL_SECONDS, TEST_SECONDS = 600, 1800
"""the longest that one environment may take to be made, and its tests to run"""
_UV = (sys.executable, "-m", "uv", "--quiet")
_STAMP = ".installed"
_SHOWN = 200
"""characters of an installer's message that are passed on"""


@dataclass(frozen=True)
class Outcome:
    """What came of the tests in one environment.

    Attributes:
        name: the environment.
        verdict: `passed`, `failed` or `skipped`.
        detail: counts, or the reason.
        installing: seconds of wall-clock time that it took to be made.
        testing: seconds of wall-clock time that its tests took.
    """

    name: str
    verdict: str
    detail: str
    installing: float = 0
    testing: float = 0

    def __str__(self) -> str:
        times = f"made in {self.installing:.0f} s, tested in {self.testing:.0f} s"
        return f"{self.name:<16} {self.verdict:<8} {self.detail} ({times})"


@dataclass(frozen=True)
class Suite:
    """A folder of tests, each file of which belongs to one environment.

    Attributes:
        folder: where the tests and `requirements/` are; its name is in those of the environments.
        needs: what the tests need in every environment of Python, for uv.
        packaged: whether those environments have this package, too.
        at_once: how many environments are made at the same time.
        options: further ones for pytest.
        around: what holds while the tests run, such as a server; it tells them by variables of the environment.
        every: the file whose tests are those of each environment; they run in the one that runs this.
    """

    folder: Path
    needs: tuple[str, ...]
    packaged: bool = True
    at_once: int = 1
    options: tuple[str, ...] = ()
    around: Callable[[], contextlib.AbstractContextManager[dict[str, str]]] = lambda: contextlib.nullcontext({})
    every: str | None = None

    def names(self) -> list[str]:
        """The names of all environments."""
        return sorted(path.stem for path in self._requirements.iterdir() if path.suffix in (".txt", ".json"))

    def usual(self) -> list[str]:
        """The names of those that are run without being named, in their order.

        The first line of the requirements may begin with `# Only when named`; with `# First`, for what takes longest
        and runs beside the others; or with `# Last`, for what would leave others no time.
        """
        said = {name: self._asks(name).read_text() for name in self.names()}
        usual = [name for name in said if not said[name].startswith("# Only when named")]
        return sorted(usual, key=lambda name: (not said[name].startswith("# First"), said[name].startswith("# Last")))

    def home_of(self, name: str) -> Path:
        """Where an environment is."""
        return ROOT / f".venv-{self.folder.name}-{name}"

    def tests_of(self, name: str) -> list[Path]:
        """The test files of an environment."""
        if self.every is not None:
            return [self.folder / self.every]
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

    def install(self, name: str, seconds: float = INSTALL_SECONDS) -> str | None:
        """Make an environment unless it is there and still right; what the installer says if it cannot be made.

        Args:
            name: which.
            seconds: how long it may take.
        """
        home, bare = self.home_of(name), self._requirements / f"{name}.bare"
        read = [self._asks(name), bare, *([ROOT / "pyproject.toml"] if self.packaged else [])]
        asked = b"".join(path.read_bytes() for path in read if path.exists()) + repr(self.needs).encode()
        wanted = hashlib.sha256(asked).hexdigest()
        stamp = home / _STAMP
        if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
            return None
        shutil.rmtree(home, ignore_errors=True)
        steps = self._node_steps(name, home) if self._is_node(name) else self._python_steps(name, home, bare)
        end = time.monotonic() + seconds
        for command, folder in steps:
            refusal = _refusal(command, folder, end - time.monotonic())
            if refusal is not None:
                return refusal
        if self.packaged and not self._is_node(name):
            _share_package(home)
        stamp.write_text(wanted, encoding="utf-8")
        return None

    def run(
        self, name: str, variables: dict[str, str], seconds: float = INSTALL_SECONDS, output: IO[str] | None = None
    ) -> Outcome:
        """Make an environment and run its tests there; programs and Node are driven by tests in this one.

        Args:
            name: which.
            variables: what the tests find in their environment.
            seconds: how long installing may take.
            output: where what the tests print goes; None: it is printed.
        """
        began = time.monotonic()
        refusal = self.install(name, seconds)
        installing = time.monotonic() - began
        if refusal is not None:
            return Outcome(name, "skipped", f"does not install here: {refusal}", installing)
        began = time.monotonic()
        verdict, detail = self._test(name, variables, output)
        return Outcome(name, verdict, detail, installing, time.monotonic() - began)

    def _test(self, name: str, variables: dict[str, str], output: IO[str] | None) -> tuple[str, str]:
        """Run the tests of an environment: the verdict, and counts or the reason."""
        home, report = self.home_of(name), self.report_of(name)
        report.unlink(missing_ok=True)
        python = sys.executable if self.every is not None or self._is_node(name) else _python(home)
        command = [python, "-m", "pytest", "-q", f"--junitxml={report}", *self.options, *map(str, self.tests_of(name))]
        told = {**os.environ, **variables, HOME: str(home)}
        try:
            done = subprocess.run(
                command, cwd=ROOT, check=False, timeout=TEST_SECONDS, env=told, stdout=output, stderr=output
            )
        except subprocess.TimeoutExpired:
            return "failed", f"its tests took more than {TEST_SECONDS} s"
        if not report.exists():
            return "failed", f"pytest ended with status {done.returncode}"
        counts, reasons = read_report(report)
        detail = ", ".join(f"{counts[word]} {word}" for word in ("passed", "failed", "skipped") if counts[word])
        detail += "".join(f"; {number} skipped: {reason}" for reason, number in sorted(reasons.items()))
        if done.returncode:
            return "failed", detail or f"pytest ended with status {done.returncode}"
        return "passed" if counts["passed"] else "skipped", detail

    @property
    def _requirements(self) -> Path:
        return self.folder / "requirements"

    def _asks(self, name: str) -> Path:
        return self._requirements / f"{name}.{'json' if self._is_node(name) else 'txt'}"

    def _is_node(self, name: str) -> bool:
        return (self._requirements / f"{name}.json").exists()

    def _python_steps(self, name: str, home: Path, bare: Path) -> Iterator[Step]:
        """The commands that make an environment of Python."""
        install = [*_UV, "pip", "install", "--python", _python(home)]
        package = ["-r", str(ROOT / "pyproject.toml"), "--extra", "standard"] if self.packaged else []
        yield [*_UV, "venv", "--python", sys.executable, str(home)], ROOT
        yield [*install, "-r", str(self._asks(name)), *self.needs, *package], ROOT
        if bare.exists():
            yield [*install, "--no-deps", "-r", str(bare)], ROOT

    def _node_steps(self, name: str, home: Path) -> Iterator[Step]:
        """The commands that make an environment of Node."""
        home.mkdir()
        shutil.copy(self._asks(name), home / "package.json")
        yield ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"], home


Step = tuple[list[str], Path]
"""a command, and the folder where it runs"""


def _refusal(command: list[str], folder: Path, seconds: float) -> str | None:
    """Run an installer; what it says if it fails."""
    try:
        done = subprocess.run(command, cwd=folder, check=False, timeout=max(0, seconds), capture_output=True)
    except subprocess.TimeoutExpired:
        return "its time was over"
    except FileNotFoundError:
        return f"{command[0]} is not installed"
    if done.returncode == 0:
        return None
    said = " ".join((done.stderr or done.stdout).decode(errors="replace").split())
    return said[:_SHOWN] or f"the installer ended with status {done.returncode}"


def _share_package(home: Path) -> None:
    """Put this package into an environment as it is installed here: in place, with its entry points."""
    asked = [_python(home), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    libraries = Path(subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip())
    for file in importlib.metadata.distribution("syntagma").files or ():
        if ".." not in file.parts:  # which is the command
            target = libraries / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(str(file.locate()), target)


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


def noted_in(path: Path) -> list[tuple[str, str, dict[str, str]]]:
    """The names of the tests of a JUnit report, what came of each, and the properties that it noted."""
    return [
        (case.get("name", ""), result, {one.get("name", ""): one.get("value", "") for one in case.iter("property")})
        for result, case in _results(path)
    ]


def _results(path: Path) -> list[tuple[str, ET.Element]]:
    found = []
    for case in ET.parse(path).iter("testcase"):
        failed = case.find("failure") is not None or case.find("error") is not None
        found.append(("failed" if failed else "passed" if case.find("skipped") is None else "skipped", case))
    return found


def _python(home: Path) -> str:
    return str(home / ("Scripts" if os.name == "nt" else "bin") / "python")


def note_down(
    suite: Suite, tried: Path, outcomes: Sequence[Outcome], held_in: Callable[[Path], Mapping[str, Any]]
) -> None:
    """Note in a file the version of each that ran, and what its report says.

    Args:
        suite: the suite.
        tried: the JSON file; what it says of others stays.
        outcomes: what came of each.
        held_in: what a JUnit report says.
    """
    known = json.loads(tried.read_text(encoding="utf-8")) if tried.exists() else {}
    for one in outcomes:
        if one.verdict != "skipped":
            known[one.name] = {"version": suite.version_of(one.name), **held_in(suite.report_of(one.name))}
    tried.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")


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
    parser.add_argument("--minutes", type=float, default=math.inf, help="what is not made by then is skipped by name")
    parser.add_argument("--jobs", type=int, default=1, help="how many environments are tested at the same time")
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
    end = time.monotonic() + 60 * arguments.minutes

    def left() -> float:
        rest: float = end - time.monotonic()
        return max(0.0, min(INSTALL_SECONDS, rest))

    with ThreadPoolExecutor(suite.at_once) as pool:
        first = arguments.install or suite.at_once > 1
        refusals = pool.map(lambda name: suite.install(name, left()), names) if first else ()
        refused = [f"{name}: {reason}" for name, reason in zip(names, refusals, strict=False) if reason is not None]
    if arguments.install:
        print(*refused, sep="\n")
        return int(bool(refused))
    # Tests that note something write one file.
    outcomes = _run_all(suite, names, left, 1 if arguments.record else arguments.jobs)
    if arguments.record and record is not None:
        record(outcomes)
    print(f"\n{suite.folder.name}:")
    for one in outcomes:
        print(f"  {one}")
    return int(any(one.verdict == "failed" for one in outcomes))


def _run_all(suite: Suite, names: Sequence[str], left: Callable[[], float], jobs: int) -> list[Outcome]:
    """Run the tests of some environments; what they print is shown together where several run at the same time."""

    def run(name: str, variables: dict[str, str]) -> tuple[Outcome, str]:
        if jobs == 1:
            print(f"== {name}", flush=True)
            return suite.run(name, variables, left()), ""
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
            outcome = suite.run(name, variables, left(), output)
            output.seek(0)
            return outcome, f"== {name}\n{output.read()}"

    outcomes = {}
    with suite.around() as variables, ThreadPoolExecutor(jobs) as pool:
        for done in as_completed(pool.submit(run, name, variables) for name in names):
            outcome, printed = done.result()
            outcomes[outcome.name] = outcome
            print(f"{printed}{outcome}", flush=True)
    return [outcomes[name] for name in names]
