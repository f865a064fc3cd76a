"""Grammars of schemas drawn at random: what they write is valid, and values near it are judged as a validator does."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.grammars.schema_draws import Draw, problems

_BATCHES = 6
_SCHEMAS = 15


@pytest.mark.parametrize("batch", range(_BATCHES))
def test_what_is_written_is_valid_and_what_is_not_valid_is_refused(batch: int) -> None:
    counts: Counter[str] = Counter()
    found: list[str] = []
    for seed in range(batch * _SCHEMAS, (batch + 1) * _SCHEMAS):
        schema = Draw(random.Random(seed)).schema()
        found += [f"{problem}, by {schema}" for problem in problems(schema, random.Random(seed), counts)]
    assert found == []
    assert counts["texts"] > 0
    assert counts["invalid near"] > 0
