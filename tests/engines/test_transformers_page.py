"""The page of transformers runs as it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.blocks import run_blocks

PAGE = Path(__file__).resolve().parents[2] / "docs" / "engines" / "transformers.md"


def test_the_page_runs(plain_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    run_blocks(PAGE, folder=plain_folder)
    printed = capsys.readouterr().out
    assert "ToolCallDelta" in printed
    assert "'minutes': 7" in printed
