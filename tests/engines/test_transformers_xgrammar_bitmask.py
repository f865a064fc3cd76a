"""xgrammar's names with tensors: bitmasks, backends of masking, and the logits processor."""

from __future__ import annotations

import os

import numpy as np
import pytest

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    # Read when Triton is first imported.
    os.environ.setdefault("TRITON_INTERPRET", "1")

import syntagma.compat.xgrammar as xgr  # noqa: E402
from syntagma.decoding.bitmask import triton_kernel  # noqa: E402
from tests.decoding.test_bitmask import plain, sample  # noqa: E402

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
INFO = xgr.TokenizerInfo([bytes([byte]) for byte in range(256)] + [b"</s>"], stop_token_ids=[256], vocab_size=300)


def test_bitmasks_are_tensors() -> None:
    bitmask = xgr.allocate_token_bitmask(2, 300)
    assert bitmask.dtype == xgr.bitmask_dtype == torch.int32
    matcher = xgr.GrammarMatcher(xgr.GrammarCompiler(INFO).compile_regex("[0-9]+"))
    assert matcher.fill_next_token_bitmask(bitmask, 1)
    assert (bitmask[0] == -1).all()
    allowed = xgr.testing.bitmask_to_bool_mask(bitmask, 300)
    assert set(allowed[1].nonzero().flatten().tolist()) == set(b"0123456789")
    xgr.reset_token_bitmask(bitmask)
    assert (bitmask == -1).all()
    with pytest.raises(RuntimeError):
        matcher.fill_next_token_bitmask(torch.zeros(1, 10))


@pytest.mark.parametrize("backend", ["auto", "cpu", "cuda", "triton", "torch_compile", "torch_native"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_every_backend_masks_alike(backend: str, dtype: torch.dtype) -> None:
    if backend in ("cuda", "triton") and not triton_kernel.is_available():
        pytest.skip("Triton is not installed")
    device = "cpu" if backend == "cpu" else DEVICE
    rng = np.random.default_rng(4)
    values, bitmask = sample(rng, 3, 300, 10)
    words = torch.from_numpy(bitmask).to(device)
    for indices in (None, [2, 0]):
        logits = torch.from_numpy(values).to(device, dtype)
        expected = plain(logits.double().cpu().numpy(), bitmask, indices)
        xgr.apply_token_bitmask_inplace(logits, words, indices=indices, backend=backend)
        assert np.array_equal(logits.double().cpu().numpy(), expected)
    # What lies behind vocab_size, or behind the mask, is left alone.
    logits = torch.zeros(3, 300, device=device, dtype=dtype)
    xgr.apply_token_bitmask_inplace(logits, torch.zeros_like(words), vocab_size=100, backend=backend)
    assert torch.isinf(logits[:, :100]).all()
    assert not torch.isinf(logits[:, 100:]).any()
    with pytest.warns(UserWarning, match="covers 64"):
        xgr.apply_token_bitmask_inplace(logits, torch.zeros_like(words[:, :2]), backend=backend)
    with pytest.raises(ValueError, match="backend"):
        xgr.apply_token_bitmask_inplace(logits, words, backend="metal")


def test_the_logits_processor_holds_a_batch_to_its_grammars() -> None:
    compiler = xgr.GrammarCompiler(INFO)
    grammars = [compiler.compile_regex("[0-9]{2}"), compiler.compile_json_schema({"enum": ["abc", 17]})]
    processor = xgr.hf.LogitsProcessor(grammars)
    rng = np.random.default_rng(6)
    ids = torch.zeros((2, 3), dtype=torch.int64)
    for _ in range(9):
        scores = processor(ids, torch.from_numpy(rng.normal(size=(2, 320)).astype(np.float32)).to(DEVICE))
        chosen = scores[:, :300].argmax(dim=1).cpu()
        ids = torch.cat([ids, chosen[:, None]], dim=1)
    rows = [row[3:].tolist() for row in ids]
    number, choice = (bytes(row[: row.index(256)]).decode() for row in rows)
    assert len(number) == 2
    assert number.isdigit()
    assert choice in ('"abc"', "17")
    with pytest.raises(RuntimeError):
        processor(ids[:1], torch.zeros(1, 320))
