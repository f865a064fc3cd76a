"""The tests of engines: each belongs to one engine, and what is said of a run is what its report says."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.engines import run


def test_every_file_belongs_to_one_engine() -> None:
    owners = Counter(path for name in run.engines() for path in run.tests_of(name))
    files = sorted(run.HERE.rglob("test_*.py"))
    assert files
    assert {path.name: owners[path] for path in files} == {path.name: 1 for path in files}
    assert all(run.tests_of(name) for name in run.engines()), "an engine without tests"


def test_the_summary_counts_what_the_report_says(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(
        """<testsuites><testsuite>
        <testcase name="a"/><testcase name="b"/>
        <testcase name="c"><skipped type="pytest.skip" message="no such library"/></testcase>
        <testcase name="d"><failure message="wrong"/></testcase>
        <testcase name="e"><error message="broken"/></testcase>
        </testsuite></testsuites>"""
    )
    counts, reasons = run.read_report(report)
    assert counts == {"passed": 2, "skipped": 1, "failed": 2}
    assert reasons == {"no such library": 1}
