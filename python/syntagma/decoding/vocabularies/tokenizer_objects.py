"""Vocabularies from the tokenizer objects of other libraries, and the self-test that refuses to guess."""

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
"""Plain text to token ids."""

# Spaces, letters of several bytes, an emoji, JSON, line breaks: where spellings differ.
_PROBES = ("Hello, world", "two  blanks", "Łódź 中文 🙂", "a\n\n\tb", '{"k": [1, -2.5e3, null]}')


def read_huggingface(tokenizer: Any, *, eos_token_ids: Sequence[int] | None = None) -> tuple[Tokens, str]:
    """The tokens of a fast `transformers` tokenizer, or of a `tokenizers.Tokenizer`; with its `tokenizer.json`.

    Raises:
        ArgumentTypeError: `E-VOCAB-TYPE`, it is neither.
        VocabularyError: as for `tokenizer.json`; `E-VOCAB-ROUNDTRIP` if the tokens do not spell what it encodes.
    """
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if not hasattr(backend, "to_str") or not hasattr(backend, "encode"):
        raise ArgumentTypeError(
            "E-VOCAB-TYPE",
            f"{type(tokenizer).__name__} is no fast tokenizer",
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
    """The tokens of a `tiktoken.Encoding`; the end of a turn is its `eot_token` unless given.

    Raises:
        ArgumentTypeError: `E-VOCAB-TYPE`, it is none.
        VocabularyError: `E-VOCAB-EOS`; `E-VOCAB-ROUNDTRIP` if the tokens do not spell what it encodes.
    """
    if not hasattr(encoding, "special_tokens_set") or not hasattr(encoding, "decode_single_token_bytes"):
        raise ArgumentTypeError("E-VOCAB-TYPE", f"{type(encoding).__name__} is no encoding of tiktoken")
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
    """The tokens of a SentencePiece model file; needs the `sentencepiece` library.

    Also what encodes text at the beginning, and text after a control token, where no space is put before it.

    Raises:
        VocabularyError: `E-VOCAB-DEPENDENCY` (the library is missing), `E-VOCAB-FILE`, `E-VOCAB-EOS` or
            `E-VOCAB-ROUNDTRIP`.
    """
    try:
        from sentencepiece import SentencePieceProcessor
    except ImportError:
        raise VocabularyError(
            "E-VOCAB-DEPENDENCY", "reading the file needs sentencepiece", hint="pip install sentencepiece"
        ) from None
    if not Path(path).is_file():
        raise VocabularyError("E-VOCAB-FILE", "there is no such file", source=str(path))
    try:
        model = SentencePieceProcessor(model_file=str(path))
    except (RuntimeError, OSError) as error:
        raise VocabularyError("E-VOCAB-FILE", f"is no SentencePiece model: {error}", source=str(path)) from error
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
    """The bytes of the tokens must spell what the tokenizer encodes; it may put one space before the text."""
    special = frozenset(tokens.special_token_ids)
    for probe in _PROBES:
        ids = list(encode(probe))
        if special.intersection(ids):
            continue  # a character that the vocabulary does not have
        spelled = b"".join(tokens.table[token_id] for token_id in ids)
        if spelled not in (probe.encode(), b" " + probe.encode()):
            raise VocabularyError(
                "E-VOCAB-ROUNDTRIP",
                f"{probe!r} is encoded to tokens that spell {spelled!r}",
                source=source,
                hint="the tokenizer changes text before it encodes; give the tokens with from_tokens",
            )
