"""The wire formats of engines, as far as they are used."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any, ClassVar

import syntagma as sg
from syntagma import upstreams
from tests.upstreams.mock import PLAIN, Wire

__all__ = ["CODEC", "REFUSED", "TEMPLATE", "WIRES", "address_of", "model_of"]

TEMPLATE = sg.load("embedded").codec.template.source  # type: ignore[union-attr]
"""the shipped model's, for which the cases are made"""
CODEC = sg.ChatCodec.from_template(sg.ChatTemplate(TEMPLATE))


def model_of(address: str, *, described: bool = False, **options: Any) -> sg.Model:
    """The model of an address, without reading its template; what the engine says of itself is asked for if wanted."""
    upstream = upstreams.connect(address, **options)
    if described:
        asyncio.run(_described(upstream))
    return sg.Model(upstream, CODEC)


async def _described(upstream: sg.Upstream) -> None:
    try:
        await upstream.describe()
    finally:
        await upstream.close()


def shortest(grammar: sg.Grammar) -> str:
    """A shortest text of a grammar."""
    return grammar.check("").continuation or ""


def sse(value: Any) -> bytes:
    return b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n"


class LlamaCppWire:
    path = "/completion"
    facts: ClassVar[dict[str, Any]] = {
        "/health": {"status": "ok"},
        "/tokenize": {"tokens": []},
        "/props": {
            "default_generation_settings": {"n_ctx": 1024},
            "model_path": "/models/tiny.gguf",
            "chat_template": TEMPLATE,
            "bos_token": "<s>",
            "eos_token": "<|im_end|>",
        },
    }

    def read(self, body: dict[str, Any]) -> tuple[str, int | None]:
        assert body["stream"]
        text = shortest(sg.Grammar.from_gbnf(body["grammar"])) if "grammar" in body else PLAIN
        return text, None if body["n_predict"] < 0 else body["n_predict"]

    def lines(self, written: list[str], reason: str | None) -> Iterator[bytes]:
        for number, token in enumerate(written, 1):
            one = {"id": number, "token": token, "bytes": list(token.encode()), "logprob": -0.5}
            probabilities = [{**one, "top_logprobs": [one]}]
            yield sse(
                {
                    "content": token,
                    "tokens": [number],
                    "stop": False,
                    "tokens_predicted": number,
                    "completion_probabilities": probabilities,
                }
            )
        if reason is not None:
            yield sse(
                {
                    "content": "",
                    "tokens": [],
                    "stop": True,
                    "stop_type": "limit" if reason == "length" else "eos",
                    "tokens_predicted": len(written),
                    "tokens_evaluated": 7,
                }
            )


