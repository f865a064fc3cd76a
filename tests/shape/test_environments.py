"""Tests in environments of their own: each file belongs to one, and what is said of a run is what its report says."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents import run as agents
from tests.agents.agents import AGENTS
from tests.clients import run as clients
from tests.engines import run as engines
from tests.environments import Suite, cases_of, main, read_report

REPORT = """<testsuites><testsuite>
<testcase name="a"/><testcase name="b"/>
<testcase name="c"><skipped type="pytest.skip" message="no such library"/></testcase>
<testcase name="d"><failure message="wrong"/></testcase>
<testcase name="e"><error message="broken"/></testcase>
</testsuite></testsuites>"""


@pytest.mark.parametrize("suite", [engines.SUITE, clients.SUITE], ids=lambda suite: suite.folder.name)
def test_every_file_belongs_to_one_environment(suite: Suite) -> None:
    owners = Counter(path for name in suite.names() for path in suite.tests_of(name))
    files = sorted(suite.folder.rglob("test_*.py"))
    assert files
    assert {path.name: owners[path] for path in files} == {path.name: 1 for path in files}
    assert all(suite.tests_of(name) for name in suite.names()), "an environment without tests"


def test_every_program_has_one_environment() -> None:
    assert {agent.id for agent in AGENTS} == {*agents.SUITE.names()}
    assert len({(agent.id, agent.endpoint) for agent in AGENTS}) == len(AGENTS)
    assert {(agent.id, endpoint) for agent in AGENTS for endpoint in agent.drops} <= {
        (a.id, a.endpoint) for a in AGENTS
    }


def test_the_summary_counts_what_the_report_says(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(REPORT)
    counts, reasons = read_report(report)
    assert counts == {"passed": 2, "skipped": 1, "failed": 2}
    assert reasons == {"no such library": 1}
    assert cases_of(report) == [("a", "passed"), ("b", "passed"), ("c", "skipped"), ("d", "failed"), ("e", "failed")]


@pytest.fixture
def suite(tmp_path: Path) -> Iterator[Suite]:
    """Two environments that cannot be made."""
    (tmp_path / "requirements").mkdir()
    for name in ("one", "two"):
        (tmp_path / "requirements" / f"{name}.txt").write_text("--no-index\nno-such-library\n")
        (tmp_path / f"test_{name}.py").write_text("def test_it(): assert False\n")
    made = Suite(tmp_path, needs=())
    yield made
    for name in made.names():
        shutil.rmtree(made.home_of(name), ignore_errors=True)


def test_first_lines_say_what_is_run_and_in_which_order(suite: Suite) -> None:
    said = {"four": "# Small", "one": "# Last: slow", "three": "# Only when named: large", "two": "# First: slower"}
    for name, first in said.items():
        (suite.folder / "requirements" / f"{name}.txt").write_text(f"{first}\nno-such-library\n")
    assert suite.names() == [*said]
    assert suite.usual() == ["two", "four", "one"]


@pytest.mark.parametrize("options", [[], ["--minutes", "0", "--jobs", "2"]], ids=["no library", "no time"])
def test_what_does_not_install_is_skipped_by_name(
    suite: Suite, options: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["run", *options])
    assert main(suite, "") == 0
    *_, first, second = capsys.readouterr().out.splitlines()
    for name, line in (("one", first), ("two", second)):
        assert line.split()[:2] == [name, "skipped"]
        assert "does not install here" in line
        assert ("its time was over" in line) == bool(options)
