"""The files of `model_files` hold the shipped model: other engines compute its logits and write its tokens."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import syntagma as sg
from syntagma.embedded import EmbeddedModel, load
from tests.engines.conftest import llamacpp_server

TOOLS = [
    {
        "name": "set_timer",
        "description": "Set a timer",
        "parameters": {"type": "object", "properties": {"minutes": {"type": "integer"}}, "required": ["minutes"]},
    }
]
CONVERSATIONS: dict[str, dict[str, Any]] = {
    "greeting": {"messages": [{"role": "user", "content": "Hello there"}]},
    "call": {"messages": [{"role": "user", "content": "Set a timer for 7 minutes"}], "tools": TOOLS},
    "thinking": {
        "messages": [{"role": "user", "content": "Set a timer for 12 minutes"}],
        "tools": TOOLS,
        "template_kwargs": {"enable_thinking": True},
    },
    "beyond ASCII": {"messages": [{"role": "user", "content": "Note: “Zoë — 東京 🙂”,\n\t  2 cafés"}]},
}
LENGTH = 24
MARKERS = ("<tool_call>", "</tool_call>", "<think>", "</think>", "<tool_response>", "</tool_response>")


@pytest.fixture(scope="module")
def ours() -> EmbeddedModel:
    return load()


def prompt_of(model: EmbeddedModel, name: str) -> str:
    assert model.chat_template is not None
    conversation = CONVERSATIONS[name] | {"add_generation_prompt": True}
    return str(sg.ChatTemplate(model.chat_template).render(**conversation))


def greedy(model: EmbeddedModel, prompt: list[int]) -> tuple[list[int], list[NDArray[np.float32]]]:
    """The tokens at temperature 0, up to the end of the turn, and the logits before each."""
    session = model.open()
    logits = [session.prefill(prompt)]
    tokens = [int(logits[-1].argmax())]
    while tokens[-1] not in model.tokenizer_info.eos_token_ids and len(tokens) < LENGTH:
        logits.append(session.step(tokens[-1]))
        tokens.append(int(logits[-1].argmax()))
    return tokens, logits


def log_probabilities(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    shifted = logits.astype(np.float64) - logits.max()
    return np.asarray(shifted - np.log(np.exp(shifted).sum()))


def test_our_backend_loads_the_folder(folder: Path, ours: EmbeddedModel) -> None:
    theirs = load(folder)
    prompt = ours.encode(prompt_of(ours, "call"))
    assert theirs.encode(prompt_of(theirs, "call")) == prompt
    assert np.array_equal(theirs.open().prefill(prompt), ours.open().prefill(prompt))


def test_markers_are_control_tokens_in_one_of_the_two(folder: Path, ours: EmbeddedModel) -> None:
    info = load(folder).tokenizer_info
    markers = {ours.encode(marker)[0] for marker in MARKERS}
    expected = ours.tokenizer_info.special_token_ids | (markers if folder.name == "control" else set())
    assert info.special_token_ids == expected
    assert info.added_token_ids == ours.tokenizer_info.special_token_ids | markers
    assert [info.token_bytes(token) for token in range(info.vocab_size)] == [
        ours.tokenizer_info.token_bytes(token) for token in range(info.vocab_size)
    ]


def test_the_gguf_file_has_the_vocabulary_of_the_folder(gguf_file: Path, folder: Path) -> None:
    file, info = sg.TokenizerInfo.from_gguf(gguf_file), load(folder).tokenizer_info
    assert [file.token_bytes(token) for token in range(info.vocab_size)] == [
        info.token_bytes(token) for token in range(info.vocab_size)
    ]
    assert file.special_token_ids == info.special_token_ids
    assert file.added_token_ids == info.added_token_ids
    assert set(file.eos_token_ids) <= set(info.eos_token_ids)


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_transformers_agrees(folder: Path, ours: EmbeddedModel, name: str) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    network = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    conversation = dict(CONVERSATIONS[name])
    variables = conversation.pop("template_kwargs", {}) | {"tools": conversation.get("tools")}
    text = tokenizer.apply_chat_template(
        conversation["messages"], tokenize=False, add_generation_prompt=True, **variables
    )
    assert text == prompt_of(ours, name)
    prompt = ours.encode(text)
    assert tokenizer(text, add_special_tokens=False)["input_ids"] == prompt
    tokens, logits = greedy(ours, prompt)
    with torch.no_grad():
        theirs = network(torch.tensor([prompt + tokens[:-1]])).logits[0, len(prompt) - 1 :].numpy()
        written = network.generate(torch.tensor([prompt]), do_sample=False, max_new_tokens=LENGTH)
    np.testing.assert_allclose(theirs, np.stack(logits), atol=1e-3)
    assert written[0, len(prompt) :].tolist() == tokens


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_llamacpp_agrees(llamacpp: Any, ours: EmbeddedModel, name: str) -> None:
    text = prompt_of(ours, name)
    tokens, logits = greedy(ours, ours.encode(text))
    answer = llamacpp.handle_completions(
        {"prompt": text, "temperature": 0, "n_predict": LENGTH, "n_probs": 1024, "cache_prompt": False}
    )
    assert answer["usage"]["prompt_tokens"] == len(ours.encode(text))
    steps = answer["choices"][0]["logprobs"]["content"]
    # The server lists no token that ends within a character.
    listed = [number for number in range(len(tokens)) if is_text(ours.tokenizer_info.decode(tokens[: number + 1]))]
    assert [step["id"] for step in steps] == [tokens[number] for number in listed]
    for step, number in zip(steps, listed, strict=True):
        found = {one["id"]: one["logprob"] for one in step["top_logprobs"]}
        theirs = [found[token] for token in range(ours.tokenizer_info.vocab_size)]
        np.testing.assert_allclose(theirs, log_probabilities(logits[number]), atol=0.05)


def is_text(data: bytes) -> bool:
    """Whether bytes are whole characters."""
    with contextlib.suppress(UnicodeDecodeError):
        data.decode()
        return True
    return False


def test_llamacpp_hides_control_tokens_unless_it_is_told_to_show_them(
    gguf_file: Path, llamacpp: Any, ours: EmbeddedModel
) -> None:
    request = {"prompt": prompt_of(ours, "call"), "temperature": 0, "n_predict": 60}
    shown = llamacpp.handle_completions(request)["choices"][0]["text"]
    assert shown.startswith("<tool_call>\n")
    hiding = llamacpp_server(gguf_file, show_control_tokens=False)
    hidden = hiding.handle_completions(request)["choices"][0]["text"]
    control = gguf_file.stem == "control"
    assert hidden.startswith("\n" if control else "<tool_call>\n")
    assert ("</tool_call>" in hidden) != control
