"""Log-probabilities of a prompt's tokens, as vLLM's `prompt_logprobs`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import msgspec

from syntagma.decoding import TokenizerInfo
from syntagma.decoding.backend import Backend, Logits, ScoringBackend
from syntagma.decoding.sampling import log_softmax, top_logprobs
from syntagma.decoding.upstream import Upstream
from syntagma.serving.body import unsupported

__all__ = ["PromptLogprob", "PromptLogprobs", "prompt_logprobs"]


class PromptLogprob(msgspec.Struct, kw_only=True):
    """One token at a position of the prompt; `rank` 1 is the likeliest."""

    logprob: float
    rank: int
    decoded_token: str


PromptLogprobs: TypeAlias = list[dict[str, PromptLogprob] | None]
"""for each position of the prompt, by token id: its own token and the likeliest ones; None for the first position"""


def prompt_logprobs(engine: Backend | Upstream, ids: Sequence[int], top: int) -> PromptLogprobs:
    """The log-probabilities of each token of a prompt.

    Args:
        engine: the model.
        ids: the token ids of the prompt.
        top: how many of the likeliest tokens to give beside each token.

    Raises:
        RequestError: `E-REQUEST-UNSUPPORTED`, the engine cannot compute them.
        ModelError: as `ScoringBackend.score`.
    """
    if isinstance(engine, Upstream) or not isinstance(engine, ScoringBackend):
        raise unsupported("/prompt_logprobs", "the engine does not tell log-probabilities of its prompt")
    info = engine.tokenizer_info
    logits = engine.score(ids[:-1]) if len(ids) > 1 else ()
    return [None, *(_at(row, token, top, info) for row, token in zip(logits, ids[1:], strict=True))]


def _at(row: Logits, token: int, top: int, info: TokenizerInfo) -> dict[str, PromptLogprob]:
    logprobs = log_softmax(row)
    found = {one.token_id: rank for rank, one in enumerate(top_logprobs(logprobs, top), 1)}
    found.setdefault(token, 1 + int((logprobs > logprobs[token]).sum()))
    return {
        str(one): PromptLogprob(
            logprob=float(logprobs[one]),
            rank=rank,
            decoded_token=info.token_bytes(one).decode("utf-8", "replace"),
        )
        for one, rank in found.items()
    }
