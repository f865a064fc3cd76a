"""The page of transformers, and what the tutorial for a model of one's own says of it, run as they stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.blocks import run_blocks

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_runs(plain_folder: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    run_blocks(DOCS / "engines" / "transformers.md", folder=plain_folder)


def test_the_tutorial_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    monkeypatch.chdir(tmp_path)
    names = run_blocks(DOCS / "tutorials" / "own-model.md", here={"transformers"})
    assert "Constraint" in names, "the page has no block for transformers"
