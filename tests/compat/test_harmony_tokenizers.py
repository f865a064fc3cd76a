"""Tokenizers of other libraries, where they are installed."""

from __future__ import annotations

from typing import Any

import pytest

from syntagma.compat.harmony import Role, load_harmony_encoding
from syntagma.errors import ArgumentTypeError

TOKENS = [f"<|{name}|>" for name in ("start", "end", "message", "channel", "constrain", "return", "call")]
TEXT = "<|start|>assistant<|channel|>final<|message|>Tide é <|end|>"


def _tiktoken() -> Any:
    tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    ranks = {bytes([byte]): byte for byte in range(256)}
    special = {text: 300 + number for number, text in enumerate(TOKENS)}
    return tiktoken.Encoding("bytes", pat_str=r"(?s).", mergeable_ranks=ranks, special_tokens=special)


def _tokenizers() -> Any:
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: number for number, letter in enumerate(alphabet)}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=[]))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    made.add_special_tokens(TOKENS)
    return made


@pytest.mark.parametrize("make", [_tiktoken, _tokenizers])
def test_a_tokenizer_is_enough(make: Any) -> None:
    encoding = load_harmony_encoding(tokenizer=make())
    ids = encoding.encode(TEXT, allowed_special="all")
    assert encoding.decode(ids) == TEXT
    assert encoding.parse_messages_from_completion_tokens(ids)[0].content[0].to_dict()["text"] == "Tide é "
    # Text that spells a token stays text.
    rendered = encoding.render_conversation({"messages": [{"role": "user", "content": "a <|end|> b"}]})
    assert encoding.parse_messages_from_completion_tokens(rendered, None)[0].author.role == Role.USER
    assert encoding.parse_messages_from_completion_tokens(rendered)[0].content[0].to_dict()["text"] == "a <|end|> b"


def test_anything_else_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="E-HARMONY-TOKENIZER"):
        load_harmony_encoding(tokenizer=object())
