"""Every requirement and settled point: a case in which it holds, and one that breaks it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.openchatml.rules import CASES, DOORS, result_of


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['number']} {case['shows']}: {case['name']}")
def test_rules(case: dict[str, Any]) -> None:
    assert result_of(case) == case["gives"]


NUMBERS = {
    "R": [
        (1, 7),
        (10, 20),
        (24, 28),
        (30, 36),
        (40, 55),
        (57, 57),
        (59, 77),
        (80, 86),
        (90, 98),
        (110, 111),
        (120, 128),
    ],
    "A": [(1, 33)],
}
"""the numbers that there are, as first and last of each run"""


def test_every_number_has_a_case_that_holds_and_one_that_breaks_it() -> None:
    numbers = {
        f"{letter}-{number:0{3 if letter == 'R' else 2}}"
        for letter, runs in NUMBERS.items()
        for first, last in runs
        for number in range(first, last + 1)
    }
    for shows in ("holds", "breaks"):
        assert {case["number"] for case in CASES if case["shows"] == shows} == numbers


def test_cases_have_names_of_their_own() -> None:
    names = [(case["number"], case["shows"], case["name"]) for case in CASES]
    assert len(set(names)) == len(names)
    assert {case["door"] for case in CASES} == set(DOORS)
