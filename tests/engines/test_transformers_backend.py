"""The backend `transformers` on the shipped model."""

from __future__ import annotations

from pathlib import Path

import pytest

import syntagma as sg
from syntagma import backends
from syntagma.backends.transformers import TransformersModel
from tests.engines.backend_laws import BackendLaws, Pair
from tests.engines.model_files import write_folder
from tests.generation.batch_laws import BatchLaws


@pytest.fixture(scope="module")
def pair(folder: Path) -> Pair:
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    torch.set_num_threads(1)  # the network is too small to share
    return backends.load(f"transformers:{folder}", dtype="float32", device="cpu")


class TestTransformers(BackendLaws):
    engine = "load-transformers"
    """Weights in float32, on the CPU."""


class TestBatch(BatchLaws):
    """Several sequences in one padded cache."""

    @pytest.fixture
    def backend(self, pair: Pair) -> sg.Backend:
        return pair[0]


@pytest.mark.parametrize(("window", "together"), [(None, True), (8, False)])
def test_what_forgets_positions_is_computed_alone(window: int | None, together: bool, folder: Path) -> None:
    transformers = pytest.importorskip("transformers")
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = transformers.MistralConfig(vocab_size=1024, num_key_value_heads=2, sliding_window=window, **sizes)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    network = transformers.MistralForCausalLM(config).eval()
    model = TransformersModel(network, tokenizer, name="mine", context_length=64)
    assert sg.Generator(model).is_batching is together
    many = sg.Generator(model).start_all([[5] * 20, [7]], options=sg.GenerationOptions(max_tokens=8, ignore_eos=True))
    assert [len(list(one)) for one in many] == [8, 8]


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