class CompletionsWire:
    """`/v1/completions`; without a field for constraints."""

    path = "/v1/completions"
    facts: ClassVar[dict[str, Any]] = {"/v1/models": {"data": [{"id": "tiny", "max_model_len": 1024}]}}

    def read(self, body: dict[str, Any]) -> tuple[str, int | None]:
        assert body["stream"]
        assert body["stream_options"] == {"include_usage": True}
        assert body["model"] == "tiny"
        return self.constrained(body), body["max_tokens"]

    def constrained(self, body: dict[str, Any]) -> str:
        # What the protocol knows, and no more.
        known = "model prompt stream stream_options max_tokens stop temperature top_p frequency_penalty"
        assert body.keys() <= {*known.split(), "presence_penalty", "logit_bias", "seed", "logprobs"}
        assert len(body["stop"]) <= 4
        return PLAIN

    def lines(self, written: list[str], reason: str | None) -> Iterator[bytes]:
        for number, token in enumerate(written, 1):
            ended = reason if number == len(written) else None
            logprobs = {"tokens": [token], "token_logprobs": [-0.5], "top_logprobs": [{"other": -1.5, token: -0.5}]}
            choice = {"index": 0, "text": token, "finish_reason": ended, "logprobs": logprobs}
            yield sse({"choices": [choice], "usage": None})
        if reason is not None:
            yield sse({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": len(written)}})
            yield b"data: [DONE]\n\n"


class VLLMWire(CompletionsWire):
    facts: ClassVar[dict[str, Any]] = {**CompletionsWire.facts, "/health": None}

    def constrained(self, body: dict[str, Any]) -> str:
        # The template has written the first token, and markers must come out.
        assert body["add_special_tokens"] is body["skip_special_tokens"] is False
        asked = body.get("structured_outputs", {})
        return shortest(read_grammar(asked)) if asked else PLAIN


class SGLangWire:
    path = "/generate"
    facts: ClassVar[dict[str, Any]] = {
        "/health": None,
        "/model_info": {"model_path": "/models/tiny", "served_model_name": "tiny"},
        "/server_info": {"context_length": 1024, "incremental_streaming_output": False},
    }
    cumulative = True

    def read(self, body: dict[str, Any]) -> tuple[str, int | None]:
        assert body["stream"]
        assert ("text" in body) != ("input_ids" in body)
        asked = body["sampling_params"]
        assert asked["skip_special_tokens"] is False
        constraint = {name: asked[name] for name in ("ebnf", "structural_tag") if name in asked}
        return shortest(read_grammar(constraint)) if constraint else PLAIN, asked["max_new_tokens"]

    def lines(self, written: list[str], reason: str | None) -> Iterator[bytes]:
        for number, token in enumerate(written, 1):
            ended = reason if number == len(written) else None
            logprobs = [[-0.5, at, text] for at, text in enumerate(written[:number])]
            tops = [[[-0.5, at, text], [-1.5, at, "other"]] for at, text in enumerate(written[:number])]
            meta = {
                "finish_reason": None if ended is None else {"type": ended},
                "prompt_tokens": 7,
                "completion_tokens": number,
                "output_token_logprobs": logprobs if self.cumulative else logprobs[-1:],
                "output_token_logprobs_length": number,
                "output_top_logprobs": tops if self.cumulative else tops[-1:],
            }
            yield sse({"text": "".join(written[:number]) if self.cumulative else token, "meta_info": meta})
        if reason is not None:
            yield b"data: [DONE]\n\n"


class SGLangNewsWire(SGLangWire):
    """Started so that a chunk has only what is new; an older version, too, whose facts have other names."""

    facts: ClassVar[dict[str, Any]] = {
        "/health": None,
        "/get_model_info": {"model_path": "/models/tiny/"},
        "/get_server_info": {"stream_output": True},
    }
    cumulative = False


class OllamaWire:
    path = "/api/generate"
    facts: ClassVar[dict[str, Any]] = {
        "/api/version": {"version": "0.12"},
        "/api/tags": {"models": [{"name": "tiny:latest"}]},
        "/api/show": {"model_info": {"llama.context_length": 1024}, "template": "{{ .Prompt }}"},
    }

    def read(self, body: dict[str, Any]) -> tuple[str, int | None]:
        assert body["raw"]
        assert body["model"] == "tiny:latest"
        assert body["truncate"] is False
        most = body["options"]["num_predict"]
        text = shortest(sg.Grammar.from_json_schema(body["format"])) if "format" in body else PLAIN
        return text, None if most < 0 else most

    def lines(self, written: list[str], reason: str | None) -> Iterator[bytes]:
        for token in written:
            logprob = {"token": token, "logprob": -0.5, "bytes": list(token.encode())}
            line = {"response": token, "done": False, "logprobs": [{**logprob, "top_logprobs": [logprob]}]}
            yield json.dumps(line, ensure_ascii=False).encode() + b"\n"
        if reason is not None:
            last = {"response": "", "done": True, "done_reason": reason, "eval_count": len(written)}
            yield json.dumps(last | {"prompt_eval_count": 7}).encode() + b"\n"


def read_grammar(asked: dict[str, Any]) -> sg.Grammar:
    """The grammar that stands in a request, in whatever field."""
    ((field, source),) = asked.items()
    if field == "structural_tag":
        return sg.Grammar.from_structural_tag(json.loads(source))
    return sg.Grammar.from_gbnf(source)


WIRES: dict[str, Wire] = {
    "llamacpp": LlamaCppWire(),
    "vllm": VLLMWire(),
    "sglang": SGLangWire(),
    "sglang news": SGLangNewsWire(),
    "ollama": OllamaWire(),
    "openai-completions": CompletionsWire(),
}
"""by kind; words behind it tell variants apart"""
_FORCED = frozenset({"required", "named", "reasoning", "no reasoning", "hot"})
REFUSED: dict[str, frozenset[str]] = {"ollama": _FORCED, "openai-completions": _FORCED | {"schema"}}
"""the cases that an engine cannot hold"""


def address_of(wire: str, url: str) -> str:
    """The address of a mock with this wire format."""
    return f"{wire.partition(' ')[0]}:{url}"
