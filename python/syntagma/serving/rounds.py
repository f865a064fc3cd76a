"""Answers of a model that computes them together: one thread advances all, round by round, and hands out what came."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence

import msgspec

from syntagma.events import ContentDelta, Event, ReasoningDelta, ToolCallDelta
from syntagma.generation import Generation, Generator, Written
from syntagma.serving.threads import ThreadStream, put_all

__all__ = ["Rounds"]

_LEAST_S = 0.005
_PER_ANSWER_S = 0.001
"""what comes within so many seconds goes out together: an event takes a tenth of a millisecond, so that events take at
most a tenth of the time, however short the rounds of a model are"""


class _Followed:
    """An answer that advances with the others."""

    def __init__(self, generation: Generation, pieces: Iterator[Written], stream: ThreadStream[Written]) -> None:
        self.stream = stream
        self.over = False
        self.error: BaseException | None = None
        self._generation = generation
        self._pieces = pieces
        self._taken: list[Written] = []

    def take(self) -> None:
        """Take what is there, without asking the model."""
        try:
            while not self.over and (self._generation.is_ready or self.stream.cancelled.is_set()):
                piece = None if self.stream.cancelled.is_set() else next(self._pieces, None)
                if piece is None:
                    self.over = True
                else:
                    self._taken.append(piece)
        except Exception as error:
            self.error, self.over = error, True

    def handed_out(self) -> list[tuple[ThreadStream[Written], Written]]:
        """What was taken since the last time, with its reader."""
        taken, self._taken = self._taken, []
        return [(self.stream, piece) for piece in _joined(taken)]


def _joined(pieces: Sequence[Written]) -> Sequence[Written]:
    """Pieces as one, in which text that goes on is one event; where log-probabilities belong to each, as they are."""
    if len(pieces) < 2 or any(piece.logprobs for piece in pieces):
        return pieces
    events: list[Event] = []
    for event in (event for piece in pieces for event in piece.events):
        if events and (longer := _continued(events[-1], event)) is not None:
            events[-1] = longer
        else:
            events.append(event)
    metrics = next((piece.metrics for piece in reversed(pieces) if piece.metrics is not None), None)
    return (Written(events=events, metrics=metrics, stopped_by=pieces[-1].stopped_by, fields=pieces[-1].fields),)


def _continued(first: Event, second: Event) -> Event | None:
    """One event for two, if the second goes on where the first ends."""
    span = first.span[0], second.span[1]
    if isinstance(first, ContentDelta) and isinstance(second, ContentDelta):
        return ContentDelta(first.text + second.text, span)
    if isinstance(first, ReasoningDelta) and isinstance(second, ReasoningDelta):
        return ReasoningDelta(first.text + second.text, span)
    if isinstance(first, ToolCallDelta) and isinstance(second, ToolCallDelta) and first.index == second.index:
        return msgspec.structs.replace(first, arguments=first.arguments + second.arguments, span=span)
    return None


class Rounds:
    """Advances the answers of one model. Threads may share it.

    Each answer has a thread, which keeps its place among the generations. One of them works for all; the others sleep
    until their answer is over, or until they take its place. So a token costs no change of threads, and the event loop
    is woken once a round, or less often where rounds are short.

    Args:
        generator: computes the answers together.
    """

    def __init__(self, generator: Generator) -> None:
        self._generator = generator
        self._answers: list[_Followed] = []
        self._changed = threading.Condition()
        self._is_led = False
        self._handed_out = 0.0
        """when, by `time.monotonic`"""

    def follow(self, generation: Generation, pieces: Iterator[Written], stream: ThreadStream[Written]) -> None:
        """Hand the pieces of an answer to its reader as they come, until the last, or until the reader leaves.

        Args:
            generation: just begun.
            pieces: what is read from it, as `written` gives.
            stream: where to.

        Raises:
            SyntagmaError: what the pieces raise.
        """
        mine = _Followed(generation, pieces, stream)
        try:
            with self._changed:
                self._answers.append(mine)
            while self._leads(mine):
                try:
                    self._round()
                finally:
                    with self._changed:
                        self._is_led = False
                        # Whose answer is over goes; else only a leader that goes leaves something to do.
                        if any(one.over for one in self._answers):
                            self._changed.notify_all()
        finally:
            with self._changed:
                self._answers.remove(mine)
                self._changed.notify_all()
            generation.close()
        if mine.error is not None:
            raise mine.error

    def _leads(self, mine: _Followed) -> bool:
        """Whether this thread has to make the next round; waits while another one does."""
        with self._changed:
            while self._is_led and not mine.over:
                self._changed.wait()
            if mine.over:
                return False
            self._is_led = True
            return True

    def _round(self) -> None:
        self._generator.step()
        with self._changed:
            answers = list(self._answers)
        for one in answers:
            one.take()
        now = time.monotonic()
        pause = max(_LEAST_S, _PER_ANSWER_S * len(answers))
        if now - self._handed_out >= pause or any(one.over for one in answers):
            self._handed_out = now
            put_all([given for one in answers for given in one.handed_out()])
