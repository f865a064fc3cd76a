"""Templates of invented families: what is derived from each reads its cases, in every chunking, and the grammar too."""

from __future__ import annotations

import pytest

from .invented import NAMES, problems, record

RIGHT = [name for name in NAMES if "beyond" not in record(name)]
BEYOND = [name for name in NAMES if "beyond" in record(name)]


@pytest.mark.parametrize("name", RIGHT)
def test_its_cases_come_back(name: str) -> None:
    assert list(problems(name)) == []


@pytest.mark.parametrize("name", BEYOND)
def test_what_no_format_can_say_is_never_clean(name: str) -> None:
    found = list(problems(name))
    assert found
    assert found[0].startswith("not clean: ")
    assert record(name)["beyond"]


def test_nearly_all_are_right() -> None:
    assert len(NAMES) == 105
    assert len(RIGHT) >= 0.95 * len(NAMES)
