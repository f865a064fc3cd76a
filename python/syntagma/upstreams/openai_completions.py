"""Any server with OpenAI's `POST /v1/completions`. Nothing more is assumed, so it enforces no grammars."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, Literal

from syntagma.decoding.upstream import Completion, EngineFacts, Piece, TextLogprob
from syntagma.errors import UpstreamError
from syntagma.upstreams.http import HttpUpstream, Reader, Request
from syntagma.upstreams.options import Forms, spelled

__all__ = ["OpenAICompletions"]

_MOST_STOPS = 4
"""number of stop strings that the protocol allows; `syntagma.generation` finds the others"""
_REASONS: dict[str, Literal["stop", "length"]] = {"stop": "stop", "length": "length", "eos_token": "stop"}


class OpenAICompletions(HttpUpstream):
    """A server with OpenAI's text completions."""

    health_path: ClassVar[str] = "/v1/models"
    names: ClassVar[Mapping[str, str]] = {
        "temperature": "temperature",
        "top_p": "top_p",
        "frequency_penalty": "frequency_penalty",
        "presence_penalty": "presence_penalty",
        "logit_bias": "logit_bias",
        "seed": "seed",
    }
    """our name of an option → the server's name"""
    forms: ClassVar[Forms] = {"logit_bias": lambda bias: {str(token): value for token, value in bias.items()}}

    context_length: int | None = None
    """largest number of tokens of prompt and answer together, once known"""

    async def describe(self) -> EngineFacts:
        """The model, if there is only one, and on some servers its context, from `/v1/models`."""
        answer = await self.ask("GET", "/v1/models")
        models = {one["id"]: one for one in answer["data"]}
        if self.model is None and len(models) != 1:
            raise UpstreamError(
                "E-UPSTREAM-MODEL",
                f"the engine has {len(models)} models",
                hint=f"name one after its URL, as #{next(iter(models), 'NAME')}",
                source=self.address,
            )
        self.model = self.model or next(iter(models))
        self.context_length = models.get(self.model, {}).get("max_model_len")
        return EngineFacts(model_name=self.model, context_length=self.context_length)

    def request(self, asked: Completion) -> Request:
        """The body of `/v1/completions`."""
        body: dict[str, Any] = {
            "model": self.model,
            "prompt": asked.prompt,
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": self._most(asked),
            "stop": list(asked.stop[:_MOST_STOPS]),
            **spelled(asked, self.names, self.forms),
        }
        if asked.logprobs is not None:
            body["logprobs"] = asked.logprobs
        return Request("/v1/completions", body)

    def _most(self, asked: Completion) -> int | None:
        """The bound on tokens, reduced to the context, because servers reject larger ones."""
        if asked.max_tokens is None or self.context_length is None:
            return asked.max_tokens
        return min(asked.max_tokens, self.context_length)

    def reader(self, asked: Completion) -> Reader:
        """Reads the chunks of `/v1/completions`."""
        return functools.partial(_read, top=asked.logprobs or 0)


def _read(chunk: Any, top: int) -> Iterator[Piece]:
    usage = chunk.get("usage") or {}
    for choice in chunk["choices"]:
        reason = choice.get("finish_reason")
        if reason is not None and reason not in _REASONS:
            raise ValueError(f"unknown finish reason {reason!r}")
        yield Piece(
            text=choice["text"],
            logprobs=tuple(_logprobs(choice.get("logprobs") or {}, top)),
            finish_reason=None if reason is None else _REASONS[reason],
        )
    if usage:
        yield Piece(prompt_tokens=usage["prompt_tokens"], completion_tokens=usage["completion_tokens"])


def _logprobs(given: Mapping[str, Any], most: int) -> Iterable[TextLogprob]:
    tokens = given.get("tokens") or ()
    tops = given.get("top_logprobs") or [None] * len(tokens)
    for token, logprob, top in zip(tokens, given.get("token_logprobs") or (), tops, strict=True):
        # The list may contain the chosen token in addition to the requested number.
        likeliest = sorted((top or {}).items(), key=lambda one: -one[1])[:most]
        yield TextLogprob(
            data=token.encode(), logprob=logprob or 0.0, top=tuple((text.encode(), value) for text, value in likeliest)
        )
