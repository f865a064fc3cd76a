"""The usage of an answer, as OpenAI's endpoints for chat completions and completions write it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from syntagma.generation import BentStep, FieldStats, Metrics
from syntagma.serving.inner import Ended

__all__ = ["ChoiceDiagnostic", "ChoiceFields", "CompletionTokens", "StreamOptions", "Usage", "UsageExtra", "usage_of"]


class StreamOptions(msgspec.Struct, kw_only=True):
    """`include_usage` asks for a last chunk with the usage."""

    include_usage: bool | None = None


class ChoiceFields(msgspec.Struct, kw_only=True):
    """One choice: its fields, as `syntagma.generation.FieldStats`, and the steps at which the grammar masked more than
    half of the probability.
    """

    index: int
    fields: tuple[FieldStats, ...]
    bent: tuple[BentStep, ...]


class ChoiceDiagnostic(msgspec.Struct, kw_only=True):
    """What the parser noticed in a choice: code, message, and where in the text of the answer, in code points."""

    index: int
    code: str
    message: str
    span: tuple[int, int]


class UsageExtra(msgspec.Struct, kw_only=True):
    """Seconds spent on the grammar: initialisation, summed over the choices, and per token, averaged over them. For a
    backend also what the grammar saved: tokens that the model did not compute, and the number of its passes.
    """

    grammar_init_s: float
    grammar_per_token_s: float
    completed: int | msgspec.UnsetType = msgspec.UNSET
    """choices that were closed with a valid ending because their tokens ran out, if there are any"""
    forced_tokens: int | msgspec.UnsetType = msgspec.UNSET
    forward_passes: int | msgspec.UnsetType = msgspec.UNSET
    explained: list[ChoiceFields] | msgspec.UnsetType = msgspec.UNSET
    """the fields of each choice and their tokens, if `explain` or log-probabilities were asked for"""
    diagnostics: list[ChoiceDiagnostic] | msgspec.UnsetType = msgspec.UNSET
    """what the parser noticed, if asked for"""


class CompletionTokens(msgspec.Struct, kw_only=True):
    """Tokens of the answer by what they were: those with which reasoning came."""

    reasoning_tokens: int


class Usage(msgspec.Struct, kw_only=True):
    """Tokens of the prompt and of all choices."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    completion_tokens_details: CompletionTokens
    extra: UsageExtra


def usage_of(choices: Sequence[Ended], *, with_diagnostics: bool = False) -> Usage:
    """The usage of all choices together; `with_diagnostics`: and what the parser noticed in them."""
    metrics = Metrics.of_choices(choice.metrics for choice in choices)
    explained = [
        ChoiceFields(index=choice.index, fields=choice.fields.fields, bent=choice.fields.bent)
        for choice in choices
        if choice.fields is not None
    ]
    noticed = [
        ChoiceDiagnostic(index=choice.index, code=one.code, message=one.message, span=(one.span[0], one.span[1]))
        for choice in choices
        for one in choice.message.diagnostics
    ]
    # A running engine does not report its passes.
    is_told = metrics.forward_passes > 0
    return Usage(
        prompt_tokens=metrics.prompt_tokens,
        completion_tokens=metrics.completion_tokens,
        total_tokens=metrics.prompt_tokens + metrics.completion_tokens,
        completion_tokens_details=CompletionTokens(reasoning_tokens=sum(one.reasoning_tokens for one in choices)),
        extra=UsageExtra(
            grammar_init_s=metrics.grammar_init_s,
            grammar_per_token_s=metrics.grammar_per_token_s,
            completed=metrics.completed or msgspec.UNSET,
            forced_tokens=metrics.forced_tokens if is_told else msgspec.UNSET,
            forward_passes=metrics.forward_passes if is_told else msgspec.UNSET,
            explained=explained or msgspec.UNSET,
            diagnostics=noticed if with_diagnostics else msgspec.UNSET,
        ),
    )
