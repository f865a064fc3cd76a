"""transformers loads the response template of every format, and reads with it what the format writes."""

from __future__ import annotations

import pytest

from tests.engines.template_laws import NAMES, check_page, check_written

pytest.importorskip("transformers")
COLUMNS = ["transformers"]


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("name", NAMES)
def test_it_reads_what_a_format_writes(column: str, name: str) -> None:
    check_written(column, name)


@pytest.mark.parametrize("column", COLUMNS)
def test_it_reads_as_many_cases_as_the_page_says(column: str) -> None:
    check_page(column)
