"""The backend `transformers` on the shipped model."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import syntagma as sg
from syntagma import backends
from syntagma.backends.transformers import TransformersModel
from tests.engines.backend_laws import BackendLaws, Pair
from tests.engines.model_files import write_folder
from tests.generation.batch_laws import BatchLaws


def devices() -> list[str]:
    """The CPU, the CPU with the logits kept in torch as on a GPU, and a GPU where there is one."""
    try:
        import torch
    except ImportError:
        return ["cpu"]
    return ["cpu", "kept", "cuda"] if torch.cuda.is_available() else ["cpu", "kept"]


@pytest.fixture(scope="module", params=devices())
def pair(folder: Path, request: pytest.FixtureRequest) -> Pair:
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    torch.set_num_threads(1)  # the network is too small to share
    device = request.param
    model, codec = backends.load(
        f"transformers:{folder}", dtype="float32", device="cpu" if device == "kept" else device
    )
    assert isinstance(model, TransformersModel)
    model._causal._keeps = device != "cpu"
    return model, codec


class TestTransformers(BackendLaws):
    engine = "load-transformers"
    """Weights in float32, on each of `devices`."""


class TestBatch(BatchLaws):
    """Several sequences in one padded cache."""

    @pytest.fixture
    def backend(self, pair: Pair) -> sg.Backend:
        return pair[0]

    def test_where_the_logits_lie(self, backend: TransformersModel) -> None:
        batch = backend.open_batch()
        assert batch is not None
        given = [backend.open().prefill([5]), *batch.prefill({1: [5], 2: [6, 7]}), *batch.extend({2: [7]})]
        assert {isinstance(logits, np.ndarray) for logits in given} == {not backend._causal._keeps}


def small_network(**config: Any) -> Any:
    transformers = pytest.importorskip("transformers")
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    made = transformers.MistralConfig(vocab_size=1024, num_key_value_heads=2, **sizes, **config)
    return transformers.MistralForCausalLM(made).eval()


@pytest.mark.parametrize(("window", "together"), [(None, True), (8, False)])
def test_what_forgets_positions_is_computed_alone(window: int | None, together: bool, folder: Path) -> None:
    transformers = pytest.importorskip("transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = TransformersModel(small_network(sliding_window=window), tokenizer, name="mine", context_length=64)
    assert sg.Generator(model).is_batching is together
    sampling = sg.Sampling(temperature=0, repetition_penalty=1.3)
    options = sg.GenerationOptions(sampling=sampling, max_tokens=8, ignore_eos=True, logprobs=2)
    written = []
    for keeps in (False, True):
        model._causal._keeps = keeps
        many = sg.Generator(model).start_all([[5] * 20, [7]], options=options)
        written.append([[step.token_id for step in one] for one in many])
    assert [len(one) for one in written[0]] == [8, 8]
    assert written[0] == written[1]


@pytest.mark.parametrize("window", [None, 8])
def test_whoever_asks_one_thread_computes(window: int | None, folder: Path) -> None:
    transformers = pytest.importorskip("transformers")
    network, threads = small_network(sliding_window=window), set()
    network.register_forward_pre_hook(lambda *_: threads.add(threading.get_ident()))
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    generator = sg.Generator(TransformersModel(network, tokenizer, name="mine", context_length=64))
    options = sg.GenerationOptions(max_tokens=8, ignore_eos=True)
    with ThreadPoolExecutor(4) as readers:
        written = readers.map(lambda prompt: len(list(generator.start(prompt, options=options))), [[5], [6], [7], [8]])
        assert list(written) == [8] * 4
    assert len(threads) == 1


FORKED = """
import os, signal, sys
import numpy as np
import torch
from syntagma import backends

# torch's own threads do not survive a fork.
torch.set_num_threads(1)
model, _ = backends.load(f"transformers:{sys.argv[1]}", dtype="float32", device="cpu")
before = model.open().prefill([5, 6, 7])
child = os.fork()
if not child:
    signal.alarm(60)
    os._exit(0 if np.array_equal(model.open().prefill([5, 6, 7]), before) else 1)
assert os.waitpid(child, 0)[1] == 0
assert np.array_equal(model.open().prefill([5, 6, 7]), before)
"""


def test_a_forked_child_computes(plain_folder: Path) -> None:
    pytest.importorskip("torch")
    done = subprocess.run(
        [sys.executable, "-c", FORKED, str(plain_folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("window", [None, 8])
def test_an_interrupted_wait_waits_for_the_pass(window: int | None, folder: Path) -> None:
    transformers = pytest.importorskip("transformers")
    network, ended = small_network(sliding_window=window), []

    def interrupt(*_: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        time.sleep(0.1)
        ended.append(True)

    hook = network.register_forward_pre_hook(interrupt)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = TransformersModel(network, tokenizer, name="mine", context_length=64)
    with pytest.raises(KeyboardInterrupt):
        model.open().prefill([5, 6, 7])
    assert ended
    hook.remove()
    assert model.open().prefill([5]).shape == (1024,)


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
