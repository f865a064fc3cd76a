"""`/v1/chat/completions/render` and `/derender`: the request to an engine, and the answer from its tokens.

Requests and answers are vLLM's, whose `/inference/v1/generate` comes between the two. `prompt` is added to vLLM's
answer: the text of the token ids.
"""

from __future__ import annotations

import secrets
from typing import Any, Final, Literal

import msgspec

from syntagma.codec import Turn
from syntagma.decoding.upstream import TextLogprob
from syntagma.errors import VocabularyError
from syntagma.generation import GenerationOptions, Metrics
from syntagma.generation.remote import completion_of
from syntagma.parsing import StreamParser
from syntagma.serving.body import bad_field, unsupported
from syntagma.serving.dialect import Writer
from syntagma.serving.inner import Began, Ended, Wrote
from syntagma.serving.model import ServedModel
from syntagma.serving.token_endpoints import vocabulary_of
from syntagma.upstreams.vllm import VLLM

__all__ = ["DerenderRequest", "GenerateChoice", "GenerateRequest", "GenerateResponse", "derendered", "rendered"]

_ENGINE: Final = VLLM("http://localhost")
"""never called: it knows how vLLM spells options and constraints"""
_ELSEWHERE: Final = ("prompt", "model", "stream", "stream_options", "add_special_tokens")
"""fields that vLLM's request for tokens has outside its sampling parameters, or not at all"""


class GenerateRequest(msgspec.Struct, kw_only=True):
    """The answer of `/v1/chat/completions/render`: a request for tokens."""

    request_id: str
    token_ids: list[int]
    features: None = None
    sampling_params: dict[str, Any]
    model: str
    stream: bool
    prompt: str


class GenerateChoice(msgspec.Struct, kw_only=True):
    """The tokens of one answer."""

    token_ids: list[int]
    index: int = 0
    finish_reason: str | None = None
    logprobs: Any = None


class GenerateResponse(msgspec.Struct, kw_only=True):
    """The answers of an engine."""

    choices: list[GenerateChoice]
    request_id: str | None = None
    prompt_logprobs: Any = None
    kv_transfer_params: Any = None


class DerenderRequest(msgspec.Struct, kw_only=True):
    """Body of `POST /v1/chat/completions/derender`; `chat_request` is the request that was rendered."""

    generate_response: GenerateResponse
    model: str | None = None
    prompt_tokens: int | None = None
    chat_request: dict[str, Any] | None = None
    stream: bool | None = None


def rendered(turn: Turn, options: GenerationOptions, served: ServedModel, *, stream: bool) -> GenerateRequest:
    """The request for tokens, with the turn's constraint as vLLM's `structured_outputs`.

    Raises:
        RequestError: `E-REQUEST-UNSUPPORTED`, the vocabulary of the engine is unknown here.
        UpstreamError: `E-UPSTREAM-CONSTRAINT`, vLLM cannot be held to the constraint; `E-UPSTREAM-OPTION`, vLLM lacks
            an option.
    """
    body = _ENGINE.request(completion_of(_ENGINE, turn, options)).body
    return GenerateRequest(
        request_id=f"chatcmpl-{secrets.token_hex(12)}",
        token_ids=turn.prompt_ids(vocabulary_of(served)),
        sampling_params={name: value for name, value in body.items() if name not in _ELSEWHERE},
        model=served.name,
        stream=stream,
        prompt=str(turn.prompt),
    )


def derendered(asked: DerenderRequest, turn: Turn, served: ServedModel, writer: Writer) -> dict[str, Any]:
    """The chat completion made from the tokens of an engine.

    Args:
        asked: the request.
        turn: the turn that they answer.
        served: the model whose vocabulary they belong to.
        writer: writes the completion.

    Raises:
        RequestError: `E-REQUEST-FIELD`, there are no tokens, or one that is not in the vocabulary;
            `E-REQUEST-UNSUPPORTED`.
    """
    if asked.stream:
        raise unsupported("/stream", "an answer is made of all its tokens at once")
    if not asked.generate_response.choices:
        raise bad_field("/generate_response/choices", "must have at least one choice")
    for number, choice in enumerate(asked.generate_response.choices):
        pointer = f"/generate_response/choices/{number}"
        if not choice.token_ids:
            raise bad_field(f"{pointer}/token_ids", "must have at least one token")
        parser = turn.parser()
        _read(choice, parser, turn, served, pointer)
        metrics = Metrics(prompt_tokens=asked.prompt_tokens or 0, completion_tokens=len(choice.token_ids))
        nothing: tuple[TextLogprob, ...] = ()
        writer.whole(Began(choice.index, metrics.prompt_tokens))
        writer.whole(Wrote(choice.index, (), nothing))
        writer.whole(Ended(choice.index, parser.finish_reason or "stop", parser.message, metrics))
    answer = msgspec.json.decode(writer.body())
    return {**answer, "id": asked.generate_response.request_id or answer["id"]}


def _read(choice: GenerateChoice, parser: StreamParser, turn: Turn, served: ServedModel, pointer: str) -> None:
    """Give the tokens to a parser. The token that ended the turn is left out, unless it is a marker of the format."""
    info = vocabulary_of(served)
    for number, token in enumerate(choice.token_ids):
        if not 0 <= token < info.vocab_size:
            message = f"the vocabulary has {info.vocab_size} tokens, and no {token}"
            raise bad_field(f"{pointer}/token_ids/{number}", message)
    reason: Literal["length", "stop"] = "length" if choice.finish_reason == "length" else "stop"
    ids = choice.token_ids
    if ids[-1] in info.eos_token_ids and _text(info.token_bytes(ids[-1])) not in turn.preserved_tokens:
        ids = ids[:-1]
    try:
        parser.feed_tokens(ids, info)
    except VocabularyError as error:
        raise bad_field(f"{pointer}/token_ids", error.message) from error
    parser.finish(reason)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
