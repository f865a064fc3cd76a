"""Vocabularies from every source: bytes, special tokens, ends of turn, and refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from syntagma.decoding import TokenizerInfo
from syntagma.errors import VocabularyError


def write(folder: Path, tokenizer: dict[str, Any], **others: Any) -> Path:
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(tokenizer))
    for name, value in others.items():
        (folder / f"{name}.json").write_text(json.dumps(value))
    return path


def byte_level(**changes: Any) -> dict[str, Any]:
    return {
        "added_tokens": [
            {"id": 4, "content": "<end>", "special": True},
            {"id": 5, "content": "<call>", "special": False},
        ],
        "pre_tokenizer": {"type": "ByteLevel"},
        "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "vocab": {"a": 0, "Ġ": 1, "Ġa": 2, "Ċ": 3}, "merges": ["Ġ a"]},
    } | changes


def test_byte_level(tmp_path: Path) -> None:
    info = TokenizerInfo.from_tokenizer_json(write(tmp_path, byte_level(), generation_config={"eos_token_id": [4]}))
    assert [info.token_bytes(i) for i in range(6)] == [b"a", b" ", b" a", b"\n", b"<end>", b"<call>"]
    assert info.special_token_ids == {4}
    assert info.added_token_ids == {4, 5}
    assert info.eos_token_ids == (4,)
    assert info.decode([2, 3, 5]) == b" a\n<call>"


def test_byte_fallback(tmp_path: Path) -> None:
    tokenizer = {
        "added_tokens": [{"id": 0, "content": "</s>", "special": True}],
        "decoder": {"type": "Sequence", "decoders": [{"type": "Replace"}, {"type": "ByteFallback"}, {"type": "Fuse"}]},
        "model": {"type": "BPE", "vocab": {"</s>": 0, "<0x0A>": 1, "▁hi": 2, "é": 3}, "merges": []},
    }
    info = TokenizerInfo.from_tokenizer_json(write(tmp_path, tokenizer, tokenizer_config={"eos_token": "</s>"}))
    assert [info.token_bytes(i) for i in range(4)] == [b"</s>", b"\n", b" hi", "é".encode()]
    assert info.eos_token_ids == (0,)


def test_unigram_with_metaspace(tmp_path: Path) -> None:
    tokenizer = {
        "decoder": {"type": "Metaspace"},
        "model": {"type": "Unigram", "vocab": [["</s>", 0.0], ["▁a", -1.0]]},
        "added_tokens": [{"id": 0, "content": "</s>", "special": True}],
    }
    info = TokenizerInfo.from_tokenizer_json(write(tmp_path, tokenizer), eos_token_ids=[0])
    assert info.token_bytes(1) == b" a"


def test_padded_logits_width() -> None:
    info = TokenizerInfo.from_tokens([b"a", b"</s>"], eos_token_ids=[1], vocab_size=64)
    assert info.vocab_size == 64
    assert info.token_bytes(63) == b""
    assert info.special_token_ids == {1}


@pytest.mark.parametrize(
    ("tokenizer", "code"),
    [
        (byte_level(decoder={"type": "WordPiece"}, pre_tokenizer=None), "E-VOCAB-MODEL"),
        (byte_level(model={"type": "BPE"}), "E-VOCAB-MODEL"),
        (byte_level(model={"type": "BPE", "vocab": {"漢": 0}, "merges": []}), "E-VOCAB-TOKEN"),
        (byte_level(model={"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}), None),
        (byte_level(model={"type": "BPE", "vocab": {"a": -1}}), "E-VOCAB-MODEL"),
        (byte_level(model={"type": "BPE", "vocab": {"a": 1 << 40}}), "E-VOCAB-MODEL"),
        (byte_level(model={"type": "Unigram", "vocab": [[]]}), "E-VOCAB-MODEL"),
        (byte_level(added_tokens=[{"content": "x"}]), "E-VOCAB-MODEL"),
        (byte_level(), "E-VOCAB-EOS"),
    ],
)
def test_refusals(tmp_path: Path, tokenizer: dict[str, Any], code: str | None) -> None:
    path = write(tmp_path, tokenizer)
    eos = None if code == "E-VOCAB-EOS" else [4]
    if code is None:
        assert TokenizerInfo.from_tokenizer_json(path, eos_token_ids=eos).token_bytes(2) == b"ab"
        return
    with pytest.raises(VocabularyError) as caught:
        TokenizerInfo.from_tokenizer_json(path, eos_token_ids=eos)
    assert caught.value.code == code
    assert str(path) in str(caught.value)


def test_merges_that_contradict_the_bytes_are_refused(tmp_path: Path) -> None:
    # A merge is only known by its three texts; an added token of the same text spells other bytes.
    tokenizer = byte_level(
        model={"type": "BPE", "vocab": {"Ġ": 0, "a": 1, "Ġa": 2}, "merges": [["Ġ", "a"]]},
        added_tokens=[{"id": 2, "content": "Ġa", "special": False}],
    )
    with pytest.raises(VocabularyError) as caught:
        TokenizerInfo.from_tokenizer_json(write(tmp_path, tokenizer), eos_token_ids=[1])
    assert caught.value.code == "E-VOCAB-ROUNDTRIP"


@pytest.mark.parametrize("content", ["", "[]", "{", "{}", '{"model": 3}'])
def test_broken_files(tmp_path: Path, content: str) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(content)
    with pytest.raises(VocabularyError):
        TokenizerInfo.from_tokenizer_json(path)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(VocabularyError) as caught:
        TokenizerInfo.from_tokenizer_json(tmp_path / "absent.json")
    assert caught.value.code == "E-VOCAB-FILE"
    assert caught.value.hint


@pytest.mark.parametrize(("eos", "special", "size"), [([9], [], None), ([0], [7], None), ([0], [], 1)])
def test_ids_outside_of_the_vocabulary(eos: list[int], special: list[int], size: int | None) -> None:
    with pytest.raises(VocabularyError):
        TokenizerInfo.from_tokens([b"a", b"b"], eos_token_ids=eos, special_token_ids=special, vocab_size=size)


@pytest.mark.parametrize("decoder", ["Metaspace", "ByteFallback"])
def test_a_decoder_that_contradicts_the_vocabulary_is_refused(tmp_path: Path, decoder: str) -> None:
    with pytest.raises(VocabularyError) as caught:
        TokenizerInfo.from_tokenizer_json(write(tmp_path, byte_level(decoder={"type": decoder})), eos_token_ids=[4])
    assert (caught.value.code, caught.value.pointer) == ("E-VOCAB-ROUNDTRIP", "/decoder")
