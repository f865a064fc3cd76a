"""Tests in environments of their own: each file belongs to one, and what is said of a run is what its report says."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.engines import run as engines
from tests.environments import Suite, cases_of, read_report

REPORT = """<testsuites><testsuite>
<testcase name="a"/><testcase name="b"/>
<testcase name="c"><skipped type="pytest.skip" message="no such library"/></testcase>
<testcase name="d"><failure message="wrong"/></testcase>
<testcase name="e"><error message="broken"/></testcase>
</testsuite></testsuites>"""


@pytest.mark.parametrize("suite", [engines.SUITE], ids=lambda suite: suite.folder.name)
def test_every_file_belongs_to_one_environment(suite: Suite) -> None:
    owners = Counter(path for name in suite.names() for path in suite.tests_of(name))
    files = sorted(suite.folder.rglob("test_*.py"))
    assert files
    assert {path.name: owners[path] for path in files} == {path.name: 1 for path in files}
    assert all(suite.tests_of(name) for name in suite.names()), "an environment without tests"


def test_the_summary_counts_what_the_report_says(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(REPORT)
    counts, reasons = read_report(report)
    assert counts == {"passed": 2, "skipped": 1, "failed": 2}
    assert reasons == {"no such library": 1}
    assert cases_of(report) == [("a", "passed"), ("b", "passed"), ("c", "skipped"), ("d", "failed"), ("e", "failed")]
