"""The model files and engines that the tests share; an engine that is not installed skips its tests by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from syntagma.embedded import EmbeddedModel, load
from tests.engines.model_files import write_folder, write_gguf


@pytest.fixture(scope="session")
def ours() -> EmbeddedModel:
    """The shipped model in our own backend."""
    return load()


@pytest.fixture(scope="session", params=["model", "control"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Hugging Face folder, once as shipped and once with markers that are control tokens."""
    out = tmp_path_factory.mktemp(request.param)
    return write_folder(out / request.param, control_markers=request.param == "control")


@pytest.fixture(scope="session")
def plain_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Hugging Face folder as shipped."""
    return write_folder(tmp_path_factory.mktemp("plain") / "model")


@pytest.fixture(scope="session")
def gguf_file(folder: Path) -> Path:
    """The same model and vocabulary as one GGUF file."""
    pytest.importorskip("gguf")
    pytest.importorskip("safetensors")
    return write_gguf(folder, folder.with_suffix(".gguf"))


@pytest.fixture(scope="session")
def llamacpp(gguf_file: Path) -> Any:
    """llama.cpp's server over that file, in this process; it writes control tokens into the text."""
    return llamacpp_server(gguf_file, show_control_tokens=True)


def llamacpp_server(path: Path, *, show_control_tokens: bool) -> Any:
    """A server of xllamacpp with one sequence and one thread."""
    xllamacpp = pytest.importorskip("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path, params.special = str(path), show_control_tokens
    params.n_ctx, params.n_parallel, params.cpuparams.n_threads = 1024, 1, 1
    # The cache holds float16 by default, which is too coarse to compare logits.
    params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
    return xllamacpp.Server(params)
