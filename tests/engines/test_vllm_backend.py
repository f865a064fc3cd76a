"""Our backend in vLLM's place, driven by vLLM's own types."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("vllm")

from transformers import AutoTokenizer
from vllm.exceptions import VLLMValidationError
from vllm.sampling_params import SamplingParams, StructuredOutputsParams
from vllm.v1.structured_output.backend_types import StructuredOutputOptions as Kind
from vllm.v1.structured_output.request import get_structured_output_key

import torch
from syntagma.integrations.vllm.backend import SyntagmaBackend, install, validate

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}
TAG = {"type": "structural_tag", "format": {"type": "const_string", "value": "<tool_call>"}}
ASKED: dict[str, tuple[dict[str, Any], str, str]] = {
    "json": ({"json": SCHEMA}, '{"a": 1}', "[]"),
    "json_object": ({"json_object": True}, '{"b": []}', "1"),
    "regex": ({"regex": "[0-9]{3}"}, "123", "12a"),
    "choice": ({"choice": ["yes", "no"]}, "no", "na"),
    "gbnf": ({"grammar": 'root ::= "yes" | "no"'}, "yes", "ye!"),
    "lark": ({"grammar": 'start: "yes" | "no"'}, "yes", "ye!"),
    "tag": ({"structural_tag": json.dumps(TAG)}, "<tool_call>", "<think>"),
}


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> SyntagmaBackend:
    from tests.engines.model_files import write_folder

    tokenizer = AutoTokenizer.from_pretrained(write_folder(tmp_path_factory.mktemp("m") / "model"))
    return SyntagmaBackend(None, tokenizer, len(tokenizer))


def allowed(bitmask: torch.Tensor, row: int, size: int) -> set[int]:
    words = bitmask[row].tolist()
    return {token for token in range(size) if words[token // 32] >> (token % 32) & 1}


@pytest.mark.parametrize("name", ASKED)
def test_each_kind_is_held_token_by_token(backend: SyntagmaBackend, name: str) -> None:
    fields, good, bad = ASKED[name]
    kind, spec = get_structured_output_key(StructuredOutputsParams(**fields))
    end = backend.tokenizer.eos_token_id
    grammar = backend.compile_grammar(kind, spec, {end})
    bitmask = backend.allocate_token_bitmask(3)
    assert (bitmask == -1).all()
    tokens = backend.tokenizer.encode(good, add_special_tokens=False)
    for token in [*tokens, end]:
        grammar.fill_bitmask(bitmask, 1)
        assert token in allowed(bitmask, 1, backend.vocab_size)
        assert grammar.accept_tokens("request", [token])
    assert grammar.is_terminated()
    assert grammar.accept_tokens("request", [end])  # the engine hands over what stands behind the end, too
    grammar.rollback(1)
    assert grammar.is_terminated()
    grammar.rollback(1)
    assert not grammar.is_terminated()
    grammar.reset()
    wrong = backend.tokenizer.encode(bad, add_special_tokens=False)
    prefix = grammar.validate_tokens([*wrong, end])
    assert len(prefix) < len(wrong) + 1
    assert not grammar.accept_tokens("request", [*wrong, end])
    assert (bitmask[0] == -1).all()
    assert (bitmask[2] == -1).all()


def test_a_grammar_that_cannot_be_read_is_refused_in_the_front_end() -> None:
    validate(SamplingParams())
    validate(SamplingParams(structured_outputs=StructuredOutputsParams(choice=["a"])))
    with pytest.raises(VLLMValidationError, match="E-"):
        validate(SamplingParams(structured_outputs=StructuredOutputsParams(grammar="root ::= (")))


def test_it_takes_the_place_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    import vllm.v1.structured_output as manager
    from vllm.v1.structured_output import backend_xgrammar

    monkeypatch.setattr(manager, "XgrammarBackend", manager.XgrammarBackend)
    monkeypatch.setattr(backend_xgrammar, "validate_xgrammar_grammar", backend_xgrammar.validate_xgrammar_grammar)
    install()
    assert manager.XgrammarBackend is SyntagmaBackend
    assert backend_xgrammar.validate_xgrammar_grammar is validate


def test_every_kind_of_vllm_has_a_reader() -> None:
    from syntagma.integrations.vllm.backend import read_grammar

    for kind in Kind:
        text = {"CHOICE": '["a"]', "JSON": "{}", "STRUCTURAL_TAG": json.dumps(TAG), "GRAMMAR": 'root ::= "a"'}
        assert read_grammar(kind, text.get(kind.name, "a")) is not None


def test_the_vocabularies_go_with_the_backend(backend: SyntagmaBackend) -> None:
    other = SyntagmaBackend(None, backend.tokenizer, backend.vocab_size)
    other.compile_grammar(Kind.REGEX, "a")
    other.destroy()
    assert other.compile_grammar(Kind.REGEX, "a").validate_tokens([]) == []
