from __future__ import annotations

import pytest
from benchmarks.constrained_validity import measure


@pytest.mark.parametrize("count", [30, pytest.param(200, marks=pytest.mark.long)])
def test_every_constrained_answer_is_valid(count: int) -> None:
    shares = measure(count)
    constrained = shares["with a grammar"]
    assert constrained.requests == count
    assert constrained.valid == constrained.requests
    # Otherwise the grammar would have had nothing to do, and the test would prove nothing.
    assert shares["without"].valid < constrained.valid
