from __future__ import annotations

from benchmarks.constrained_validity import measure


def test_every_constrained_answer_is_valid() -> None:
    shares = measure()
    constrained = shares["with a grammar"]
    assert constrained.requests == 200
    assert constrained.valid == constrained.requests
    # Otherwise the grammar would have had nothing to do, and the test would prove nothing.
    assert shares["without"].valid < constrained.valid
