"""Fields of all endpoints that write, beside those of sampling and constraints; their names are vLLM's."""

from __future__ import annotations

from syntagma.serving.body import bounded, unsupported
from syntagma.serving.constraint_fields import ConstraintFields
from syntagma.serving.settings import Settings

__all__ = ["AnswerFields", "prompt_logprobs_of", "refuse_token_fields"]


class AnswerFields(ConstraintFields, kw_only=True):
    """A bound on the reasoning, and details of the tokens; null counts as absent."""

    thinking_token_budget: int | None = None
    prompt_logprobs: int | None = None
    return_token_ids: bool | None = None


def prompt_logprobs_of(fields: AnswerFields, settings: Settings, *, stream: bool | None) -> int | None:
    """How many of the likeliest tokens to give for each token of the prompt; None: give no log-probabilities.

    Raises:
        RequestError: `E-REQUEST-FIELD`, `E-REQUEST-LIMIT`; `E-REQUEST-UNSUPPORTED`, in a stream.
    """
    given = fields.prompt_logprobs
    if given is not None and stream:
        raise unsupported("/prompt_logprobs", "they come with whole answers only, and not in streams")
    top = bounded("prompt_logprobs", given, 0, 0, settings.limits.server_top_logprobs)
    return None if given is None else top


def refuse_token_fields(fields: AnswerFields) -> None:
    """Refuse the fields that ask for tokens, at endpoints whose answers have no place for them.

    Raises:
        RequestError: `E-REQUEST-UNSUPPORTED`.
    """
    for name, given in (
        ("prompt_logprobs", fields.prompt_logprobs is not None),
        ("return_token_ids", fields.return_token_ids),
    ):
        if given:
            message = f"an answer of this endpoint has no place for {name}"
            raise unsupported(f"/{name}", message, hint="/v1/chat/completions and /v1/completions have")
