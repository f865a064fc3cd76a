"""Real merges: tokens that are told in advance stay what they are, whatever text follows."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import syntagma as sg

_TEXTS = 250
_AT_LEAST = 200
"""tokens told in all texts of a vocabulary: a rule that told nothing would never be wrong"""


def run(data: Path) -> Iterator[tuple[str, str | None]]:
    """One case a vocabulary, as it is and, where it has one, without its blank before the text."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
    wrong_jumps = importlib.import_module("tests.decoding.jumps").wrong_jumps
    tokenizers = importlib.import_module("tokenizers")
    for path in sorted((data / "engine" / "vocabs").glob("*.tokenizer.json")):
        info = sg.TokenizerInfo.from_tokenizer_json(path, eos_token_ids=[0])
        settings = json.loads(path.read_text(encoding="utf-8"))
        prepends = "Prepend" in json.dumps(settings.get("normalizer"))
        if prepends:
            settings["normalizer"] = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
        tokenizer = tokenizers.Tokenizer.from_str(json.dumps(settings))
        told, problems = 0, []
        for count, problem in wrong_jumps(
            info, lambda text, of=tokenizer: list(of.encode(text, add_special_tokens=False).ids), texts=_TEXTS, seed=7
        ):
            told += count
            problems += [problem] if problem else []
        if not problems and told < _AT_LEAST:
            problems.append(f"only {told} tokens were told")
        yield path.name, problems[0] if problems else None
