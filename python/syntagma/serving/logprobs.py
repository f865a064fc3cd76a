"""Log-probabilities as OpenAI's endpoints for chat completions and responses write them."""

from __future__ import annotations

import msgspec

from syntagma.decoding.upstream import TextLogprob

__all__ = ["TokenLogprobEntry", "TopLogprobEntry", "logprob_entry"]


class TopLogprobEntry(msgspec.Struct, kw_only=True):
    """One of the likeliest tokens at a position."""

    token: str
    logprob: float
    bytes: list[int]


class TokenLogprobEntry(msgspec.Struct, kw_only=True):
    """A sampled token; `token` is its text, with U+FFFD for bytes that are no whole character."""

    token: str
    logprob: float
    bytes: list[int]
    top_logprobs: list[TopLogprobEntry]


def logprob_entry(token: TextLogprob) -> TokenLogprobEntry:
    """A token that was written, as clients read it."""
    return TokenLogprobEntry(
        token=token.data.decode("utf-8", "replace"),
        logprob=token.logprob,
        bytes=list(token.data),
        top_logprobs=[
            TopLogprobEntry(token=data.decode("utf-8", "replace"), logprob=logprob, bytes=list(data))
            for data, logprob in token.top
        ],
    )
