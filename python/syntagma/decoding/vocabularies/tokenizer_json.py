"""Reads vocabularies from Hugging Face's `tokenizer.json`, without their libraries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from syntagma import _engine
from syntagma.decoding.vocabularies.tokens import Tokens
from syntagma.errors import VocabularyError

__all__ = ["read_tokenizer_json", "tokens_of_json"]


def read_tokenizer_json(path: str | Path, *, eos_token_ids: Sequence[int] | None = None) -> Tokens:
    """Read a vocabulary.

    Without `eos_token_ids`, the tokens that end a turn are those named in `generation_config.json`, `config.json` or
    `tokenizer_config.json` in the same folder, the first that names any.

    Raises:
        VocabularyError: `E-VOCAB-FILE`, the file cannot be read; `E-VOCAB-MODEL`, its model is not supported;
            `E-VOCAB-TOKEN`, a token has a character outside of the spelling; `E-VOCAB-ROUNDTRIP`, merges contradict the
            spelling; `E-VOCAB-EOS`, no end-of-turn token is known.
    """
    path = Path(path)
    tokens = _tokens(_read(path), str(path), eos_token_ids or ())
    return tokens if eos_token_ids is not None else msgspec.structs.replace(tokens, eos_token_ids=_eos(path, tokens))


def tokens_of_json(text: str, *, source: str, eos_token_ids: Sequence[int]) -> Tokens:
    """Read a vocabulary from the text of a `tokenizer.json`. `source` is its name in errors."""
    return _tokens(text.encode(), source, eos_token_ids)


def _tokens(text: bytes, source: str, eos_token_ids: Sequence[int]) -> Tokens:
    try:
        table, special, added = _engine.read_tokenizer_json(text)
    except VocabularyError as error:
        error.source = source
        raise
    return Tokens(
        table=table,
        eos_token_ids=tuple(eos_token_ids),
        special_token_ids=tuple(special),
        added_token_ids=tuple(added),
    )


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise VocabularyError(
            "E-VOCAB-FILE",
            f"the file cannot be read: {error.strerror}",
            source=str(path),
            hint="give the path of a tokenizer.json",
        ) from error


def _eos(path: Path, tokens: Tokens) -> tuple[int, ...]:
    for name in ("generation_config.json", "config.json", "tokenizer_config.json"):
        config_path = path.with_name(name)
        if not config_path.is_file():
            continue
        config = _config(config_path)
        given = config.get("eos_token_id")
        if isinstance(given, int):
            return (given,)
        if isinstance(given, list) and given:
            return tuple(given)
        token = config.get("eos_token")
        text = token.get("content") if isinstance(token, dict) else token
        found = next(_named(tokens, text), None) if isinstance(text, str) and text else None
        if found is not None:
            return (found,)
    raise VocabularyError(
        "E-VOCAB-EOS",
        "no configuration file in the folder names an end-of-sequence token",
        source=str(path),
        hint="give eos_token_ids=[…]",
    )


def _named(tokens: Tokens, text: str) -> Iterator[int]:
    """The tokens with a text, added ones first."""
    data = text.encode("utf-8", "surrogatepass")
    return (
        token_id
        for ids in (tokens.added_token_ids, range(len(tokens.table)))
        for token_id in ids
        if tokens.table[token_id] == data
    )


def _config(path: Path) -> dict[str, Any]:
    try:
        data = msgspec.json.decode(_read(path))
    except msgspec.DecodeError as error:
        raise VocabularyError("E-VOCAB-FILE", f"the file is not JSON: {error}", source=str(path)) from error
    if not isinstance(data, dict):
        raise VocabularyError("E-VOCAB-FILE", "the file is not a JSON object", source=str(path))
    return data
