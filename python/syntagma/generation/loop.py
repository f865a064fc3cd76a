"""A generation: one sequence, as its reader sees it."""

from __future__ import annotations

import collections.abc
import weakref
from collections.abc import Collection, Iterator
from typing import Literal

from syntagma.decoding import TokenizerInfo
from syntagma.events import Event
from syntagma.generation.batching import BatchLoop
from syntagma.generation.field_report import FieldReport, Reading, TokenReading
from syntagma.generation.matchers import Lease
from syntagma.generation.sequence import Sequence
from syntagma.generation.values import GenerationOptions, Metrics, Step
from syntagma.parsing import StreamParser

__all__ = ["Generation"]


class Generation:
    """One sequence that is being generated. Iterate over it once, in one thread.

    If the backend computes several sequences together, a step of one is a step of all; the steps of the others wait
    for their readers, up to a bound.
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
        """The options with which it was started."""
        return self._sequence.options

    @property
    def finish_reason(self) -> Literal["stop", "length"] | None:
        """Why it ended.

        `stop` (end of turn, stop string, or nothing may follow), `length` (max_tokens or context; the text was cut
        off, or closed with a valid ending), or None while there are steps to come and after `cancel`.
        """
        return None if self._sequence.steps else self._sequence.finish_reason

    @property
    def stopped_by(self) -> str | None:
        """The stop string that ended it, or None."""
        return self._sequence.stopped_by

    @property
    def is_ready(self) -> bool:
        """Whether the next step, or the end, is there without a pass of the model."""
        return self._sequence.is_ready

    @property
    def is_over(self) -> bool:
        """Whether no further step is made; steps may still wait to be read."""
        return self._sequence.is_over

    @property
    def metrics(self) -> Metrics:
        """Time and tokens so far, steps that wait for their reader included."""
        return self._sequence.metrics

    def read_prompt(self) -> None:
        """Let the model read the prompt, or wait until it has.

        Raises:
            SyntagmaError: the model cannot read it.
        """
        self._loop.await_prompt(self._sequence)
        if self._sequence.error is not None:
            raise self._sequence.error

    def begin(self, lease: Lease | None) -> None:
        """Begin to sample; the prompt has been read. `Generator.start` calls it.

        Args:
            lease: the matcher of the grammar, given back at the end; None: no grammar.
        """
        self._sequence.begin(lease)

    def read(self, parser: StreamParser, *, markers: Collection[str] = ()) -> Iterator[tuple[Step | None, list[Event]]]:
        """The steps with the events that a parser makes of them; at the end the events of its `finish`, with no step.

        Args:
            parser: reads the message; it is finished here unless the generation is cancelled.
            markers: the format's markers (`Turn.preserved_tokens`). A token that ends the turn is read only if it is
                one of them: the closer of a call, for instance.
        """
        for step in self:
            events = self._fed(parser, (step,), markers)
            if step.logprob is not None:
                self._note(parser, step, events)
            yield step, events
        if self.finish_reason is not None:
            events = parser.finish(self.finish_reason)
            if self._reading is not None:
                self._reading.events(events)
            yield None, events

    def read_together(
        self, parser: StreamParser, *, markers: Collection[str] = ()
    ) -> Iterator[tuple[collections.abc.Sequence[Step], list[Event]]]:
        """As `read`, but all steps that are ready are read at once, which costs the parser less.

        At the end come the events of its `finish`, with no steps. There is no field report.

        Args:
            parser: see `read`.
            markers: see `read`.
        """
        made = self._sequence.steps
        try:
            while self._await_step():
                # Another thread may add steps in the meantime.
                steps = [made.popleft() for _ in range(len(made))]
                yield steps, self._fed(parser, steps, markers)
        finally:
            self._leave()
        if self.finish_reason is not None:
            yield (), parser.finish(self.finish_reason)

    def _fed(
        self, parser: StreamParser, steps: collections.abc.Sequence[Step], markers: Collection[str]
    ) -> list[Event]:
        """A parser's events for consecutive steps; a step that a stop string cuts is the last one."""
        # Token identity is known, so text that only looks like a special token stays text.
        whole = [
            step.token_id
            for step in steps
            if not step.cut and (not step.end or step.data.decode("utf-8", "replace") in markers)
        ]
        events = parser.feed_tokens(whole, self._info) if whole else []
        return [*events, *parser.feed(steps[-1].data)] if steps[-1].cut else events

    @property
    def field_report(self) -> FieldReport:
        """The fields of the message and their tokens, as far as `read` has read it.

        Empty unless log-probabilities or `GenerationOptions.explain` were asked for. Each call reads the whole answer
        so far. A parser that keeps no raw text knows no fields: all tokens then belong to the message.
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
        """Stop, and give the matcher back. The end of the iteration does the same."""
        self._sequence.cancel()
        self._leave()

    def _read_steps(self) -> Iterator[Step]:
        try:
            while self._await_step():
                yield self._sequence.steps.popleft()
        finally:
            self._leave()

    def _await_step(self) -> bool:
        """Whether there is a further step; advance until that is known."""
        sequence = self._sequence
        while not sequence.is_cancelled:
            if sequence.steps:
                return True
            if sequence.error is not None:
                raise sequence.error
            if sequence.is_over:
                return False
            self._loop.drive(lambda: sequence.is_ready)
        return False
