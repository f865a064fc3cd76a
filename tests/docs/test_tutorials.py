"""Tutorials run from an empty folder, as a reader runs them."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.docs.blocks import run_blocks

TUTORIALS = sorted((Path(__file__).resolve().parents[2] / "docs" / "tutorials").glob("*.md"))
PORT = "8765"
"""the port that tutorials name"""


@pytest.mark.some(2)
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda path: path.stem)
def test_tutorial_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        free = taken.getsockname()[1]
    run_blocks(page, here={"server"}, ports={PORT: free})
