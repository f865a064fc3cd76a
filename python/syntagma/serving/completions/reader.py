"""Requests of `/v1/completions` as inner requests."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from starlette.responses import Response

from syntagma.serving.answer_fields import prompt_logprobs_of
from syntagma.serving.body import bad_field, bounded, decode_body, over_limit, typed_body, unread_fields, unsupported
from syntagma.serving.completions.wire import CompletionRequest
from syntagma.serving.completions.writer import CompletionsWriter
from syntagma.serving.constraint_fields import response_format_of
from syntagma.serving.dialect import Asked
from syntagma.serving.errors import error_response
from syntagma.serving.inner import InnerRequest
from syntagma.serving.known_members import CONSTRAINTS
from syntagma.serving.resolving import resolved
from syntagma.serving.sampling_fields import OPTION_PLACES, generation_options
from syntagma.serving.settings import Settings

__all__ = ["CompletionsDialect"]

_DEFAULT_TOKENS: Final = 16
"""OpenAI's default"""
_PLACES: Final = {**OPTION_PLACES, "/messages": "/prompt"}
"""pointers in chat completions → pointers in the request, see `placed`"""


class CompletionsDialect:
    """`POST /v1/completions`."""

    def read(self, body: bytes, settings: Settings) -> Asked:
        """See `Dialect`.

        Raises:
            RequestError: `E-REQUEST-JSON`, `E-REQUEST-FIELD`, `E-REQUEST-LIMIT`, `E-REQUEST-UNSUPPORTED`,
                `E-REQUEST-RESPONSE-FORMAT`.
        """
        data = decode_body(body)
        request = typed_body(data, CompletionRequest)
        _refuse_unsupported(request)
        limits = settings.limits
        most = _DEFAULT_TOKENS if request.max_tokens is None else request.max_tokens
        if most < (0 if request.echo else 1):
            raise bad_field("/max_tokens", f"must be at least 1, or 0 with echo, not {most}")
        top = bounded("logprobs", request.logprobs, 0, 0, limits.server_top_logprobs)
        prompt, *more = _prompts(request.prompt)
        n = bounded("n", request.n, 1, 1, limits.server_n)
        if len(more) >= limits.server_prompts:
            raise over_limit("/prompt", 1 + len(more), limits.server_prompts, "prompts")
        inner = InnerRequest(
            model=request.model,
            messages=[],
            prompt=prompt,
            more_prompts=tuple(more),
            echo=request.echo is True,
            resolved=resolved((), settings, _PLACES, shape=response_format_of(request)),
            options=generation_options(
                request,
                settings,
                # An engine writes at least one token.
                max_tokens=max(most, 1),
                logprobs=None if request.logprobs is None else top,
                explain=request.explain,
            ),
            n=n,
            return_token_ids=request.return_token_ids is True,
            places=_PLACES,
            prompt_logprobs=prompt_logprobs_of(request, settings, stream=request.stream),
        )
        writer = partial(
            CompletionsWriter,
            wants_ids=inner.return_token_ids,
            wants_logprobs=request.logprobs is not None,
            with_usage=request.stream_options is not None and request.stream_options.include_usage is True,
            n=n,
            only_echo=not most,
        )
        return Asked(inner, request.stream is True, writer, tuple(unread_fields(data, CompletionRequest, CONSTRAINTS)))

    def refuse(self, error: BaseException) -> Response:
        """See `Dialect`."""
        return error_response(error)


def _refuse_unsupported(request: CompletionRequest) -> None:
    if request.suffix:
        raise unsupported("/suffix", "is not supported")
    if request.thinking_token_budget is not None:
        raise unsupported("/thinking_token_budget", "in plain text, nothing is known to be reasoning")
    if request.best_of is not None and request.best_of != (request.n or 1):
        raise unsupported("/best_of", "must be n: all texts that are written are given")


def _prompts(given: str | list[Any]) -> list[str | tuple[int, ...]]:
    """The prompts of a request: a text, token ids, or a list of either."""
    is_list = isinstance(given, list) and not all(isinstance(token, int) for token in given)
    prompts = given if is_list else [given]
    for index, prompt in enumerate(prompts):
        pointer = f"/prompt/{index}" if is_list else "/prompt"
        if not prompt:
            raise bad_field(pointer, "must not be empty")
        if isinstance(prompt, int):
            raise bad_field(pointer, "must be a text or a list of token ids, as the others are")
    return [prompt if isinstance(prompt, str) else tuple(prompt) for prompt in prompts]
