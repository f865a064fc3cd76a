"""The GGUF file of `model_files` holds the shipped model: llama.cpp computes its logits and writes its tokens."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import syntagma as sg
from syntagma.embedded import EmbeddedModel, load
from tests.engines.conftest import llamacpp_server
from tests.engines.shipped import CONVERSATIONS, LENGTH, greedy, log_probabilities, prompt_of


def test_the_gguf_file_has_the_vocabulary_of_the_folder(gguf_file: Path, folder: Path) -> None:
    file, info = sg.TokenizerInfo.from_gguf(gguf_file), load(folder).tokenizer_info
    assert [file.token_bytes(token) for token in range(info.vocab_size)] == [
        info.token_bytes(token) for token in range(info.vocab_size)
    ]
    assert file.special_token_ids == info.special_token_ids
    assert file.added_token_ids == info.added_token_ids
    assert set(file.eos_token_ids) <= set(info.eos_token_ids)


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
