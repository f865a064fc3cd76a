"""The backend `transformers` on the shipped model."""

from __future__ import annotations

from pathlib import Path

import pytest

import syntagma as sg
from syntagma import backends
from tests.engines.backend_laws import BackendLaws, Pair
from tests.engines.model_files import write_folder


@pytest.fixture(scope="module")
def pair(folder: Path) -> Pair:
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    torch.set_num_threads(1)  # the network is too small to share
    return backends.load(f"transformers:{folder}", dtype="float32", device="cpu")


class TestTransformers(BackendLaws):
    engine = "load-transformers"
    """Weights in float32, on the CPU."""


def test_a_folder_goes_to_transformers(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    folder = write_folder(tmp_path / "mine")
    backend, _ = backends.load(folder, context_length=64)
    assert (type(backend).__name__, backend.model_name, backend.context_length) == ("TransformersModel", "mine", 64)


def test_what_transformers_refuses_is_said(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    folder = write_folder(tmp_path / "mine")
    with pytest.raises(sg.ModelError) as caught:
        backends.load(folder, device="nowhere")
    assert caught.value.code == "E-MODEL-LIBRARY"
    (folder / "model.safetensors").unlink()
    with pytest.raises(sg.ModelError) as caught:
        backends.load(folder)
    assert (caught.value.code, caught.value.source) == ("E-MODEL-LIBRARY", str(folder))
