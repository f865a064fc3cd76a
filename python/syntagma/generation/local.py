"""A generation on a backend, read as an engine's answer is."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import closing

from syntagma.decoding import TokenizerInfo
from syntagma.decoding.upstream import TextLogprob
from syntagma.generation.loop import Generation
from syntagma.generation.values import Step, Written
from syntagma.parsing import StreamParser

__all__ = ["written"]


def written(
    generation: Generation, parser: StreamParser, info: TokenizerInfo, *, markers: Collection[str] = ()
) -> Iterator[Written]:
    """What a parser makes of a generation, token by token; the generation is closed at the end.

    Args:
        generation: just begun.
        parser: reads the message; it is finished here.
        info: the vocabulary.
        markers: as for `Generation.read`.
    """
    with closing(generation):
        began, logprobs_asked = False, generation.options.logprobs is not None
        tells_fields = logprobs_asked or generation.options.explain
        for step, events in generation.read(parser, markers=markers):
            has_logprob = step is not None and logprobs_asked and not step.end
            logprobs = (_logprob(step, info),) if step is not None and has_logprob else ()
            metrics = generation.metrics if step is None or not began else None
            stopped_by = generation.stopped_by if step is None else None
            began = True
            yield Written(
                events=events,
                logprobs=logprobs,
                token_ids=() if step is None else (step.token_id,),
                metrics=metrics,
                stopped_by=stopped_by,
                fields=generation.field_report if step is None and tells_fields else None,
            )


def _logprob(step: Step, info: TokenizerInfo) -> TextLogprob:
    return TextLogprob(
        data=step.data,
        logprob=step.logprob or 0.0,
        top=tuple((info.token_bytes(top.token_id), top.logprob) for top in step.top_logprobs),
    )
