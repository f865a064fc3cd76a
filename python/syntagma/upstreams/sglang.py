"""SGLang: `POST /generate` with token ids, and grammars as `ebnf` or `structural_tag`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import msgspec

from syntagma.decoding.upstream import Completion, EngineFacts, Piece, TextLogprob
from syntagma.errors import UpstreamError
from syntagma.upstreams.http import HttpUpstream, Reader, Request
from syntagma.upstreams.options import Forms, spelled

__all__ = ["SGLang"]

_NAMES = {
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "min_p": "min_p",
    "frequency_penalty": "frequency_penalty",
    "presence_penalty": "presence_penalty",
    "repetition_penalty": "repetition_penalty",
    "logit_bias": "logit_bias",
    "seed": "sampling_seed",
    "min_tokens": "min_new_tokens",
    "ignore_eos": "ignore_eos",
    "stop_token_ids": "stop_token_ids",
}
_FORMS: Forms = {
    "top_k": lambda most: most or -1,
    "logit_bias": lambda bias: {str(token): value for token, value in bias.items()},
    "seed": lambda seed: seed % 2**31,
}
# Constraint language → field of the request.
_FIELDS = {"xgrammar": "ebnf", "structural_tag": "structural_tag"}


class SGLang(HttpUpstream):
    """SGLang's own interface."""

    languages: ClassVar[tuple[str, ...]] = tuple(_FIELDS)
    takes_ids: ClassVar[bool] = True

    _sends_news = False
    """whether a chunk has only the new text; by default, SGLang sends the whole text each time"""

    async def describe(self) -> EngineFacts:
        """The model, from `/model_info`, and the way of streaming, from `/server_info`; see `Upstream.describe`."""
        model, server = await self._either("model_info"), await self._either("server_info")
        self._sends_news = bool(server.get("incremental_streaming_output", server.get("stream_output", False)))
        path = str(model.get("served_model_name") or model.get("model_path") or "model")
        self.model = self.model or path.rstrip("/").rpartition("/")[2]
        return EngineFacts(model_name=self.model, context_length=server.get("context_length"))

    async def _either(self, name: str) -> Mapping[str, Any]:
        """The answer of an endpoint, which older versions call `get_…`."""
        try:
            answer = await self.ask("GET", f"/{name}")
        except UpstreamError as error:
            if error.again or error.code != "E-UPSTREAM-REFUSED":
                raise
            answer = await self.ask("GET", f"/get_{name}")
        return answer if isinstance(answer, Mapping) else {}

    def request(self, asked: Completion) -> Request:
        """The body of `/generate`."""
        options: dict[str, Any] = {
            "max_new_tokens": asked.max_tokens,
            "stop": list(asked.stop),
            "skip_special_tokens": False,
            "spaces_between_special_tokens": False,
            **spelled(asked, _NAMES, _FORMS),
        }
        if asked.constraint is not None:
            source = asked.constraint.source
            text = source if isinstance(source, str) else msgspec.json.encode(source).decode()
            options[_FIELDS[asked.constraint.language]] = text
        prompt = {"text": asked.prompt} if isinstance(asked.prompt, str) else {"input_ids": list(asked.prompt)}
        body: dict[str, Any] = {**prompt, "sampling_params": options, "stream": True}
        if asked.logprobs is not None:
            body |= {"return_logprob": True, "top_logprobs_num": asked.logprobs, "return_text_in_logprobs": True}
        return Request("/generate", body)

    def reader(self, asked: Completion) -> Reader:
        """Reads the chunks of `/generate`, which contain the whole text so far or only the new text."""
        text, counted, sends_news, top = "", 0, self._sends_news, asked.logprobs or 0

        def read(chunk: Any) -> Iterator[Piece]:
            nonlocal text, counted
            meta = chunk["meta_info"]
            new = chunk["text"] if sends_news else chunk["text"].removeprefix(text)
            text = text + new if sends_news else chunk["text"]
            logprobs = list(_logprobs(meta, counted, top))
            counted += len(logprobs)
            reason = meta.get("finish_reason")
            if reason is not None and reason["type"] not in ("stop", "length"):
                raise ValueError(f"unknown finish reason {reason}")
            yield Piece(
                text=new,
                logprobs=tuple(logprobs),
                finish_reason=None if reason is None else reason["type"],
                prompt_tokens=meta.get("prompt_tokens"),
                completion_tokens=meta.get("completion_tokens"),
            )

        return read


def _logprobs(meta: Mapping[str, Any], counted: int, top: int) -> Iterator[TextLogprob]:
    """The log-probabilities of new tokens. The engine's list may contain all tokens or only the new ones."""
    tokens = meta.get("output_token_logprobs") or []
    tops = (meta.get("output_top_logprobs") if top else None) or [None] * len(tokens)
    known = counted if len(tokens) == meta.get("output_token_logprobs_length", len(tokens)) else 0
    for (logprob, _, text), likeliest in list(zip(tokens, tops, strict=True))[known:]:
        yield TextLogprob(
            data=text.encode(),
            logprob=logprob,
            top=tuple((other.encode(), value) for value, _, other in (likeliest or ())[:top]),
        )
