"""The backend `llama_cpp` on the GGUF file of the shipped model."""

from __future__ import annotations

import gc
import shutil
from pathlib import Path

import pytest

import syntagma as sg
from syntagma import backends
from tests.docs.blocks import run_blocks
from tests.engines.backend_laws import DOCS, BackendLaws, Pair


@pytest.fixture(scope="module")
def pair(gguf_file: Path) -> Pair:
    pytest.importorskip("llama_cpp")
    return backends.load(gguf_file, threads=1)


class TestLlamaCpp(BackendLaws):
    engine = "load-llama-cpp"
    # The cache of keys and values is float16.
    tolerance = 0.05


def test_a_context_is_used_again_and_is_empty_then(gguf_file: Path) -> None:
    pytest.importorskip("llama_cpp")
    backend, _ = backends.load(gguf_file, context_length=512, threads=1)
    first = backend.open().prefill([5, 6, 7])
    for _ in range(20):
        sessions = [backend.open() for _ in range(4)]
        assert all((session.prefill([5, 6, 7]) == first).all() for session in sessions)
        # Longer than a batch of llama.cpp, and than what is left if the context was not emptied.
        sessions[0].extend([9] * 500)
    del sessions
    gc.collect()


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("llama_cpp")
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF" + bytes(60))
    with pytest.raises(sg.ModelError) as caught:
        backends.load(path)
    assert (caught.value.code, caught.value.source) == ("E-MODEL-LIBRARY", str(path))


def test_the_page_runs(gguf_file: Path) -> None:
    pytest.importorskip("llama_cpp")
    run_blocks(DOCS / "gguf.md", path=gguf_file)


def test_the_tutorial_runs(gguf_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("llama_cpp")
    monkeypatch.chdir(tmp_path)
    shutil.copyfile(gguf_file, "model.gguf")
    names = run_blocks(DOCS.parent / "tutorials" / "own-model.md", here={"llama-cpp"})
    assert str(names["source"]).endswith(".gguf"), "the page has no block for GGUF files"
