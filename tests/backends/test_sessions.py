"""What every session of a backend checks, on a small network of the test's own."""

from __future__ import annotations

import numpy as np
import pytest

import syntagma as sg
from syntagma.backends.session import CachedSession
from syntagma.decoding import Logits, Session

WIDTH, CONTEXT = 7, 10


class Summing(CachedSession):
    """The logits favour the sum of all tokens so far."""

    def __init__(self) -> None:
        super().__init__(WIDTH, CONTEXT)
        self.passes: list[list[int]] = []

    def _read(self, token_ids: list[int]) -> Logits:
        self.passes.append(token_ids)
        logits = np.zeros(WIDTH, np.float32)
        logits[sum(sum(one) for one in self.passes) % WIDTH] = 1
        return logits


class OneByOne(Session):
    """A session that knows single steps only."""

    def __init__(self) -> None:
        self.read: list[int] = []

    def prefill(self, token_ids: object) -> Logits:
        raise NotImplementedError

    def step(self, token_id: int) -> Logits:
        self.read.append(token_id)
        return np.full(WIDTH, token_id, np.float32)


def test_tokens_go_in_together() -> None:
    session = Summing()
    assert session.prefill((1, 2)).argmax() == 3
    assert session.step(2).argmax() == 5
    assert session.extend([1, 6, 0]).argmax() == 12 % WIDTH
    assert session.passes == [[1, 2], [2], [1, 6, 0]]


def test_where_a_session_knows_steps_only_they_are_steps() -> None:
    session = OneByOne()
    assert session.extend([3, 1, 4])[0] == 4
    assert session.read == [3, 1, 4]


def test_what_does_not_fit_is_refused_and_changes_nothing() -> None:
    session = Summing()
    session.prefill([1] * 8)
    for tokens, code in (
        ([1] * 3, "E-MODEL-CONTEXT"),
        ([], "E-MODEL-TOKEN"),
        ([WIDTH], "E-MODEL-TOKEN"),
        ([2, -1], "E-MODEL-TOKEN"),
    ):
        with pytest.raises(sg.ModelError) as caught:
            session.extend(tokens)
        assert caught.value.code == code
    assert session.extend([1, 1]).argmax() == 10 % WIDTH
    with pytest.raises(sg.ModelError) as caught:
        session.step(1)
    assert caught.value.code == "E-MODEL-CONTEXT"
