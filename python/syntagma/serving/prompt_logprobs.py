"""Log-probabilities of a prompt's tokens, as vLLM's `prompt_logprobs`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import msgspec

from syntagma.codec import Turn
from syntagma.decoding import TokenizerInfo
from syntagma.decoding.backend import Logits, ScoringBackend
from syntagma.decoding.sampling import log_softmax, top_logprobs
from syntagma.decoding.upstream import ScoredToken, Upstream
from syntagma.serving.body import unsupported
from syntagma.serving.model import ServedModel

__all__ = ["EchoedToken", "PromptLogprob", "PromptLogprobs", "Scores", "echoed_tokens", "prompt_logprobs", "scores_of"]


class PromptLogprob(msgspec.Struct, kw_only=True):
    """One token at a position of the prompt; `rank` 1 is the likeliest."""

    logprob: float
    rank: int
    decoded_token: str


class EchoedToken(msgspec.Struct, frozen=True):
    """A token of a prompt that comes back: its text, its log-probability, and the likeliest tokens at its place.

    The first token has none: nothing stands before it.
    """

    text: str
    logprob: float | None
    top: dict[str, float] | None


PromptLogprobs: TypeAlias = list[dict[str, PromptLogprob] | None]
"""for each position of the prompt, by token id: its own token and the likeliest ones; None for the first position"""


Scores: TypeAlias = Sequence[tuple[ScoredToken, ...]]
"""for each token of a prompt, itself and the likeliest ones at its place; nothing for the first"""


def scores_of(served: ServedModel, turn: Turn, top: int, pointer: str) -> Scores:
    """The scores of a prompt's tokens.

    Args:
        served: the model.
        turn: the turn of the prompt.
        top: how many of the likeliest tokens to give beside each token.
        pointer: the field that asks for them.

    Raises:
        RequestError: `E-REQUEST-UNSUPPORTED`, the engine cannot compute them.
        ModelError: as `ScoringBackend.score`.
        UpstreamError: the engine failed.
    """
    engine = served.engine
    if isinstance(engine, Upstream):
        info = engine.tokenizer_info
        found = served.ask_scores(str(turn.prompt_text()) if info is None else turn.prompt_ids(info), top)
        if found is not None:
            return found
    elif isinstance(engine, ScoringBackend):
        ids = turn.prompt_ids(engine.tokenizer_info)
        logits = engine.score(ids[:-1]) if len(ids) > 1 else ()
        return [(), *(_at(row, token, top, engine.tokenizer_info) for row, token in zip(logits, ids[1:], strict=True))]
    raise unsupported(pointer, "the engine does not tell log-probabilities of its prompt")


def _at(row: Logits, token: int, top: int, info: TokenizerInfo) -> tuple[ScoredToken, ...]:
    logprobs = log_softmax(row)
    likeliest = [(one.token_id, rank) for rank, one in enumerate(top_logprobs(logprobs, top), 1)]
    own = (token, 1 + int((logprobs > logprobs[token]).sum()))
    return tuple(
        ScoredToken(one, info.token_bytes(one).decode("utf-8", "replace"), float(logprobs[one]), rank)
        for one, rank in (own, *likeliest)
    )


def prompt_logprobs(scores: Scores) -> PromptLogprobs:
    """The scores as vLLM writes them."""
    return [
        {
            str(one.token_id): PromptLogprob(logprob=one.logprob, rank=one.rank, decoded_token=one.text)
            for one in position
        }
        or None
        for position in scores
    ]


def echoed_tokens(text: str, scores: Scores, top: int) -> tuple[EchoedToken, ...]:
    """The tokens of a prompt that comes back, of which the first is what the others leave of its text."""
    rest = sum(len(position[0].text) for position in scores[1:])
    first = EchoedToken(text[: len(text) - rest], None, None)
    return (first, *(_echoed(position, top) for position in scores[1:]))


def _echoed(position: tuple[ScoredToken, ...], top: int) -> EchoedToken:
    likeliest = sorted({one.token_id: one for one in position}.values(), key=lambda one: one.rank)[:top]
    return EchoedToken(position[0].text, position[0].logprob, {one.text: one.logprob for one in likeliest})
