"""Grammars in KBNF mean here what they mean in kbnf, apart from what is listed."""

from __future__ import annotations

import pytest

from tests.grammars.kbnf_draws import differences

kbnf = pytest.importorskip("kbnf")


@pytest.mark.parametrize("first", range(0, 2500, 100))
def test_drawn_grammars_mean_the_same(first: int) -> None:
    found = [difference for seed in range(first, first + 100) for difference in differences(kbnf, seed)]
    assert [difference for reason, difference in found if not reason] == []
