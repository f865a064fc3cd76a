"""The JSON Schema Test Suite against the baseline, which may only improve."""

from __future__ import annotations

import pytest

from tests.grammars import schema_suite


@pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.long)], ids=["every eighth", "every"])
@pytest.mark.parametrize("draft", schema_suite.DRAFTS)
def test_every_group_comes_out_as_the_baseline_says(draft: str, step: int) -> None:
    wanted = schema_suite.baseline()[draft]
    groups = [group for group in schema_suite.groups() if group.draft == draft]
    assert len(groups) == sum(entry["groups"] for entry in wanted.values())
    differing = []
    for group in groups[::step]:
        expected = wanted[group.file].get("not_exact", {}).get(str(group.index), "exact")
        found = schema_suite.outcome(group)
        if found != expected:
            differing.append(f"{group.file} {group.index}: {found}, not {expected}")
    assert differing == [], "better is written down with `python -m tests.grammars.schema_suite`"


def test_the_baseline_holds_nothing_invalid_that_is_accepted() -> None:
    outcomes = {
        outcome
        for files in schema_suite.baseline().values()
        for entry in files.values()
        for outcome in entry.get("not_exact", {}).values()
    }
    assert outcomes <= {"outside", "widened", "rejected", "annotation"}
