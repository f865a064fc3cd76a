"""What needs torch: the shipped forward pass against PyTorch, the exports, and that training learns."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "python" / "syntagma" / "embedded" / "data"

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def training_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.syspath_prepend(str(ROOT / "training"))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The folder of a run that has just begun: random weights."""
    from tokenizers import Tokenizer

    import train

    Tokenizer.from_file(str(DATA / "tokenizer.json")).save(str(tmp_path / "tokenizer.json"))
    shape = train.Shape(hidden_size=128, intermediate_size=192, num_hidden_layers=2, num_attention_heads=2)
    train.Run(tmp_path, shape, 3, lr=0.01).save()
    return tmp_path


def test_numpy_equals_torch(run: Path) -> None:
    import export
    import torch
    from model import Llama
    from syntagma.embedded.model import Cache, Network

    export.write_folder(run, run / "model")
    state = torch.load(run / "checkpoint.pt", weights_only=False)
    network = Llama(state["shape"])
    network.load_state_dict({name: weight.half().float() for name, weight in state["average"].items()})
    ids = np.random.default_rng(1).integers(0, 1024, 200)
    with torch.no_grad():
        expected = network(torch.tensor(ids)[None])[0].numpy()
    ours = Network(run / "model")
    np.testing.assert_allclose(ours.read(ids.tolist(), Cache(ours.config)), expected, rtol=1e-3, atol=1e-4)


def test_exported_folder_loads_as_a_backend(run: Path) -> None:
    import export
    from syntagma.embedded import load

    export.write_folder(run, run / "model")
    model = load(run / "model")
    assert model.open().prefill(model.encode("Hello")).shape == (model.tokenizer_info.vocab_size,)
    assert model.chat_template == (DATA / "chat_template.jinja").read_text()


def test_gguf_holds_vocabulary_template_and_weights(run: Path) -> None:
    import export
    import gguf
    import torch
    from gguf_file import write_gguf

    path = run / "model.gguf"
    export.write_folder(run, run / "model")
    write_gguf(run / "model", path)
    reader = gguf.GGUFReader(path)
    fields = {name: field.contents() for name, field in reader.fields.items()}
    assert fields["general.architecture"] == "llama"
    assert fields["tokenizer.chat_template"] == (DATA / "chat_template.jinja").read_text()
    assert len(fields["tokenizer.ggml.tokens"]) == 1024
    tensors = {tensor.name: tensor for tensor in reader.tensors}
    state = torch.load(run / "checkpoint.pt", weights_only=False)
    query = state["average"]["layers.0.self_attn.q_proj.weight"].half().numpy()
    turned = tensors["blk.0.attn_q.weight"].data
    # Rows of a head stand in pairs (i, i + half) there, in halves here.
    half = 32
    np.testing.assert_array_equal(turned[0::2][:half], query[:half])
    np.testing.assert_array_equal(turned[1::2][:half], query[half : 2 * half])
    assert tensors["output_norm.weight"].data.dtype == np.float32


def test_gguf_vocabulary_is_that_of_the_folder(run: Path) -> None:
    import export
    from gguf_file import write_gguf
    from syntagma.decoding import TokenizerInfo

    export.write_folder(run, run / "model")
    write_gguf(run / "model", run / "model.gguf")
    folder = TokenizerInfo.from_tokenizer_json(run / "model" / "tokenizer.json")
    file = TokenizerInfo.from_gguf(run / "model.gguf")
    assert [file.token_bytes(i) for i in range(1024)] == [folder.token_bytes(i) for i in range(1024)]
    assert file.special_token_ids == folder.special_token_ids
    assert file.added_token_ids == folder.added_token_ids


def test_a_run_goes_on_where_it_stopped(run: Path) -> None:
    import torch
    import train

    again = train.Run(run, torch.load(run / "checkpoint.pt", weights_only=False)["shape"], 4, lr=0.01)
    assert again.load()
    ids = torch.arange(10, 40)[None]
    again.step((ids, torch.ones_like(ids, dtype=torch.bool)), 1.0, 0.1)
    again.save()
    other = train.Run(run, again.model.shape, 5, lr=0.01)
    assert other.load()
    assert other.steps == 1
    assert other.rng.getstate() == again.rng.getstate()
    for mine, theirs in zip(again.model.parameters(), other.model.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs)


def test_training_learns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import train

    # It ends with an error message if the loss stays above its bound.
    monkeypatch.setattr(sys, "argv", ["train.py", str(tmp_path), "--smoke"])
    train.main()
    assert (tmp_path / "checkpoint.pt").exists()
