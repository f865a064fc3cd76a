"""Endpoints that show prompts and tokens: `/tokenize`, `/detokenize`, `/apply-template`.

Requests and answers are those of vLLM (`/tokenize`, `/detokenize`) and llama.cpp (`/apply-template`).
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from syntagma.codec import Turn
from syntagma.decoding import TokenizerInfo
from syntagma.errors import VocabularyError
from syntagma.serving.body import bad_field, typed_body, unsupported
from syntagma.serving.model import ServedModel

__all__ = ["DetokenizeRequest", "TokenizeRequest", "Tokens", "detokenized", "encoded", "tokenized", "vocabulary_of"]


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


_WITH_VOCABULARY: Final = "start the server with --upstream and --model FOLDER, the folder or GGUF file of its model"


def vocabulary_of(served: ServedModel) -> TokenizerInfo:
    """The vocabulary of a model.

    Raises:
        RequestError: `E-REQUEST-UNSUPPORTED`, the vocabulary of a running engine is unknown here.
    """
    info = served.engine.tokenizer_info
    if info is None:
        raise unsupported("/model", "the vocabulary of the engine is not known here", hint=_WITH_VOCABULARY)
    return info


def tokenized(ids: list[int], served: ServedModel, *, with_texts: bool) -> Tokens:
    """The answer of `/tokenize`."""
    texts = None
    if with_texts:
        info = vocabulary_of(served)
        texts = [info.token_bytes(token).decode("utf-8", "replace") for token in ids]
    length = getattr(served.engine, "context_length", None)
    return Tokens(count=len(ids), max_model_len=length, tokens=ids, token_strs=texts)


def encoded(served: ServedModel, prompt: Turn | str) -> list[int]:
    """The token ids of a turn's prompt, or of a text, by the vocabulary, or else by the engine.

    Raises:
        RequestError: `E-REQUEST-UNSUPPORTED`, neither is known.
        UpstreamError: the engine failed.
    """
    if served.engine.tokenizer_info is None:
        ids = served.ask_tokens(prompt if isinstance(prompt, str) else str(prompt.prompt_text()))
        if ids is not None:
            return ids
    info = vocabulary_of(served)
    return info.encode(prompt) if isinstance(prompt, str) else prompt.prompt_ids(info)


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
