"""Masking torch tensors: on the CPU, and by the Triton kernel, in Triton's interpreter where there is no GPU."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    # Read when Triton is first imported.
    os.environ.setdefault("TRITON_INTERPRET", "1")

from syntagma.decoding import (  # noqa: E402
    GrammarCompiler,
    GrammarMatcher,
    TokenizerInfo,
    allocate_token_bitmask,
    apply_token_bitmask_inplace,
    fill_next_token_bitmask_batch,
)
from syntagma.decoding.bitmask import torch_rows, triton_kernel  # noqa: E402
from syntagma.errors import ArgumentError, ArgumentTypeError  # noqa: E402
from syntagma.grammars import Grammar  # noqa: E402
from tests.decoding.test_bitmask import SHAPES, plain, sample  # noqa: E402

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
WAYS: dict[str, Callable[..., None]] = {
    "cpu": torch_rows.mask_torch,
    "shifts": torch_rows.mask_by_shifts,
    "triton": triton_kernel.mask_triton,
}


def way_of(name: str) -> tuple[Callable[..., None], str]:
    if name == "triton" and not triton_kernel.is_available():
        pytest.skip("Triton is not installed")
    return WAYS[name], "cpu" if name == "cpu" else DEVICE


COMPILED = """
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from syntagma.decoding.bitmask.triton_kernel import _BLOCK, _deny

TYPES = {"logits": "*fp16", "words": "*i32", "rows": "*i64", "HAS_ROWS": "constexpr", "BLOCK": "constexpr"}
for has_rows in (False, True):
    types = {name: TYPES.get(name, "i32") for name in _deny.arg_names}
    known = {"HAS_ROWS": has_rows, "BLOCK": _BLOCK, "logits_token": 1, "words_word": 1}
    types |= dict.fromkeys(known, "constexpr")
    # As Triton's launcher finds them for rows of 128,256 tokens.
    even = ("logits", "width", "logits_row")
    facts = {(at,): [["tt.divisibility", 16]] for at, name in enumerate(_deny.arg_names) if name in even}
    made = triton.compile(ASTSource(_deny, types, known, facts), target=GPUTarget("cuda", 90, 32)).asm
    print(sorted(made), made["ptx"].count("st.global.v4") > 0, "bar.sync" in made["ptx"])
"""


def test_the_kernel_compiles_without_a_gpu() -> None:
    """The interpreter takes what the compiler does not. Denied tokens are stored side by side, and no thread waits."""
    if not triton_kernel.is_available():
        pytest.skip("Triton is not installed")
    surroundings = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    command = [sys.executable, "-c", COMPILED]
    made = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    assert [line.endswith("True False") for line in made.stdout.splitlines() if "'cubin'" in line] == [True, True]


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("width", "words"), SHAPES)
def test_equal_to_the_definition(name: str, dtype: torch.dtype, width: int, words: int) -> None:
    mask, device = way_of(name)
    rng = np.random.default_rng(width)
    for rows in (1, 3):
        for indices in (None, [rows - 1], list(range(rows))[::-2]):
            values, bitmask = sample(rng, rows, width, words)
            logits = torch.from_numpy(values).to(device, dtype)
            expected = plain(logits.double().cpu().numpy(), bitmask, indices)
            mask(logits, torch.from_numpy(bitmask).to(device), indices)
            assert logits.dtype == dtype
            assert np.array_equal(logits.double().cpu().numpy(), expected)


@pytest.mark.parametrize("name", WAYS)
def test_wide_rows_and_strides(name: str) -> None:
    mask, device = way_of(name)
    rng = np.random.default_rng(1)
    values, bitmask = sample(rng, 3, 9_001, 282)
    whole = torch.zeros(6, 2 * 9_001, device=device)
    view = whole[::2, ::2]
    view.copy_(torch.from_numpy(values))
    expected = plain(view.cpu().numpy(), bitmask, [0, 2])
    mask(view, torch.from_numpy(np.repeat(bitmask, 2, axis=0)).to(device)[::2], [0, 2])
    assert np.array_equal(view.cpu().numpy(), expected)
    assert not whole[1::2].any()
    assert not whole[:, 1::2].any()


def test_the_public_function_takes_tensors_and_arrays() -> None:
    rng = np.random.default_rng(2)
    values, bitmask = sample(rng, 4, 100, 4)
    for words in (bitmask, torch.from_numpy(bitmask)):
        for device in {"cpu", DEVICE}:
            logits = torch.from_numpy(values).to(device, torch.float32)
            expected = plain(logits.cpu().numpy(), bitmask, [3, 1])
            apply_token_bitmask_inplace(logits, words, indices=[3, 1])
            assert np.array_equal(logits.cpu().numpy(), expected)
    one = torch.from_numpy(values[0].copy())
    apply_token_bitmask_inplace(one, torch.from_numpy(bitmask[0]))
    assert np.array_equal(one.numpy(), plain(values, bitmask)[0])
    for wrong, code in (
        (torch.zeros(4, 100, dtype=torch.int64), ArgumentTypeError),
        (torch.zeros(3, 100), ArgumentError),
        (torch.zeros(1, 4, 100), ArgumentError),
    ):
        with pytest.raises(code):
            apply_token_bitmask_inplace(wrong, bitmask)
    with pytest.raises(ArgumentTypeError):
        apply_token_bitmask_inplace(torch.zeros(4, 100), bitmask.astype(np.int64))


def test_matchers_fill_and_mask_tensors() -> None:
    info = TokenizerInfo.from_tokens([bytes([byte]) for byte in range(256)] + [b"<end>"], eos_token_ids=[256])
    compiled = GrammarCompiler(info).compile(Grammar.from_regex("[0-9]+x"))
    matcher = GrammarMatcher(compiled)
    arrays, tensors = allocate_token_bitmask(2, 257), torch.zeros(2, 9, dtype=torch.int32)
    fill_next_token_bitmask_batch([matcher, matcher.fork()], arrays)
    fill_next_token_bitmask_batch([matcher, matcher.fork()], tensors)
    assert np.array_equal(tensors.numpy(), arrays)
    matcher.fill_next_token_bitmask(tensors, 1)
    for dtype in DTYPES:
        logits = torch.zeros(257, dtype=dtype, device=DEVICE)
        matcher.mask_logits_inplace(logits)
        assert set(torch.isfinite(logits).nonzero().flatten().tolist()) == set(b"0123456789")
