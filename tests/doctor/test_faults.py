"""Every fault of a server is found by the check that is meant for it; a server without faults has none."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from syntagma.doctor import CHECKS, Report, diagnose
from tests.doctor.faults import FAULTS
from tests.doctor.mock import KEY, MODEL, Fault, mock


def looked_at(*faults: Fault, only: tuple[str, ...] = ()) -> Report:
    with mock(*faults) as url:
        return diagnose(url, model=MODEL, api_key=KEY, only=only, timeout=20)


def verdicts(report: Report) -> dict[str, str]:
    return {result.id: result.verdict for result in report.results}


def test_a_right_server_has_no_fault() -> None:
    report = looked_at()
    assert [result for result in report.results if result.verdict != "held"] == []
    assert len(report.results) == len(CHECKS)


def test_every_check_has_a_fault_that_it_finds() -> None:
    assert {fault.check for fault in FAULTS} == {check.id for check in CHECKS}
    assert max(Counter(fault.name for fault in FAULTS).values()) == 1


@pytest.mark.some(32)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_is_found(fault: Fault) -> None:
    report = looked_at(fault)
    assert verdicts(report)[fault.check] == "fault"
    found = next(result for result in report.faults if result.id == fault.check)
    assert found.said
    assert found.harm
    assert found.mend
    assert found.request.startswith("curl ")
    assert KEY not in found.request
    assert found.came


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(FAULTS), min_size=2, max_size=2, unique=True))
def test_two_faults_are_found(faults: list[Fault]) -> None:
    one, other = faults
    report = verdicts(looked_at(*faults))
    for fault, beside in ((one, other), (other, one)):
        if fault.check not in beside.hides:
            assert report[fault.check] == "fault", f"{fault.name!r} beside {beside.name!r}"
