"""What holds for every test."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

# The environments of `make test-torch` and `make test-engines` have no hypothesis, and need none.
with contextlib.suppress(ImportError):
    from hypothesis import settings

    # In CI the same examples every time: a change must not fail for what another one brought in.
    settings.register_profile("ci", derandomize=True)
    if os.environ.get("CI"):
        settings.load_profile("ci")

# The shipped model's matrices are small: threads of the linear algebra cost more than they give, most of all on a
# machine that does something else as well. Must be set before NumPy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--part", type=int, help="of the long tests only those of this part: see tests/tiers.py")
    parser.addoption("--seconds", type=float, help="skip what has not begun after this time")


_BEGAN = time.monotonic()


def pytest_runtest_setup(item: pytest.Item) -> None:
    seconds = item.config.getoption("--seconds")
    if seconds is not None and time.monotonic() - _BEGAN > seconds:
        pytest.skip(f"{seconds:g} s are over")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # Environments of clients have no library to look at formats with, and no law about them.
    if any(item.get_closest_marker(rule) for item in items for rule in ("every_format", "some")):
        from tests.tiers import mark_long

        mark_long(items)
    if config.getoption("--seconds") is not None:
        from tests.tiers import number_of

        # What there is time for is a fair sample: no file comes last.
        items.sort(key=number_of)
    part = config.getoption("--part")
    if part is not None:
        from tests.tiers import in_part

        left_out = {item for item in items if item.get_closest_marker("long") is not None and not in_part(item, part)}
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]


OPTIONAL = (
    "kbnf",
    "llguidance",
    "openai-harmony",
    "openai_harmony",
    "openssl",
    "pandas",
    "playwright",
    "torch",
    "xgrammar",
    "xllamacpp",
)
"""libraries that the environment of `make test` does not have; the tests that need them run in others"""
_ELSEWHERE = ("agents", "clients", "engines", "external", "inspector", "test_external.py", "torch")
"""tests whose data or environment is not this repository's"""


def _fail_if_lacking(report: pytest.TestReport | pytest.CollectReport) -> None:
    """In CI a test that is skipped for lack of something fails: what it holds would go unnoticed."""
    top = report.nodeid.removeprefix("tests/").partition("/")[0].partition("::")[0]
    if not os.environ.get("CI") or not report.skipped or hasattr(report, "wasxfail") or top in _ELSEWHERE:
        return
    reason = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)
    if not any(name in reason for name in OPTIONAL) and "s are over" not in reason:
        report.outcome = "failed"
        report.longrepr = f"{report.nodeid} lacks what it needs, which is a failure in CI: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _fail_if_lacking(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _fail_if_lacking(report)
    return report


@pytest.fixture(scope="session", autouse=True)
def nothing_is_left_in_the_working_folder() -> Iterator[None]:
    """Tests write into folders of their own: what a call writes by a relative path would be committed one day."""
    folder = Path.cwd()
    before = set(folder.iterdir())
    yield
    left = [path.name for path in set(folder.iterdir()) - before if not path.name.startswith((".", "__"))]
    assert left == [], "tests left files in the working folder"
