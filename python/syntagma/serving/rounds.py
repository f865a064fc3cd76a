"""Answers of a model that computes them together: one thread advances all, round by round, and hands out what came."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from syntagma.generation import Generation, Generator, Written
from syntagma.serving.threads import ThreadStream, put_all

__all__ = ["Rounds"]


class _Followed:
    """An answer that advances with the others."""

    def __init__(self, generation: Generation, pieces: Iterator[Written], stream: ThreadStream[Written]) -> None:
        self.stream = stream
        self.over = False
        self.error: BaseException | None = None
        self._generation = generation
        self._pieces = pieces

    def take(self, taken: list[tuple[ThreadStream[Written], Written]]) -> None:
        """Add what is there to a list, without asking the model."""
        try:
            while not self.over and (self._generation.is_ready or self.stream.cancelled.is_set()):
                piece = None if self.stream.cancelled.is_set() else next(self._pieces, None)
                if piece is None:
                    self.over = True
                else:
                    taken.append((self.stream, piece))
        except Exception as error:
            self.error, self.over = error, True


class Rounds:
    """Advances the answers of one model. Threads may share it.

    Each answer has a thread, which keeps its place among the generations. One of them works for all; the others sleep
    until their answer is over, or until they take its place. So a token costs no change of threads, and the event loop
    is woken once a round.

    Args:
        generator: computes the answers together.
    """

    def __init__(self, generator: Generator) -> None:
        self._generator = generator
        self._answers: list[_Followed] = []
        self._changed = threading.Condition()
        self._is_led = False

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
        taken: list[tuple[ThreadStream[Written], Written]] = []
        with self._changed:
            answers = list(self._answers)
        for one in answers:
            one.take(taken)
        put_all(taken)
