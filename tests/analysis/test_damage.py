"""Certificates catch damages that lose a case, and derived formats follow perturbed templates; few of each, seeded."""

from __future__ import annotations

import pytest

from . import damage, perturbation


@pytest.mark.parametrize("count", [4, pytest.param(30, marks=pytest.mark.long)])
def test_damages_that_lose_a_case_are_caught(count: int) -> None:
    losing = [one for one in damage.outcomes(seed=20, count=count) if one.loses]
    assert len(losing) == count
    assert [one for one in losing if not one.caught] == []


@pytest.mark.parametrize("count", [10, pytest.param(25, marks=pytest.mark.long)])
def test_formats_follow_perturbed_templates(count: int) -> None:
    made = list(perturbation.outcomes(seed=20, count=count))
    assert len({one.kind for one in made}) >= 4
    assert len([one for one in made if one.right and one.clean]) >= count - 1
    assert [one for one in made if one.clean and not one.right] == []
