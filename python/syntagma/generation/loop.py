"""One sequence as its reader sees it."""

from __future__ import annotations

import weakref
from collections.abc import Collection, Iterator
from typing import Literal

from syntagma.decoding import TokenizerInfo
from syntagma.events import Event
from syntagma.generation.batching import BatchLoop
from syntagma.generation.field_report import FieldReport, Reading, TokenReading
from syntagma.generation.sequence import Sequence
from syntagma.generation.values import GenerationOptions, Metrics, Step
from syntagma.parsing import StreamParser

__all__ = ["Generation"]


class Generation:
    """One sequence that is being generated. Iterate over it once, in one thread.

    Where the backend computes several sequences together, each step of one is a step of all that are being generated;
    what the others make waits for their readers, some steps at most.
    """

    def __init__(self, sequence: Sequence, loop: BatchLoop, info: TokenizerInfo) -> None:
        self._sequence = sequence
        self._loop = loop
        self._info = info
        self._steps = self._read_steps()
        self._reading: Reading | None = None
        self._parser: StreamParser | None = None
        # Whoever forgets a generation stops it.
        self._leave = weakref.finalize(self, loop.leave, sequence)
        self._leave.atexit = False

    def __iter__(self) -> Iterator[Step]:
        return self._steps

    @property
    def options(self) -> GenerationOptions:
        """What it was asked for."""
        return self._sequence.options

    @property
    def finish_reason(self) -> Literal["stop", "length"] | None:
        """Why it ended.

        `stop` (end of turn, stop string, or nothing may follow), `length` (max_tokens or context; the text was cut off,
        or brought to an end that was not the model's), or None while there are steps to come and after `cancel`.
        """
        return None if self._sequence.steps else self._sequence.finish_reason

    @property
    def stopped_by(self) -> str | None:
        """The stop string that ended it, or None."""
        return self._sequence.stopped_by

    @property
    def is_ready(self) -> bool:
        """Whether the next step, or the end, is there without the model being asked."""
        return self._sequence.is_ready

    @property
    def metrics(self) -> Metrics:
        """What it took so far, steps that wait for their reader included."""
        return self._sequence.metrics

    def read(self, parser: StreamParser, *, markers: Collection[str] = ()) -> Iterator[tuple[Step | None, list[Event]]]:
        """The steps with the events that a parser makes of them; at the end the events of its `finish`, with no step.

        Args:
            parser: reads the message; it is finished here unless the generation is cancelled.
            markers: texts that mean something to the format (`Turn.preserved_tokens`). A token that ends the turn is
                read only if it is one of them: the closer of a call, for instance.
        """
        for step in self:
            events: list[Event] = []
            if not step.end:
                # Token identity is known, so text that only looks like a special token stays text.
                events = parser.feed(step.data) if step.cut else parser.feed_tokens((step.token_id,), self._info)
            elif step.data.decode("utf-8", "replace") in markers:
                events = parser.feed_tokens((step.token_id,), self._info)
            if step.logprob is not None:
                self._note(parser, step, events)
            yield step, events
        if self.finish_reason is not None:
            events = parser.finish(self.finish_reason)
            if self._reading is not None:
                self._reading.events(events)
            yield None, events

    @property
    def field_report(self) -> FieldReport:
        """What the fields of the message are made of, as far as it was read by `read`.

        Empty unless log-probabilities, or `GenerationOptions.explain`, were asked for. Each call looks at the whole
        answer so far. A parser that keeps no raw text tells no fields: all tokens then belong to the message.
        """
        reading, parser = self._reading, self._parser
        if reading is None or parser is None:
            return FieldReport()
        return reading.report(parser.raw, json_content=parser.reads_json)

    def _note(self, parser: StreamParser, step: Step, events: list[Event]) -> None:
        if self._reading is None:
            self._reading, self._parser = Reading(), parser
        best = step.preferred
        token = TokenReading(
            data=step.data,
            logprob=step.logprob,
            forced=step.forced,
            masked=step.masked,
            preferred=None if best is None else (self._info.token_bytes(best.token_id), best.logprob),
        )
        self._reading.token(token, parser.position)
        self._reading.events(events)

    def cancel(self) -> None:
        """Stop before the next token; may be called from any thread."""
        self._sequence.cancel()

    def close(self) -> None:
        """Stop, and give the matcher back; happens by itself at the end of the iteration."""
        self._sequence.cancel()
        self._leave()

    def _read_steps(self) -> Iterator[Step]:
        sequence = self._sequence
        try:
            while not sequence.is_cancelled:
                if sequence.steps:
                    yield sequence.steps.popleft()
                elif sequence.error is not None:
                    raise sequence.error
                elif sequence.is_over:
                    return
                else:
                    self._loop.drive(lambda: sequence.is_ready)
        finally:
            self._leave()
