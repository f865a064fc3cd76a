"""`TokenizerInfo.encode`: control tokens stand where the text is trusted, and nowhere else."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer

from syntagma import TokenizerInfo
from syntagma.errors import VocabularyError
from syntagma.testing import byte_vocabulary
from tests.decoding.made_tokenizers import CORPUS, byte_level, space_first, unigram

CONTROL = ("<s>", "</s>", "<|im_start|>", "<|im_end|>", "[INST]", "<call>")
PIECES = [
    *CONTROL,
    "<|im_",
    "end|>",
    "im_end",
    "<",
    "|>",
    "[IN",
    "ST]",
    "user",
    "word",
    " ",
    "  ",
    "\n",
    "Łódź",
    "a b",
    "",
]


TOKENIZERS = {"byte level": byte_level(), "space first": space_first(), "unigram": unigram()}


def of(tokenizer: Tokenizer) -> TokenizerInfo:
    return TokenizerInfo.from_huggingface(tokenizer, eos_token_ids=[tokenizer.token_to_id("</s>")])


INFOS = {name: of(tokenizer) for name, tokenizer in TOKENIZERS.items()}


def control_ids(info: TokenizerInfo, ids: list[int]) -> list[int]:
    control = {number for number in info.added_token_ids if not info.token_bytes(number).decode().strip().isalnum()}
    return [number for number in ids if number in control and info.token_bytes(number).strip() not in (b"", b"<unk>")]


@pytest.fixture(params=list(TOKENIZERS))
def name(request: pytest.FixtureRequest) -> Any:
    return request.param


@settings(max_examples=150, deadline=None)
@given(pieces=st.lists(st.sampled_from(PIECES), max_size=12), name=st.sampled_from(list(TOKENIZERS)))
def test_trusted_text_is_encoded_as_the_library_does(pieces: list[str], name: str) -> None:
    text = "".join(pieces)
    assert INFOS[name].encode(text) == TOKENIZERS[name].encode(text, add_special_tokens=False).ids


@settings(max_examples=300, deadline=None)
@given(
    pieces=st.lists(st.tuples(st.sampled_from(PIECES) | st.text(max_size=3), st.integers(1, 40)), max_size=6),
    name=st.sampled_from([*INFOS, "bytes"]),
)
def test_no_text_has_fewer_tokens_than_its_size_tells(pieces: list[tuple[str, int]], name: str) -> None:
    info = INFOS.get(name) or byte_vocabulary(["<|im_end|>"])
    text = "".join(piece * count for piece, count in pieces)
    assert info.least_tokens(text) <= min(len(info.encode(text)), len(info.encode(text, trusted=())))


def test_the_size_of_a_text_tells_how_many_tokens_it_has_at_least() -> None:
    longest = max(len(INFOS["byte level"].token_bytes(token)) for token in range(INFOS["byte level"].vocab_size))
    assert INFOS["byte level"].least_tokens("x" * 1000) == -(-1000 // longest)
    assert byte_vocabulary(["<end>"]).least_tokens("x" * 1000 + " " * 100) == 200
    # One token may stand for any text that is unknown.
    assert INFOS["unigram"].least_tokens("🙂" * 1000) == 0


@settings(max_examples=150, deadline=None)
@given(
    pieces=st.lists(st.tuples(st.sampled_from(PIECES), st.booleans()), max_size=12), name=st.sampled_from(list(INFOS))
)
def test_control_tokens_come_from_trusted_text_alone(pieces: list[tuple[str, bool]], name: str) -> None:
    info = INFOS[name]
    text, trusted = "", []
    for piece, is_trusted in pieces:
        if is_trusted and trusted and trusted[-1][1] == len(text):
            trusted[-1] = trusted[-1][0], len(text) + len(piece)
        elif is_trusted:
            trusted.append((len(text), len(text) + len(piece)))
        text += piece
    ids = info.encode(text, trusted=trusted)
    # The same with the rest harmless: dots, which belong to no control token.
    harmless = "".join(
        char
        if any(start <= at < end for start, end in trusted)
        else "."
        if char.isprintable() and char != " "
        else char
        for at, char in enumerate(text)
    )
    expected = control_ids(info, TOKENIZERS[name].encode(harmless, add_special_tokens=False).ids)
    assert control_ids(info, ids) == expected
    if name == "byte level":
        assert info.decode(ids).decode() == text or "<|im_end|>" in text  # which eats blanks


def test_what_stands_beside_a_control_token_does_not_undo_it() -> None:
    tokenizer = byte_level()
    tokenizer.add_special_tokens([AddedToken("<|end|>", single_word=True)])
    info = of(tokenizer)
    text = "a<|end|>b"
    assert control_ids(info, info.encode(text, trusted=[(1, 8)])) == [tokenizer.token_to_id("<|end|>")]
    assert info.encode("a <|end|> b") == tokenizer.encode("a <|end|> b").ids


def test_no_trusted_text_has_no_control_token(name: str) -> None:
    assert control_ids(INFOS[name], INFOS[name].encode("".join(CONTROL), trusted=())) == []
    assert len(control_ids(INFOS[name], INFOS[name].encode("".join(CONTROL)))) >= 5


def test_pickled_vocabularies_encode(name: str, tmp_path: Path) -> None:
    text = "<|im_start|>user\nword  <|im_end|>"
    again = pickle.loads(pickle.dumps(INFOS[name]))
    assert again.encode(text, trusted=[(0, 12)]) == INFOS[name].encode(text, trusted=[(0, 12)])
    path = tmp_path / "tokenizer.json"
    path.write_text(TOKENIZERS[name].to_str())
    info = TokenizerInfo.from_tokenizer_json(path, eos_token_ids=[2])
    sent = pickle.dumps(info)
    path.unlink()
    assert pickle.loads(sent).encode(text) == INFOS[name].encode(text)
    with pytest.raises(VocabularyError) as caught:
        info.encode(text)
    assert caught.value.code == "E-VOCAB-FILE"


def test_the_library_is_asked_for_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    info = of(TOKENIZERS["byte level"])
    monkeypatch.setitem(__import__("sys").modules, "tokenizers", None)
    with pytest.raises(VocabularyError) as caught:
        info.encode("a")
    assert caught.value.code == "E-VOCAB-DEPENDENCY"


def test_tiktoken() -> None:
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"en": 256, b"end": 257}
    special = {"<|im_start|>": 258, "<|im_end|>": 259}
    encoding = tiktoken.Encoding("small", pat_str=r"\w+|\W+", mergeable_ranks=ranks, special_tokens=special)
    info = TokenizerInfo.from_tiktoken(encoding, eos_token_ids=[259])
    text = "<|im_start|>a<|im_end|> the end<|im_end|>"
    assert info.encode(text) == encoding.encode(text, allowed_special="all")
    assert info.encode(text, trusted=()) == encoding.encode_ordinary(text)
    assert control_ids(info, info.encode(text, trusted=[(0, 12), (len(text) - 10, len(text))])) == [258, 259]


def test_sentencepiece(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(CORPUS))
    sentencepiece.SentencePieceTrainer.train(
        input=str(corpus), model_prefix=str(tmp_path / "m"), vocab_size=330, model_type="bpe", byte_fallback=True,
        control_symbols=["<|im_start|>"], user_defined_symbols=["<|im_end|>"], hard_vocab_limit=False,
        remove_extra_whitespaces=False, normalization_rule_name="identity", minloglevel=2,
    )  # fmt: skip
    info = TokenizerInfo.from_sentencepiece(tmp_path / "m.model")
    processor = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "m.model"))
    start, end = processor.piece_to_id("<|im_start|>"), processor.piece_to_id("<|im_end|>")
    assert info.encode("How are you today?") == processor.encode("How are you today?")
    ids = info.encode("<|im_start|>How are you?<|im_end|>")
    assert ids[0] == start
    assert info.decode(ids) == b"<|im_start|>How are you?<|im_end|>"  # no blank behind the control token
    # A symbol that the library reads in any text is cut.
    assert end in processor.encode("a<|im_end|>")
    forged = info.encode("a<|im_end|>", trusted=())
    assert end not in forged
    assert info.decode(forged).replace(b" ", b"") == b"a<|im_end|>"
    assert pickle.loads(pickle.dumps(info)).encode("a<|im_end|> b") == info.encode("a<|im_end|> b")


def test_a_vocabulary_without_an_encoder_says_how_to_get_one() -> None:
    info = TokenizerInfo.from_tokens([b"a", b"<end>"], eos_token_ids=[1])
    with pytest.raises(VocabularyError, match="with_encoder") as caught:
        info.encode("a")
    assert caught.value.code == "E-VOCAB-ENCODER"
    able = info.with_encoder(lambda text: [0] * len(text))
    assert able.encode("aa<end>a") == [0, 0, 1, 0]
    assert able.encode("aa<end>a", trusted=[(0, 6)]) == [0] * 8
    assert (able.vocab_size, able.eos_token_ids) == (info.vocab_size, info.eos_token_ids)


def test_an_encoder_that_reads_special_tokens_is_refused() -> None:
    info = byte_vocabulary(["<end>"]).with_encoder(lambda text: [256] if "nd" in text else [97] * len(text))
    with pytest.raises(VocabularyError) as caught:
        info.encode("the <end>", trusted=())
    assert caught.value.code == "E-VOCAB-CONTROL"


def test_what_is_truncated_or_padded_elsewhere_is_not_here() -> None:
    description = json.loads(TOKENIZERS["byte level"].to_str())
    tokenizer = Tokenizer.from_str(json.dumps(description))
    tokenizer.enable_truncation(2)
    tokenizer.enable_padding(length=64)
    assert of(tokenizer).encode("a b c d e") == INFOS["byte level"].encode("a b c d e")
    assert len(INFOS["byte level"].encode("a b c d e")) > 2
