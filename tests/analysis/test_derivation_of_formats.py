"""A template that writes a format: what is derived from it reads that format's cases, and its grammar accepts them."""

from __future__ import annotations

import pytest

from tests.analysis.derivation import NOT_DERIVED, PAGE, outcome, page, sources
from tests.analysis.generated import STYLES


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", [source.name for source in sources()])
def test_the_cases_of_a_format_come_back(name: str, style: str) -> None:
    problems = {problem.partition(": ")[0] for problem in outcome(name, style).problems}
    assert problems == set(NOT_DERIVED.get(name, {}).get("cases", ()))


def test_a_style_of_template_code_makes_no_difference() -> None:
    for source in sources():
        assert len({outcome(source.name, style).read for style in STYLES}) == 1, source.name


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m tests.analysis.derivation`"
