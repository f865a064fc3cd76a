"""vLLM: `POST /v1/completions` with `structured_outputs`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec

from syntagma.decoding.upstream import Completion, Constraint
from syntagma.upstreams.http import Request
from syntagma.upstreams.openai_completions import OpenAICompletions
from syntagma.upstreams.options import Forms

__all__ = ["VLLM"]

_SEEDS = 2**63
# Constraint language → field of the request.
_FIELDS = {"xgrammar": "grammar", "structural_tag": "structural_tag"}


class VLLM(OpenAICompletions):
    """vLLM's server, with its default backend for structured outputs."""

    languages: ClassVar[tuple[str, ...]] = tuple(_FIELDS)
    takes_ids: ClassVar[bool] = True
    health_path: ClassVar[str] = "/health"
    names: ClassVar[Mapping[str, str]] = {
        **OpenAICompletions.names,
        "top_k": "top_k",
        "min_p": "min_p",
        "repetition_penalty": "repetition_penalty",
        "allowed_token_ids": "allowed_token_ids",
        "min_tokens": "min_tokens",
        "ignore_eos": "ignore_eos",
        "stop_token_ids": "stop_token_ids",
        "excluded": "bad_words",
    }
    forms: ClassVar[Forms] = {**OpenAICompletions.forms, "seed": lambda seed: seed % _SEEDS}

    def tokenizing(self, text: str) -> Request:
        """The body of `/tokenize`."""
        return Request("/tokenize", {"model": self.model, "prompt": text, "add_special_tokens": False})

    def request(self, asked: Completion) -> Request:
        """The body of `/v1/completions`, with vLLM's further fields."""
        path, body = super().request(asked)
        body |= {
            "stop": list(asked.stop),
            # The template already writes the first token, and the parser needs the markers.
            "add_special_tokens": False,
            "skip_special_tokens": False,
            "spaces_between_special_tokens": False,
        }
        if asked.constraint is not None:
            body["structured_outputs"] = {_FIELDS[asked.constraint.language]: _source(asked.constraint)}
        return Request(path, body)


def _source(constraint: Constraint) -> Any:
    """The constraint as text, in any language."""
    source = constraint.source
    return source if isinstance(source, str) else msgspec.json.encode(source).decode()
