"""`compat.xgrammar.contrib.hf.LogitsProcessor` in the modes of `generate`: it writes what `Constraint` writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import syntagma as sg
import syntagma.compat.xgrammar as xgr
from syntagma.integrations.transformers import Constraint

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string", "maxLength": 9}, "b": {"enum": ["x", "y"]}},
    "required": ["a", "b"],
    "additionalProperties": False,
}
MODES: dict[str, dict[str, Any]] = {
    "greedy": {},
    "beams": {"num_beams": 3, "num_return_sequences": 2},
    "prompt look-up": {"prompt_lookup_num_tokens": 4},
    "sampling": {"num_return_sequences": 2, "do_sample": True, "temperature": 2.0, "top_k": 0},
}


def test_one_processor_serves_every_mode(plain_folder: Path) -> None:
    torch.set_num_threads(1)
    network = transformers.AutoModelForCausalLM.from_pretrained(plain_folder, dtype=torch.float32)
    tokenizer = transformers.AutoTokenizer.from_pretrained(plain_folder)
    ends = network.generation_config.eos_token_id
    info = xgr.TokenizerInfo.from_huggingface(tokenizer, vocab_size=network.config.vocab_size, stop_token_ids=ends)
    compiled = xgr.GrammarCompiler(info).compile_json_schema(SCHEMA)
    theirs = xgr.contrib.hf.LogitsProcessor(compiled)
    ours = Constraint(compiled.syntagma, sg.GrammarCompiler(info.syntagma))
    prompt = tokenizer("<|im_start|>assistant\n", return_tensors="pt", add_special_tokens=False)
    for options in MODES.values():
        written = []
        for processor in (theirs, ours):
            torch.manual_seed(5)
            asked = {"do_sample": False, "max_new_tokens": 60, **options}
            rows = network.generate(**prompt, logits_processor=[processor], **asked)
            written.append(rows[:, prompt["input_ids"].shape[1] :].tolist())
        texts = tokenizer.batch_decode(written[0], skip_special_tokens=True)
        assert texts == tokenizer.batch_decode(written[1], skip_special_tokens=True)
        for text, row in zip(texts, written[0], strict=True):
            matcher = sg.GrammarMatcher(compiled.syntagma)
            assert matcher.accept_bytes(text.encode()), text
            assert matcher.is_accepting() or len(row) == 60
