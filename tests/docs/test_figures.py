"""Figures of time, size and speed in the pages come from measurements or from the code."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

from tests.docs.figures import EXCEPTIONS, unexplained_figures, unsourced_figures
from tests.docs.test_docs import PAGES, ROOT


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_figures_have_a_source(page: Path) -> None:
    found = unexplained_figures(page)
    assert not found, (
        f"{page.name} states {found}: take them from code or RESULTS.md (docs/figures.py), or leave them out"
    )


def test_exceptions_are_used() -> None:
    stated = {(page.name, figure) for page in PAGES for figure in unsourced_figures(page.read_text(encoding="utf-8"))}
    assert set(EXCEPTIONS) <= stated


@pytest.mark.parametrize(
    "text",
    [
        "5 ms",
        "0.4 µs",
        "3 s",
        "20 %",
        "10%",
        "4×",
        "64 MiB",
        "two microseconds",
        "half a second",
        "a quarter of an hour",
        "a tenth of the time",
        "ten times as fast",
        "1,000 tokens per second",
        "26\nms",
        "two million rows a second",
    ],
)
def test_a_figure_is_found(text: str) -> None:
    assert unsourced_figures(f"This takes {text}.")


@pytest.mark.parametrize(
    "text",
    [
        "`sleep 5 s`",
        "```text\n5 ms\n```\n",
        "<!--= syntagma.limits:Limits(tools) count -->5 ms<!--/-->",
        "the last ones",
        "a second answer",
        "grade 3 seats",
    ],
)
def test_code_and_derived_figures_are_none(text: str) -> None:
    assert not unsourced_figures(text)


def test_a_wrong_source_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    insert = runpy.run_path(str(ROOT / "docs" / "figures.py"))["insert_figures"]
    assert insert("<!--= syntagma.limits:Limits(tools) count -->?<!--/-->").count(">1,000<") == 1
    for source in ("syntagma.limits:Limits(toools) count", "results:captures.py:no such column count", "nowhere count"):
        with pytest.raises((KeyError, ValueError)):
            insert(f"<!--= {source} -->?<!--/-->")
    sys.modules.pop("peers_table", None)
