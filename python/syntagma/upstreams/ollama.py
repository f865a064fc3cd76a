"""Ollama: `POST /api/generate` in raw mode. It enforces simple JSON Schemas, and no other grammars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from syntagma.decoding.upstream import Completion, Constraint, EngineFacts, Piece, TextLogprob
from syntagma.errors import UpstreamError
from syntagma.upstreams.http import HttpUpstream, Reader, Request
from syntagma.upstreams.options import spelled

__all__ = ["Ollama"]

_NAMES = {
    name: name for name in ("temperature", "top_p", "top_k", "min_p", "frequency_penalty", "presence_penalty", "seed")
} | {"repetition_penalty": "repeat_penalty"}
_WHOLE = -1
"""no bound but the context, for options that are numbers of tokens"""
# The keywords of a schema that Ollama enforces completely. It ignores others, or enforces them only in part.
_PLAIN = {"type", "required", "minItems", "maxItems", "enum", "const", "$ref", "minLength", "maxLength"}
_SCHEMAS = {"items", "additionalProperties"}
_LISTS = {"anyOf"}
_TABLES = {"properties", "$defs", "definitions"}
_BOUNDS = {"minimum", "maximum"}
"""only for integers"""
_REMARKS = {"title", "description", "default", "examples", "deprecated", "$schema", "$id", "$comment"}
_HELD = _PLAIN | _SCHEMAS | _LISTS | _TABLES | _REMARKS


class Ollama(HttpUpstream):
    """Ollama's own interface. A prompt that is longer than the context is rejected, not cut."""

    languages: ClassVar[tuple[str, ...]] = ("json_schema",)
    health_path: ClassVar[str] = "/api/version"

    def holds(self, constraint: Constraint) -> bool:
        """Whether a schema has only keywords that Ollama enforces completely."""
        return _is_held(constraint.source)

    async def describe(self) -> EngineFacts:
        """The model, from `/api/tags`, and its context, from `/api/show`. Ollama's templates are not Jinja."""
        if self.model is None:
            known = [one["name"] for one in (await self.ask("GET", "/api/tags"))["models"]]
            if len(known) != 1:
                raise UpstreamError(
                    "E-UPSTREAM-MODEL",
                    f"the engine has {len(known)} models",
                    hint=f"name one after its URL, as #{next(iter(known), 'NAME')}",
                    source=self.address,
                )
            (self.model,) = known
        shown = await self.ask("POST", "/api/show", {"model": self.model})
        facts = shown.get("model_info") or {}
        length = next((value for name, value in facts.items() if name.endswith(".context_length")), None)
        return EngineFacts(model_name=self.model, context_length=length)

    def request(self, asked: Completion) -> Request:
        """The body of `/api/generate`."""
        body: dict[str, Any] = {
            "model": self.model,
            "prompt": asked.prompt,
            "raw": True,
            "stream": True,
            # If a prompt or text does not fit, it must fail, not be cut at its beginning.
            "truncate": False,
            "shift": False,
            "options": {
                "num_predict": _WHOLE if asked.max_tokens is None else asked.max_tokens,
                "repeat_last_n": _WHOLE,
                "stop": list(asked.stop),
                **spelled(asked, _NAMES),
            },
        }
        if asked.constraint is not None:
            body["format"] = asked.constraint.source
        if asked.logprobs is not None:
            body |= {"logprobs": True, "top_logprobs": asked.logprobs}
        return Request("/api/generate", body)

    def reader(self, asked: Completion) -> Reader:
        """Reads the lines of `/api/generate`."""
        top = asked.logprobs or 0

        def read(line: Any) -> Iterator[Piece]:
            reason = None
            if line["done"]:
                reason = "length" if line.get("done_reason") == "length" else "stop"
            yield Piece(
                text=line.get("response", ""),
                logprobs=tuple(_logprob(one, top) for one in line.get("logprobs") or ()),
                finish_reason=reason,  # type: ignore[arg-type]
                prompt_tokens=line.get("prompt_eval_count"),
                completion_tokens=line.get("eval_count"),
            )

        return read


def _logprob(one: Mapping[str, Any], top: int) -> TextLogprob:
    return TextLogprob(
        data=_bytes(one),
        logprob=one["logprob"],
        top=tuple((_bytes(other), other["logprob"]) for other in (one.get("top_logprobs") or ())[:top]),
    )


def _bytes(token: Mapping[str, Any]) -> bytes:
    return bytes(token["bytes"]) if token.get("bytes") else str(token["token"]).encode()


def _is_held(schema: Any) -> bool:
    """Whether Ollama enforces a schema completely, in all its parts."""
    if isinstance(schema, bool):
        return schema
    known = _HELD | _BOUNDS if schema.get("type") == "integer" else _HELD
    return known >= schema.keys() and all(map(_is_held, _parts(schema)))


def _parts(schema: Mapping[str, Any]) -> Iterator[Any]:
    for name, value in schema.items():
        if name == "additionalProperties" and value is False:
            continue
        if name in _SCHEMAS:
            yield value
        elif name in _LISTS:
            yield from value
        elif name in _TABLES:
            yield from value.values()
