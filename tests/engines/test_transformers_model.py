"""The folder of `model_files` holds the shipped model: transformers computes its logits and writes its tokens."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from syntagma.embedded import EmbeddedModel, load
from tests.engines.shipped import CONVERSATIONS, LENGTH, greedy, prompt_of

MARKERS = ("<tool_call>", "</tool_call>", "<think>", "</think>", "<tool_response>", "</tool_response>")


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
