"""The wire formats of engines, as far as they are used."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, ClassVar

import syntagma as sg
from syntagma import upstreams
from tests.upstreams.mock import PLAIN, Wire

__all__ = ["CODEC", "TEMPLATE", "WIRES", "model_of"]

TEMPLATE = sg.load("embedded").codec.template.source  # type: ignore[union-attr]
"""the shipped model's, for which the cases are made"""
CODEC = sg.ChatCodec.from_template(sg.ChatTemplate(TEMPLATE))


def model_of(address: str, **options: Any) -> sg.Model:
    """The model of an address, without asking for its template."""
    return sg.Model(upstreams.connect(address, **options), CODEC)


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
            yield sse({"content": token, "tokens": [number], "stop": False, "tokens_predicted": number})
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


WIRES: dict[str, Wire] = {
    "llamacpp": LlamaCppWire(),
}
