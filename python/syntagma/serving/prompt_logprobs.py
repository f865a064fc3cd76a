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

__all__ = ["EchoedToken", "PromptLogprob", "PromptLogprobs", "echoed_tokens", "prompt_logprobs"]


class PromptLogprob(msgspec.Struct, kw_only=True):
    """One token at a position of the prompt; `rank` 1 is the likeliest."""

    logprob: float
    rank: int
    decoded_token: str


class EchoedToken(msgspec.Struct, frozen=True):
    """A token of a prompt that comes back: its bytes, its log-probability, and the likeliest tokens at its place.

    The first token has none: nothing stands before it.
    """

    data: bytes
    logprob: float | None
    top: tuple[tuple[bytes, float], ...] | None


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
    info, logits = _scored(engine, ids, "/prompt_logprobs")
    return [None, *(_at(row, token, top, info) for row, token in zip(logits, ids[1:], strict=True))]


def echoed_tokens(engine: Backend | Upstream, ids: Sequence[int], top: int) -> tuple[EchoedToken, ...]:
    """The tokens of a prompt that comes back; arguments and errors are those of `prompt_logprobs`."""
    info, logits = _scored(engine, ids, "/echo")
    found = [EchoedToken(info.token_bytes(ids[0]), None, None)]
    for row, token in zip(logits, ids[1:], strict=True):
        logprobs = log_softmax(row)
        likeliest = ((info.token_bytes(one.token_id), one.logprob) for one in top_logprobs(logprobs, top))
        found.append(EchoedToken(info.token_bytes(token), float(logprobs[token]), tuple(likeliest)))
    return tuple(found)


def _scored(engine: Backend | Upstream, ids: Sequence[int], pointer: str) -> tuple[TokenizerInfo, Sequence[Logits]]:
    """The vocabulary, and the logits after each token of a prompt but the last."""
    if isinstance(engine, Upstream) or not isinstance(engine, ScoringBackend):
        raise unsupported(pointer, "the engine does not tell log-probabilities of its prompt")
    return engine.tokenizer_info, list(engine.score(ids[:-1])) if len(ids) > 1 else ()


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
