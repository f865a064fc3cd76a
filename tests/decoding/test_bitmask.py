"""Masking logits: every element type, shape and choice of rows against the plain definition."""

from __future__ import annotations

import array
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import syntagma as sg

DTYPES = ("float16", "float32", "float64")
# Width of the logits and words of the mask: narrower, equal, a padded last word, wider than the mask.
SHAPES = ((1, 1), (31, 1), (32, 1), (33, 2), (100, 5), (160, 5), (200, 5))


def plain(logits: NDArray[Any], bitmask: NDArray[np.int32], indices: list[int] | None = None) -> NDArray[Any]:
    """The definition."""
    masked = logits.copy()
    for row in range(len(logits)) if indices is None else indices:
        for token in range(logits.shape[1]):
            word = int(bitmask[row, token // 32]) if token // 32 < bitmask.shape[1] else 0
            if not word >> (token % 32) & 1:
                masked[row, token] = -np.inf
    return masked


def sample(rng: np.random.Generator, rows: int, width: int, words: int) -> tuple[NDArray[Any], NDArray[np.int32]]:
    logits = rng.normal(size=(rows, width))
    bitmask = rng.integers(-(2**31), 2**31, size=(rows, words), dtype=np.int64).astype(np.int32)
    return logits, bitmask


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("width", "words"), SHAPES)
def test_equal_to_the_definition(dtype: str, width: int, words: int) -> None:
    rng = np.random.default_rng(width)
    for rows in (1, 2, 7):
        for indices in (None, [], [0], [rows - 1], list(range(rows))[::-2]):
            logits, bitmask = sample(rng, rows, width, words)
            logits = logits.astype(dtype)
            expected = plain(logits, bitmask, indices)
            sg.apply_token_bitmask_inplace(logits, bitmask, indices=indices)
            assert logits.dtype == dtype
            assert np.array_equal(logits, expected)


def test_views_and_single_rows() -> None:
    rng = np.random.default_rng(3)
    logits, bitmask = sample(rng, 4, 70, 3)
    whole = np.zeros((8, 140))
    view = whole[::2, ::2]
    view[:] = logits
    sg.apply_token_bitmask_inplace(view, bitmask[:, :])
    assert np.array_equal(view, plain(logits, bitmask))
    assert not whole[1::2].any()
    assert not whole[:, 1::2].any()
    one = logits[2].copy()
    sg.apply_token_bitmask_inplace(one, bitmask[2])
    assert np.array_equal(one, plain(logits, bitmask)[2])
    # A mask of more rows than logits, where the rows are named.
    few = logits[:2].copy()
    sg.apply_token_bitmask_inplace(few, bitmask, indices=[1])
    assert np.array_equal(few, plain(logits[:2], bitmask, [1]))


def test_what_does_not_fit() -> None:
    bitmask = np.zeros((2, 3), np.int32)
    logits = np.zeros((2, 90), np.float32)
    for wrong in ([[0.0]], logits.astype(np.int32), None):
        with pytest.raises(sg.ArgumentTypeError) as caught:
            sg.apply_token_bitmask_inplace(wrong, bitmask)  # type: ignore[arg-type]
        assert caught.value.code == "E-BITMASK-TYPE"
    with pytest.raises(sg.ArgumentTypeError):
        sg.apply_token_bitmask_inplace(logits, bitmask.astype(np.uint32))
    for values, words in ((logits, bitmask[:1]), (logits[np.newaxis], bitmask), (logits, bitmask[np.newaxis])):
        with pytest.raises(sg.ArgumentError) as refused:
            sg.apply_token_bitmask_inplace(values, words)
        assert refused.value.code == "E-BITMASK-SIZE"
    for rows in ([2], [-1], [0, 5]):
        with pytest.raises(sg.ArgumentError) as refused:
            sg.apply_token_bitmask_inplace(logits, bitmask, indices=rows)
        assert refused.value.code == "E-BITMASK-INDEX"
    logits.flags.writeable = False
    with pytest.raises(sg.ArgumentError) as refused:
        sg.apply_token_bitmask_inplace(logits, bitmask)
    assert refused.value.code == "E-BITMASK-BUFFER"


INFO = sg.TokenizerInfo.from_tokens(
    [bytes([byte]) for byte in range(256)] + [b"<end>"], eos_token_ids=[256], vocab_size=300
)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_matcher_masks_logits_of_every_type(dtype: str) -> None:
    matcher = sg.GrammarMatcher(sg.GrammarCompiler(INFO).compile(sg.Grammar.from_regex("[0-9]+x")))
    for shape in ((300,), (1, 300), (320,)):
        logits = np.zeros(shape, dtype)
        matcher.mask_logits_inplace(logits)
        assert set(np.flatnonzero(np.isfinite(logits.ravel()))) == set(b"0123456789")
    strided = np.zeros(600, dtype)[::2]
    matcher.mask_logits_inplace(strided)
    assert set(np.flatnonzero(np.isfinite(strided))) == set(b"0123456789")
    with pytest.raises(sg.ArgumentError):
        matcher.mask_logits_inplace(np.zeros((2, 300), dtype).astype(np.float64))
    with pytest.raises(sg.ArgumentError):
        matcher.mask_logits_inplace([0.0] * 300)


def test_any_buffer_of_int32_is_filled() -> None:
    matcher = sg.GrammarMatcher(sg.GrammarCompiler(INFO).compile(sg.Grammar.from_regex("[0-9]+x")))
    expected = sg.allocate_token_bitmask(1, 300)
    matcher.fill_next_token_bitmask(expected)
    words = expected.shape[1]
    buffers = [array.array("i", [7] * words), memoryview(bytearray(4 * words)).cast("i")]
    for buffer in buffers:
        matcher.fill_next_token_bitmask(buffer)
        assert list(buffer) == list(expected[0])
    wide = np.full((2, words + 2), 5, np.int32)
    matcher.fill_next_token_bitmask(wide, 1)
    assert (wide[0] == 5).all()
    assert list(wide[1, :words]) == list(expected[0])


@pytest.mark.parametrize("threads", [None, 1, 2, 5, 64])
def test_batches_are_what_single_calls_are(threads: int | None) -> None:
    compiled = sg.GrammarCompiler(INFO).compile(
        sg.Grammar.from_json_schema({"type": "array", "items": {"type": "integer"}})
    )
    texts = [b"[1, 2", b"[", b"[-3", b"[]", b"", b"[10 ", b"[0,"] * 5
    matchers = [sg.GrammarMatcher(compiled) for _ in texts]
    for matcher, text in zip(matchers, texts, strict=True):
        assert matcher.accept_bytes(text)
    single = [matcher.fork() for matcher in matchers]
    bitmask = sg.allocate_token_bitmask(len(texts), 300)
    sg.fill_next_token_bitmask_batch(matchers, bitmask, threads=threads)
    for number, matcher in enumerate(single):
        row = sg.allocate_token_bitmask(1, 300)
        matcher.fill_next_token_bitmask(row)
        assert np.array_equal(row[0], bitmask[number])
    tokens = [ord(c) for c in "],0 5"] * 7
    answers = sg.accept_token_batch(matchers, tokens, threads=threads)
    assert answers == [matcher.accept_token(token) for matcher, token in zip(single, tokens, strict=True)]
    assert [m.state_bytes() for m in matchers] == [m.state_bytes() for m in single]
