"""What an answer took, as OpenAI's endpoints for chats and completions say it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from syntagma.generation import Metrics

__all__ = ["StreamOptions", "Usage", "UsageExtra", "usage_of"]


class StreamOptions(msgspec.Struct, kw_only=True):
    """`include_usage` asks for a last chunk with the usage."""

    include_usage: bool | None = None


class UsageExtra(msgspec.Struct, kw_only=True):
    """Seconds spent on the grammar: initialisation summed over the choices, per token averaged over them; and what the
    grammar saved, where the model runs in this process: tokens for which it was not asked, and how often it computed.
    """

    grammar_init_s: float
    grammar_per_token_s: float
    completed: int | msgspec.UnsetType = msgspec.UNSET
    """choices that were brought to a legal end because their tokens ran out, if there are any"""
    forced_tokens: int | msgspec.UnsetType = msgspec.UNSET
    forward_passes: int | msgspec.UnsetType = msgspec.UNSET


class Usage(msgspec.Struct, kw_only=True):
    """Tokens of the prompt and of all choices."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    extra: UsageExtra


def usage_of(choices: Sequence[Metrics]) -> Usage:
    """The usage of all choices together."""
    metrics = Metrics.of_choices(choices)
    # An engine elsewhere does not tell how it computes.
    is_told = metrics.forward_passes > 0
    return Usage(
        prompt_tokens=metrics.prompt_tokens,
        completion_tokens=metrics.completion_tokens,
        total_tokens=metrics.prompt_tokens + metrics.completion_tokens,
        extra=UsageExtra(
            grammar_init_s=metrics.grammar_init_s,
            grammar_per_token_s=metrics.grammar_per_token_s,
            completed=metrics.completed or msgspec.UNSET,
            forced_tokens=metrics.forced_tokens if is_told else msgspec.UNSET,
            forward_passes=metrics.forward_passes if is_told else msgspec.UNSET,
        ),
    )
