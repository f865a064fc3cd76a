"""`LogitsProcessor` with beams and several sequences for one prompt."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import syntagma as sg
import syntagma.compat.xgrammar as xgr
from syntagma.compat.xgrammar.support import has_torch

INFO = xgr.TokenizerInfo([bytes([byte]) for byte in range(256)] + [b"</s>"], stop_token_ids=[256])
COMPILER = xgr.GrammarCompiler(INFO)
PROMPT = [7, 8]
ANY = bytes(range(256))


def tensor(values: Any, dtype: Any) -> Any:
    array = np.asarray(values, dtype)
    if not has_torch():
        return array
    import torch

    return torch.from_numpy(array)


def step(processor: xgr.hf.LogitsProcessor, rows: list[bytes], prompts: list[list[int]] | None = None) -> list[bytes]:
    """The bytes that may come next in each row, behind its prompt; the end of the turn is left out."""
    ids = [[*prompt, *row] for prompt, row in zip(prompts or [PROMPT] * len(rows), rows, strict=True)]
    scores = processor(tensor(ids, np.int64), tensor(np.zeros((len(rows), 257)), np.float32))
    return [bytes(np.flatnonzero(np.isfinite(np.asarray(row))[:256]).tolist()) for row in scores]


def test_beams_change_places_and_go_on_as_several() -> None:
    processor = xgr.hf.LogitsProcessor(COMPILER.compile_regex("ab?c|xyz|abd"))
    assert step(processor, [b"", b"", b""]) == [b"ax"] * 3
    assert step(processor, [b"a", b"x", b"a"]) == [b"bc", b"y", b"bc"]
    # The first has gone, the second goes on in the first place and the third twice.
    assert step(processor, [b"xy", b"ab", b"ac"]) == [b"z", b"cd", b""]
    assert step(processor, [b"abc", b"abd", b"xyz"]) == [b"", b"", b""]


def test_a_beam_without_a_chance_does_not_end_the_others() -> None:
    """With few tokens to choose from, a search fills its beams up with masked ones."""
    processor = xgr.hf.LogitsProcessor(COMPILER.compile_regex("abc"))
    assert step(processor, [b"", b""]) == [b"a", b"a"]
    assert step(processor, [b"a", b"q"])[0] == b"b"
    assert step(processor, [b"ab", b"az"])[0] == b"c"
    assert step(processor, [b"abc", b"abq"])[0] == b""


def test_a_row_that_took_a_masked_token_is_let_go_and_comes_back() -> None:
    """A draft may hold such a token; what is written instead goes on from before it."""
    processor = xgr.hf.LogitsProcessor(COMPILER.compile_regex("abc"))
    prompts = [[1, 2], [3, 4]]
    assert step(processor, [b"", b""], prompts) == [b"a", b"a"]
    assert step(processor, [b"a", b"q"], prompts) == [b"b", ANY]
    assert step(processor, [b"ab", b"qa"], prompts) == [b"c", ANY]
    assert step(processor, [b"a", b"a"], prompts) == [b"b", b"b"]


def test_the_next_generation_begins_anew() -> None:
    processor = xgr.hf.LogitsProcessor(COMPILER.compile_regex("abc"))
    for prompt in (PROMPT, PROMPT, [9], [*PROMPT, *b"abc", 256, 5, 6]):
        for count in (2, 1):
            prompts = [prompt] * count
            assert step(processor, [b""] * count, prompts) == [b"a"] * count
            assert step(processor, [b"a"] * count, prompts) == [b"b"] * count
            assert step(processor, [b"ab"] * count, prompts) == [b"c"] * count


def test_several_sequences_for_each_grammar() -> None:
    grammars = [COMPILER.compile_regex("ab"), COMPILER.compile_regex("xy")]
    processor = xgr.hf.LogitsProcessor(grammars)
    assert step(processor, [b""] * 4) == [b"a", b"a", b"x", b"x"]
    assert step(processor, [b"a", b"a", b"x", b"x"]) == [b"b", b"b", b"y", b"y"]


def test_what_is_no_grammar_or_no_batch_is_refused() -> None:
    compiled = COMPILER.compile_regex("a+")
    processor = xgr.hf.LogitsProcessor(sg.GrammarCompiler(INFO.syntagma).compile(sg.Grammar.from_regex("a+")))  # type: ignore[arg-type]
    assert step(processor, [b"", b""]) == [b"a", b"a"]
    for wrong in ([], [compiled, 3], None):
        with pytest.raises(xgr.exception.WrongValueError):
            xgr.hf.LogitsProcessor(wrong)  # type: ignore[arg-type]
    with pytest.raises(xgr.exception.WrongValueError, match="3 x 2 tokens cannot be divided among 2 grammars"):
        step(xgr.hf.LogitsProcessor([compiled] * 2), [b""] * 3)
    with pytest.raises(xgr.exception.WrongTypeError, match="list"):
        xgr.hf.LogitsProcessor(compiled)([[1]], np.zeros((1, 257), np.float32))
