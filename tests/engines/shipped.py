"""Conversations that engines are given, and what our own backend computes for them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import syntagma as sg
from syntagma.embedded import EmbeddedModel

__all__ = ["CONVERSATIONS", "LENGTH", "TOOLS", "greedy", "log_probabilities", "prompt_of"]

TOOLS = [
    {
        "name": "set_timer",
        "description": "Set a timer",
        "parameters": {"type": "object", "properties": {"minutes": {"type": "integer"}}, "required": ["minutes"]},
    }
]
CONVERSATIONS: dict[str, dict[str, Any]] = {
    "greeting": {"messages": [{"role": "user", "content": "Hello there"}]},
    "call": {"messages": [{"role": "user", "content": "Set a timer for 7 minutes"}], "tools": TOOLS},
    "thinking": {
        "messages": [{"role": "user", "content": "Set a timer for 12 minutes"}],
        "tools": TOOLS,
        "template_kwargs": {"enable_thinking": True},
    },
    "beyond ASCII": {"messages": [{"role": "user", "content": "Note: “Zoë — 東京 🙂”,\n\t  2 cafés"}]},
}
LENGTH = 24


def prompt_of(model: EmbeddedModel, name: str) -> str:
    assert model.chat_template is not None
    conversation = CONVERSATIONS[name] | {"add_generation_prompt": True}
    return str(sg.ChatTemplate(model.chat_template).render(**conversation))


def greedy(model: EmbeddedModel, prompt: list[int]) -> tuple[list[int], list[NDArray[np.float32]]]:
    """The tokens at temperature 0, up to the end of the turn, and the logits before each."""
    session = model.open()
    logits = [session.prefill(prompt)]
    tokens = [int(logits[-1].argmax())]
    while tokens[-1] not in model.tokenizer_info.eos_token_ids and len(tokens) < LENGTH:
        logits.append(session.step(tokens[-1]))
        tokens.append(int(logits[-1].argmax()))
    return tokens, logits


def log_probabilities(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    shifted = logits.astype(np.float64) - logits.max()
    return np.asarray(shifted - np.log(np.exp(shifted).sum()))
