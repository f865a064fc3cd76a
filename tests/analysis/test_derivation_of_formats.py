"""A template that writes a format: what is derived from it reads that format's cases, and its grammar accepts them."""

from __future__ import annotations

import pytest

from tests.analysis.derivation import NOT_DERIVED, PAGE, outcome, page, sources
from tests.analysis.generated import STYLES


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.some(36)
@pytest.mark.parametrize("name", [source.name for source in sources()])
def test_the_cases_of_a_format_come_back(name: str, style: str) -> None:
    problems = {problem.partition(": ")[0] for problem in outcome(name, style).problems}
    known = NOT_DERIVED.get(name, {})
    assert problems == (set(known["cases"]) if known and style in known.get("styles", STYLES) else set())


@pytest.mark.long
def test_a_style_of_template_code_makes_no_difference() -> None:
    differing = {name for name, known in NOT_DERIVED.items() if "styles" in known}
    for source in (one for one in sources() if one.name not in differing):
        assert len({outcome(source.name, style).read for style in STYLES}) == 1, source.name


@pytest.mark.long
def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m tests.analysis.derivation`"
