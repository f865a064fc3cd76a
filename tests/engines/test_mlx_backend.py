"""The backend `mlx` on the shipped model."""

from __future__ import annotations

from pathlib import Path

import pytest

import syntagma as sg
from syntagma import backends
from tests.docs.blocks import run_blocks
from tests.engines.backend_laws import DOCS, BackendLaws, Pair
from tests.engines.model_files import write_folder


@pytest.fixture(scope="module")
def pair(folder: Path) -> Pair:
    pytest.importorskip("mlx_lm")
    return backends.load(f"mlx:{folder}")


class TestMlx(BackendLaws):
    engine = "load-mlx"
    # The weights are float16, and mlx-lm computes in what is stored.
    tolerance = 0.2


def test_what_mlx_refuses_is_said(tmp_path: Path) -> None:
    pytest.importorskip("mlx_lm")
    folder = write_folder(tmp_path / "mine")
    (folder / "model.safetensors").unlink()
    with pytest.raises(sg.ModelError) as caught:
        backends.load(f"mlx:{folder}")
    assert (caught.value.code, caught.value.source) == ("E-MODEL-LIBRARY", str(folder))


def test_the_page_runs(folder: Path) -> None:
    pytest.importorskip("mlx_lm")
    run_blocks(DOCS / "mlx.md", folder=folder)
