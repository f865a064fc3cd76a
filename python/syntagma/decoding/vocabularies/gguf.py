"""Reads vocabularies from a GGUF file's metadata (keys `tokenizer.ggml.*` of the GGUF specification)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from syntagma.decoding.vocabularies.token_bytes import TokenSpelling, byte_fallback, byte_level
from syntagma.decoding.vocabularies.tokens import Tokens
from syntagma.errors import VocabularyError
from syntagma.gguf import read_metadata

__all__ = ["read_gguf_tokens"]

_PREFIX = "tokenizer.ggml."
_SPELLINGS: dict[str, TokenSpelling] = {"gpt2": byte_level, "llama": byte_fallback}
_UNKNOWN, _CONTROL, _USER_DEFINED, _UNUSED = 2, 3, 4, 5
_EOS_KEYS = ("eos_token_id", "eot_token_id", "eom_token_id")


def read_gguf_tokens(path: str | Path, *, eos_token_ids: Sequence[int] | None = None) -> Tokens:
    """Read a vocabulary. `eos_token_ids`: the tokens that end a turn; None: those named in the file.

    Raises:
        ModelError: `E-MODEL-GGUF`, the file is not a GGUF file or is damaged.
        VocabularyError: `E-VOCAB-MODEL`, `E-VOCAB-TOKEN` or `E-VOCAB-EOS`, see `read_tokenizer_json`.
    """
    keys = [_PREFIX + key for key in ("model", "tokens", "token_type", *_EOS_KEYS)]
    metadata = read_metadata(path, keys)
    model = metadata.get(_PREFIX + "model")
    texts = metadata.get(_PREFIX + "tokens")
    spelling = _SPELLINGS.get(str(model))
    if texts is None or spelling is None:
        raise VocabularyError(
            "E-VOCAB-MODEL",
            f"vocabularies of model {model!r} are not supported",
            source=str(path),
            hint="supported: " + ", ".join(_SPELLINGS) + "; for others use from_tokens",
        )
    given = metadata.get(_PREFIX + "token_type")
    types = [int(kind) for kind in given] if given is not None else [1] * len(texts)
    table: list[bytes] = []
    for token_id, (text, kind) in enumerate(zip(texts, types, strict=True)):
        if kind == _UNUSED:
            table.append(b"")
        elif kind in (_UNKNOWN, _CONTROL, _USER_DEFINED):
            table.append(text.encode("utf-8", "surrogatepass"))
        elif (spelled := spelling(text)) is not None:
            table.append(spelled)
        else:
            raise VocabularyError(
                "E-VOCAB-TOKEN",
                f"token {token_id} ({text!r}) has a character outside of the byte alphabet",
                source=str(path),
            )
    named = (metadata.get(_PREFIX + key) for key in _EOS_KEYS)
    eos = tuple(eos_token_ids) if eos_token_ids is not None else tuple(dict.fromkeys(i for i in named if i is not None))
    if not eos and eos_token_ids is None:
        raise VocabularyError(
            "E-VOCAB-EOS", "the file names no end-of-sequence token", source=str(path), hint="give eos_token_ids=[…]"
        )
    return Tokens(
        table=table,
        eos_token_ids=eos,
        special_token_ids=tuple(i for i, kind in enumerate(types) if kind in (_UNKNOWN, _CONTROL)),
        added_token_ids=tuple(i for i, kind in enumerate(types) if kind in (_CONTROL, _USER_DEFINED)),
    )
