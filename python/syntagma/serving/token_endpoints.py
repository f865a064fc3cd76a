"""Endpoints that show prompts and tokens: `/tokenize`, `/detokenize`, `/apply-template`.

Requests and answers are those of vLLM (`/tokenize`, `/detokenize`) and llama.cpp (`/apply-template`).
"""

from __future__ import annotations

from typing import Any

import msgspec

from syntagma.decoding import TokenizerInfo
from syntagma.errors import VocabularyError
from syntagma.serving.body import bad_field, typed_body, unsupported
from syntagma.serving.model import ServedModel

__all__ = ["DetokenizeRequest", "TokenizeRequest", "Tokens", "detokenized", "tokenized", "vocabulary_of"]


class TokenizeRequest(msgspec.Struct, kw_only=True):
    """A text. With `messages` instead, the body is a request of `/v1/chat/completions`."""

    prompt: str
    model: str | None = None
    add_special_tokens: bool | None = None
    return_token_strs: bool | None = None


class DetokenizeRequest(msgspec.Struct, kw_only=True):
    """Token ids."""

    tokens: list[int]
    model: str | None = None


class Tokens(msgspec.Struct, kw_only=True):
    """The answer of `/tokenize`."""

    count: int
    max_model_len: int | None
    tokens: list[int]
    token_strs: list[str] | None = None


def vocabulary_of(served: ServedModel) -> TokenizerInfo:
    """The vocabulary of a model.

    Raises:
        RequestError: `E-REQUEST-UNSUPPORTED`, the vocabulary of a running engine is unknown here.
    """
    info = served.engine.tokenizer_info
    if info is None:
        raise unsupported("/model", "the vocabulary of the engine is not known here")
    return info


def tokenized(ids: list[int], served: ServedModel, *, with_texts: bool) -> Tokens:
    """The answer of `/tokenize`."""
    info = vocabulary_of(served)
    return Tokens(
        count=len(ids),
        max_model_len=getattr(served.engine, "context_length", None),
        tokens=ids,
        token_strs=[info.token_bytes(token).decode("utf-8", "replace") for token in ids] if with_texts else None,
    )


def detokenized(data: dict[str, Any], served: ServedModel) -> dict[str, str]:
    """The answer of `/detokenize`.

    Raises:
        RequestError: `E-REQUEST-FIELD`, a token is not in the vocabulary.
    """
    request = typed_body(data, DetokenizeRequest)
    info = vocabulary_of(served)
    for index, token in enumerate(request.tokens):
        if not 0 <= token < info.vocab_size:
            raise bad_field(f"/tokens/{index}", f"the vocabulary has {info.vocab_size} tokens, and no {token}")
    try:
        return {"prompt": info.decode(request.tokens).decode("utf-8", "replace")}
    except VocabularyError as error:
        raise bad_field("/tokens", error.message) from error
