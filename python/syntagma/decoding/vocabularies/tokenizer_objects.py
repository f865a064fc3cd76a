"""Reads vocabularies from tokenizer objects of other libraries, and checks them against the tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from syntagma.decoding.vocabularies.sentencepiece_model import USER_DEFINED, piece_types, without_leading_space
from syntagma.decoding.vocabularies.token_bytes import byte_fallback
from syntagma.decoding.vocabularies.tokenizer_json import tokens_of_json
from syntagma.decoding.vocabularies.tokens import Tokens
from syntagma.errors import ArgumentTypeError, VocabularyError

__all__ = ["read_huggingface", "read_sentencepiece", "read_tiktoken"]

EncodeText: TypeAlias = Callable[[str], Sequence[int]]
"""a function from plain text to token ids"""

# Texts for which spellings differ: spaces, letters of several bytes, an emoji, JSON, line breaks.
_PROBES = ("Hello, world", "two  blanks", "Łódź 中文 🙂", "a\n\n\tb", '{"k": [1, -2.5e3, null]}')


def read_huggingface(tokenizer: Any, *, eos_token_ids: Sequence[int] | None = None) -> tuple[Tokens, str]:
    """The tokens of a fast `transformers` tokenizer or a `tokenizers.Tokenizer`, and the text of its `tokenizer.json`.

    Raises:
        ArgumentTypeError: `E-VOCAB-TYPE`, the object is neither.
        VocabularyError: see `read_tokenizer_json`; `E-VOCAB-ROUNDTRIP`, decoded tokens differ from the encoded text.
    """
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if not hasattr(backend, "to_str") or not hasattr(backend, "encode"):
        raise ArgumentTypeError(
            "E-VOCAB-TYPE",
            f"{type(tokenizer).__name__} is not a fast tokenizer",
            hint="load it with use_fast=True, or give the file with from_tokenizer_json or from_sentencepiece",
        )
    eos = eos_token_ids if eos_token_ids is not None else _ids(getattr(tokenizer, "eos_token_id", None))
    if not eos and eos_token_ids is None:
        raise _no_eos("the tokenizer")
    description: str = backend.to_str()
    tokens = tokens_of_json(description, source=type(tokenizer).__name__, eos_token_ids=eos)
    _self_test(tokens, lambda text: backend.encode(text, add_special_tokens=False).ids, type(tokenizer).__name__)
    return tokens, description


def read_tiktoken(encoding: Any, *, eos_token_ids: Sequence[int] | None = None) -> Tokens:
    """The tokens of a `tiktoken.Encoding`. `eos_token_ids`: the tokens that end a turn; None: its `eot_token`.

    Raises:
        ArgumentTypeError: `E-VOCAB-TYPE`, the object is not an encoding of tiktoken.
        VocabularyError: `E-VOCAB-EOS`, it has no end-of-turn token; `E-VOCAB-ROUNDTRIP`, decoded tokens differ from the
            encoded text.
    """
    if not hasattr(encoding, "special_tokens_set") or not hasattr(encoding, "decode_single_token_bytes"):
        raise ArgumentTypeError("E-VOCAB-TYPE", f"{type(encoding).__name__} is not an encoding of tiktoken")
    special = {encoding.encode_single_token(text): text for text in encoding.special_tokens_set}
    table = []
    for token_id in range(encoding.n_vocab):
        try:
            table.append(encoding.decode_single_token_bytes(token_id))
        except KeyError:
            table.append(b"")
    if eos_token_ids is None:
        try:
            eos_token_ids = (encoding.eot_token,)
        except KeyError:
            raise _no_eos("the encoding") from None
    tokens = Tokens(
        table=table,
        eos_token_ids=tuple(eos_token_ids),
        special_token_ids=tuple(sorted(special)),
        added_token_ids=tuple(sorted(special)),
    )
    _self_test(tokens, encoding.encode_ordinary, encoding.name)
    return tokens


def read_sentencepiece(
    path: str | Path, *, eos_token_ids: Sequence[int] | None = None
) -> tuple[Tokens, EncodeText, EncodeText]:
    """The tokens of a SentencePiece model file, and two functions that encode text. Needs the library `sentencepiece`.

    The first function is for text at the beginning. The second is for text after a control token, and adds no space.

    Raises:
        VocabularyError: `E-VOCAB-DEPENDENCY`, the library is missing; `E-VOCAB-FILE`, the file cannot be read;
            `E-VOCAB-EOS`, it has no end-of-turn token; `E-VOCAB-ROUNDTRIP`, decoded tokens differ from the encoded
            text.
    """
    try:
        from sentencepiece import SentencePieceProcessor
    except ImportError:
        raise VocabularyError(
            "E-VOCAB-DEPENDENCY", "the library sentencepiece is missing", hint="pip install sentencepiece"
        ) from None
    if not Path(path).is_file():
        raise VocabularyError("E-VOCAB-FILE", "the file does not exist", source=str(path))
    try:
        model = SentencePieceProcessor(model_file=str(path))
    except (RuntimeError, OSError) as error:
        raise VocabularyError("E-VOCAB-FILE", f"not a SentencePiece model: {error}", source=str(path)) from error
    proto: bytes = model.serialized_model_proto()
    types = piece_types(proto)
    table, special = [], []
    for token_id in range(model.get_piece_size()):
        piece = model.id_to_piece(token_id)
        if model.is_control(token_id) or model.is_unknown(token_id):
            special.append(token_id)
            table.append(piece.encode())
        else:
            table.append(b"" if model.is_unused(token_id) else byte_fallback(piece))
    if eos_token_ids is None:
        if model.eos_id() < 0:
            raise _no_eos("the model", str(path))
        eos_token_ids = (model.eos_id(),)
    tokens = Tokens(
        table=table,
        eos_token_ids=tuple(eos_token_ids),
        special_token_ids=tuple(special),
        added_token_ids=tuple(sorted({*special, *(i for i, kind in enumerate(types) if kind == USER_DEFINED)})),
    )
    _self_test(tokens, model.encode, str(path))
    later = SentencePieceProcessor(model_proto=without_leading_space(proto))
    return tokens, model.encode, later.encode


def _ids(value: object) -> tuple[int, ...]:
    if isinstance(value, int):
        return (value,)
    return tuple(value) if isinstance(value, list | tuple) else ()


def _no_eos(what: str, source: str | None = None) -> VocabularyError:
    return VocabularyError(
        "E-VOCAB-EOS", f"{what} names no end-of-sequence token", source=source, hint="give eos_token_ids=[…]"
    )


def _self_test(tokens: Tokens, encode: Callable[[str], Sequence[int]], source: str) -> None:
    """Check that encoding and decoding give the same text. The tokenizer may add one space before it."""
    special = frozenset(tokens.special_token_ids)
    for probe in _PROBES:
        ids = list(encode(probe))
        if special.intersection(ids):
            continue  # the vocabulary lacks a character
        spelled = b"".join(tokens.table[token_id] for token_id in ids)
        if spelled not in (probe.encode(), b" " + probe.encode()):
            raise VocabularyError(
                "E-VOCAB-ROUNDTRIP",
                f"{probe!r} is encoded to tokens that decode to {spelled!r}",
                source=source,
                hint="the tokenizer changes text before encoding it; give the tokens with from_tokens",
            )
