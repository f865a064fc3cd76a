from __future__ import annotations

import hashlib
import json
from importlib.resources import files

import numpy as np
import pytest

from syntagma.embedded import SHIPPED_NAME, EmbeddedModel, load
from syntagma.errors import ModelError

DATA = files("syntagma.embedded") / "data"


@pytest.fixture(scope="module")
def model() -> EmbeddedModel:
    return load()


def test_files_are_those_that_were_exported() -> None:
    sums = dict(reversed(line.split("  ")) for line in (DATA / "SHA256SUMS").read_text().splitlines())
    assert {
        "model.safetensors",
        "config.json",
        "tokenizer.json",
        "chat_template.jinja",
        "generation_config.json",
    } <= set(sums)
    for name, expected in sums.items():
        assert hashlib.sha256((DATA / name).read_bytes()).hexdigest() == expected, name


def test_describes_itself(model: EmbeddedModel) -> None:
    assert model.model_name == SHIPPED_NAME
    assert model.context_length == 1024
    assert model.tokenizer_info.vocab_size == model.network.config.vocab_size == 1024
    assert model.chat_template == (DATA / "chat_template.jinja").read_text()


def test_turns_end_with_the_end_tokens(model: EmbeddedModel) -> None:
    ends = [model.encode(text) for text in ("<|im_end|>", "<|endoftext|>")]
    assert [[token] for token in model.tokenizer_info.eos_token_ids] == ends


def test_marks_are_one_token_each_and_only_turn_marks_are_special(model: EmbeddedModel) -> None:
    special = {"<|endoftext|>", "<|im_start|>", "<|im_end|>"}
    added = {"<tool_call>", "</tool_call>", "<think>", "</think>", "<tool_response>", "</tool_response>"}
    ids = {text: model.encode(text) for text in special | added}
    assert all(len(found) == 1 for found in ids.values())
    assert model.tokenizer_info.special_token_ids == {ids[text][0] for text in special}
    assert model.tokenizer_info.added_token_ids == {found[0] for found in ids.values()}


def test_a_word_has_the_same_tokens_wherever_it_stands(model: EmbeddedModel) -> None:
    # What the tokenizer's training promises: to copy a value is to copy its tokens.
    for word in ("Emma", "shelf", "Broshcloscle", "note"):
        inside = model.encode(word)
        for around in ("say {} now", '{{"a": "{}"}}', "set_{}(x:string)", "\n{}.", "[{}],"):
            before, after = around.format("\0").split("\0")
            assert model.encode(around.format(word)) == model.encode(before) + inside + model.encode(after)


def test_session_steps_equal_prefill(model: EmbeddedModel) -> None:
    ids = model.encode("<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n")
    at_once = model.open().prefill(ids)
    session = model.open()
    logits = session.prefill(ids[:3])
    for token in ids[3:]:
        logits = session.step(token)
    assert session.length == len(ids)
    assert logits.shape == (1024,)
    np.testing.assert_allclose(logits, at_once, rtol=1e-3, atol=1e-3)


def test_logits_may_be_written_to(model: EmbeddedModel) -> None:
    session = model.open()
    session.prefill([5])[:] = -np.inf
    assert np.isfinite(session.step(6)).all()
    assert np.isfinite(model.open().prefill([5])).all()


def test_greets_without_tools(model: EmbeddedModel) -> None:
    session = model.open()
    logits = session.prefill(
        model.encode("<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n")
    )
    written: list[int] = []
    while len(written) < 40:
        token = int(logits.argmax())
        if token in model.tokenizer_info.eos_token_ids:
            break
        written.append(token)
        logits = session.step(token)
    assert model.tokenizer.decode(written) == "Hello! How can I help you?"


def test_prompt_longer_than_the_context(model: EmbeddedModel) -> None:
    with pytest.raises(ModelError) as caught:
        model.open().prefill([5] * 1025)
    assert caught.value.code == "E-MODEL-CONTEXT"


def test_another_folder_of_the_same_layout(model: EmbeddedModel, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("models") / "copied-model"
    folder.mkdir()
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        (folder / name).write_bytes((DATA / name).read_bytes())
    copied = load(folder)
    assert copied.model_name == "copied-model"
    assert copied.chat_template is None
    np.testing.assert_array_equal(copied.open().prefill([7, 8]), model.open().prefill([7, 8]))


def test_configuration_holds_no_path() -> None:
    for name in ("config.json", "generation_config.json", "tokenizer_config.json"):
        assert "/" not in json.dumps(json.loads((DATA / name).read_text())).replace("</", "")
