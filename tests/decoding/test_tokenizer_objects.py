"""Vocabularies from other libraries' tokenizers, each made here on a few lines of text."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
import sentencepiece
import tiktoken
from tokenizers import Tokenizer, decoders, normalizers, pre_tokenizers, trainers
from tokenizers.models import BPE

from syntagma.decoding import TokenizerInfo
from syntagma.errors import ArgumentTypeError, VocabularyError

LINES = ["the ship sails north", "a lamp, a ledger, a river", "north of the river", "sails and lamps"] * 20


def byte_level() -> Tokenizer:
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=320,
        special_tokens=["<end>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(LINES, trainer)
    return tokenizer


class FastTokenizer:
    """The two attributes of a fast `transformers` tokenizer that matter here."""

    def __init__(self, backend: Tokenizer) -> None:
        self.backend_tokenizer = backend
        self.eos_token_id = backend.token_to_id("<end>")


def test_huggingface() -> None:
    backend = byte_level()
    info = TokenizerInfo.from_huggingface(FastTokenizer(backend))
    assert info.eos_token_ids == (backend.token_to_id("<end>"),)
    text = "the lamp of Łódź 🙂\n"
    assert info.decode(backend.encode(text).ids) == text.encode()
    assert TokenizerInfo.from_huggingface(backend, eos_token_ids=[0]).vocab_size == info.vocab_size


def test_a_tokenizer_that_changes_text_is_refused() -> None:
    backend = byte_level()
    backend.normalizer = normalizers.Lowercase()
    with pytest.raises(VocabularyError) as caught:
        TokenizerInfo.from_huggingface(FastTokenizer(backend))
    assert caught.value.code == "E-VOCAB-ROUNDTRIP"


def test_what_is_no_fast_tokenizer() -> None:
    with pytest.raises(ArgumentTypeError):
        TokenizerInfo.from_huggingface(object())
    with pytest.raises(VocabularyError) as caught:
        TokenizerInfo.from_huggingface(byte_level())
    assert caught.value.code == "E-VOCAB-EOS"


def test_tiktoken() -> None:
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"th": 256, b"the": 257}
    encoding = tiktoken.Encoding(
        "made-here", pat_str=r"\w+|\W", mergeable_ranks=ranks, special_tokens={"<|endoftext|>": 260}
    )
    info = TokenizerInfo.from_tiktoken(encoding)
    assert info.eos_token_ids == (260,)
    assert info.special_token_ids == {260}
    assert info.token_bytes(257) == b"the"
    assert info.token_bytes(258) == b""
    assert info.decode(encoding.encode("the ship")) == b"the ship"


def test_sentencepiece(tmp_path: Path) -> None:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES),
        model_writer=model,
        vocab_size=300,
        model_type="bpe",
        byte_fallback=True,
        hard_vocab_limit=False,
        remove_extra_whitespaces=False,
        normalization_rule_name="identity",
        minloglevel=2,
    )
    path = tmp_path / "made.model"
    path.write_bytes(model.getvalue())
    info = TokenizerInfo.from_sentencepiece(path)
    processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
    assert info.eos_token_ids == (processor.eos_id(),)
    assert info.decode(processor.encode("the 🙂 river")) == " the 🙂 river".encode()
    assert processor.bos_id() in info.special_token_ids
    path.write_bytes(b"no model")
    with pytest.raises(VocabularyError) as caught:
        TokenizerInfo.from_sentencepiece(path)
    assert caught.value.code == "E-VOCAB-FILE"
    with pytest.raises(VocabularyError):
        TokenizerInfo.from_sentencepiece(tmp_path / "absent.model")
