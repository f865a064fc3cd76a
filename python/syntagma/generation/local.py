"""A generation on a backend, read in the same way as an engine's answer."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import closing

from syntagma.decoding import TokenizerInfo
from syntagma.decoding.upstream import TextLogprob
from syntagma.events import Event
from syntagma.generation.loop import Generation
from syntagma.generation.values import Step, Written
from syntagma.parsing import StreamParser

__all__ = ["written"]


def written(
    generation: Generation, parser: StreamParser, info: TokenizerInfo, *, markers: Collection[str] = ()
) -> Iterator[Written]:
    """The pieces of a generation with the events of a parser; the generation is closed at the end.

    With log-probabilities or an explanation, each token is a piece; else all tokens that are ready make one.

    Args:
        generation: one that has just begun.
        parser: reads the message; it is finished here.
        info: the vocabulary.
        markers: as for `Generation.read`.
    """
    with closing(generation):
        options = generation.options
        tells_fields = options.logprobs is not None or options.explain
        read = _one_by_one if tells_fields else Generation.read_together
        began = False
        for steps, events in read(generation, parser, markers=markers):
            logprobs = () if options.logprobs is None else tuple(_logprob(step, info) for step in steps if not step.end)
            yield Written(
                events=events,
                logprobs=logprobs,
                token_ids=tuple(step.token_id for step in steps),
                metrics=None if steps and began else generation.metrics,
                stopped_by=None if steps else generation.stopped_by,
                fields=generation.field_report if tells_fields and not steps else None,
            )
            began = True


def _one_by_one(
    generation: Generation, parser: StreamParser, *, markers: Collection[str]
) -> Iterator[tuple[Sequence[Step], list[Event]]]:
    for step, events in generation.read(parser, markers=markers):
        yield () if step is None else (step,), events


def _logprob(step: Step, info: TokenizerInfo) -> TextLogprob:
    return TextLogprob(
        data=step.data,
        logprob=step.logprob or 0.0,
        top=tuple((info.token_bytes(top.token_id), top.logprob) for top in step.top_logprobs),
    )
