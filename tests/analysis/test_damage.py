"""Certificates catch damages that lose a case, and derived formats follow perturbed templates; few of each, seeded."""

from __future__ import annotations

from . import damage, perturbation


def test_damages_that_lose_a_case_are_caught() -> None:
    losing = [one for one in damage.outcomes(seed=20, count=30) if one.loses]
    assert len(losing) == 30
    assert [one for one in losing if not one.caught] == []


def test_formats_follow_perturbed_templates() -> None:
    made = list(perturbation.outcomes(seed=20, count=25))
    assert len({one.kind for one in made}) >= 4
    assert len([one for one in made if one.right and one.clean]) >= 24
    assert [one for one in made if one.clean and not one.right] == []
