"""Formats drawn at random: however an answer is cut, and wherever it ends, what they read is the same."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.formats.format_laws import problems
from tests.formats.json_prefix import is_beginning_of_object

_BATCHES = 8
_FORMATS = 20
"""formats of a batch; `make fuzz FUZZ_FORMATS=20000` is the long run"""


@pytest.mark.some(3)
@pytest.mark.parametrize("batch", range(_BATCHES))
def test_every_format_reads_alike_however_its_text_is_cut(batch: int) -> None:
    counts: Counter[str] = Counter()
    found = []
    for seed in range(batch * _FORMATS, (batch + 1) * _FORMATS):
        found += [f"{seed}: {problem}" for problem in problems(seed, counts, cuts=20)]
    assert found == []
    assert counts["refused"] * 4 < counts["accepted"]
    assert counts["unwritable"] < counts["written"]


@pytest.mark.parametrize(
    ("text", "is_beginning"),
    [
        ("", True),
        ("{", True),
        ('{"a": tr', True),
        ('{"a": -1.5e', True),
        ('{"a": "\\u00', True),
        ('{"a": [1, {}], "b": null} ', True),
        ("[", False),
        ("{a", False),
        ('{"a": 01', False),
        ('{"a": tru,', False),
        ('{"a": "\n', False),
        ('{"a": 1,}', False),
        ('{"a": 1}<', False),
    ],
)
def test_beginnings_of_objects(text: str, is_beginning: bool) -> None:
    assert is_beginning_of_object(text) is is_beginning
