"""Answers of a model that computes them together: one thread advances all, round by round, and hands out the pieces."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence

from syntagma.generation import Generation, Generator, Written
from syntagma.serving.threads import ThreadStream, put_all

__all__ = ["Rounds"]

_LEAST_S = 0.02
_PER_ANSWER_S = 0.005
_MOST_S = 0.25
"""seconds in which pieces are collected before they go out, per answer, and the bounds of their sum: an event costs up
to half a millisecond, most of it in the system, so that events of up to fifty answers take a tenth of the time, however
short the rounds"""


class _Followed:
    """An answer that advances together with the others.

    Attributes:
        stream: takes its pieces.
        over: whether its last piece has been handed out.
        error: the exception that ended it, or None.
        turn: set when it is over, or when its thread is the one to advance all.
    """

    def __init__(self, generation: Generation, pieces: Iterator[Written], stream: ThreadStream[Written]) -> None:
        self.stream = stream
        self.over = False
        self.error: BaseException | None = None
        self.turn = threading.Event()
        self._generation = generation
        self._pieces = pieces
        self._has_begun = False

    @property
    def is_due(self) -> bool:
        """Whether its pieces go out at once: the first, and the last."""
        generation = self._generation
        return generation.is_over or self.stream.cancelled.is_set() or (not self._has_begun and generation.is_ready)

    def take(self) -> Sequence[Written]:
        """The pieces that are ready, as far as its reader has room; the model is not asked."""
        taken: list[Written] = []
        room = self.stream.room()
        try:
            while len(taken) < room and not self.stream.cancelled.is_set() and self._generation.is_ready:
                piece = next(self._pieces, None)
                if piece is None:
                    self.over = True
                    break
                taken.append(piece)
        except Exception as error:
            self.error, self.over = error, True
        self.over = self.over or self.stream.cancelled.is_set()
        self._has_begun = self._has_begun or bool(taken)
        return taken


class Rounds:
    """Advances the answers of one model. Threads may share it.

    Each answer has a thread, which keeps its place among the generations. One thread works for all; the others sleep
    until their answer is over, or until they take over its work. So a token costs no change of threads, and the event
    loop is woken once per round, or less often if rounds are short. An answer whose reader is far behind does not
    advance; if all are, the thread sleeps until a reader has caught up.

    Args:
        generator: computes the answers together.
    """

    def __init__(self, generator: Generator) -> None:
        self._generator = generator
        self._answers: list[_Followed] = []
        self._changed = threading.Condition()
        self._is_led = False
        self._has_news = False
        """whether the working thread has something new to look at: an answer, room, or the end of a reader"""
        self._handed_out = 0.0
        """the time at which pieces last went out, by `time.monotonic`"""

    def follow(self, generation: Generation, pieces: Iterator[Written], stream: ThreadStream[Written]) -> None:
        """Hand the pieces of an answer to its reader as they come, until the last one, or until the reader leaves.

        Args:
            generation: one that has just begun.
            pieces: its pieces, as `written` gives them.
            stream: takes them.

        Raises:
            SyntagmaError: the iteration over the pieces raised it.
        """
        mine = _Followed(generation, pieces, stream)
        stream.on_room = self._tell
        with self._changed:
            self._answers.append(mine)
            leads, self._is_led = not self._is_led, True
        self._tell()
        try:
            if not leads:
                mine.turn.wait()
                leads = not mine.over
            while not mine.over:
                self._round()
        finally:
            with self._changed:
                self._answers.remove(mine)
                if leads:
                    heir = next((one for one in self._answers if not one.over), None)
                    self._is_led = heir is not None
                    if heir is not None:
                        heir.turn.set()
            generation.close()
        if mine.error is not None:
            raise mine.error

    def _tell(self) -> None:
        with self._changed:
            self._has_news = True
            self._changed.notify_all()

    def _round(self) -> None:
        has_advanced = self._generator.step()
        with self._changed:
            answers = list(self._answers)
        now = time.monotonic()
        if has_advanced and now - self._handed_out < min(max(_LEAST_S, _PER_ANSWER_S * len(answers)), _MOST_S):
            answers = [one for one in answers if one.is_due]
        else:
            self._handed_out = now
        given = [(one.stream, piece) for one in answers for piece in one.take()]
        put_all(given)
        over = [one for one in answers if one.over]
        for one in over:
            one.turn.set()
        if not (has_advanced or given or over):
            self._await_news()

    def _await_news(self) -> None:
        with self._changed:
            while not self._has_news:
                self._changed.wait()
            self._has_news = False
