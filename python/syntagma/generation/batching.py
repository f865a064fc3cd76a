"""Sequences that advance together: masks in one call, one pass of the model, then one token or more of each.

Sequences join and leave between passes. The loop has no thread of its own: a thread that waits for a token advances
all sequences, or waits for the thread that does.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import Enum
from itertools import count
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from syntagma.decoding import GrammarMatcher, allocate_token_bitmask, fill_next_token_bitmask_batch
from syntagma.decoding.backend import Backend, Batch, Logits, Session
from syntagma.decoding.sampling import Draw, Drawn

__all__ = ["Asks", "BatchLoop", "Row", "SessionBatch"]

_log = logging.getLogger("syntagma.generation")
_PROMPTS_S = 0.05
"""seconds for which further prompts are read while sequences that already write wait"""


class Asks(Enum):
    """What a sequence needs to go on."""

    MASK = "mask"
    TOKEN = "token"


class Row(Protocol):
    """A sequence in the loop."""

    matcher: GrammarMatcher | None
    unread: list[int]
    """tokens that the model has not read; at first the prompt"""
    asks: Asks | None
    """None: it is over, or has not begun"""
    mask: NDArray[np.int32]
    """int32 [words], set before `go_on` if `asks` is `Asks.MASK`; valid until that returns"""
    logits: Logits
    """[vocab_size], set when the model has read `unread`"""
    draw: Draw
    """how a token is chosen from `logits`, if `asks` is `Asks.TOKEN`"""
    drawn: Drawn | None
    """the token, set before `go_on` if it was chosen on the logits' device; None: the sequence chooses"""
    error: Exception | None

    @property
    def is_read(self) -> bool:
        """Whether the model has read the prompt."""
        ...

    @property
    def is_over(self) -> bool:
        """Whether it has ended, failed or been cancelled."""
        ...

    @property
    def may_advance(self) -> bool:
        """Whether it may make a further token."""
        ...

    def read_part(self, seconds: float) -> None:
        """Note that the model has read a part of the prompt, in `seconds`."""
        ...

    def read(self, logits: Logits, seconds: float) -> None:
        """Take the logits after the tokens that the model has read, in `seconds`."""
        ...

    def go_on(self, *, masked_s: float = 0.0, drawn_s: float = 0.0) -> None:
        """Go on with the mask or the logits, until it asks again; an exception becomes its `error`."""
        ...

    def fail(self, error: Exception) -> None:
        """End with an error."""
        ...

    def release(self) -> None:
        """Give back its matcher: it has left the loop."""
        ...


class SessionBatch:
    """A batch over a backend that computes one sequence at a time.

    Args:
        backend: opens the sequences.
    """

    tokens_at_once = prompt_tokens_at_once = 1 << 30

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._sessions: dict[int, Session] = {}

    def prefill_part(self, key: int, token_ids: Sequence[int]) -> None:
        """See `Batch`."""
        self.prefill({key: token_ids})

    def prefill(self, token_ids: Mapping[int, Sequence[int]]) -> Sequence[Logits]:
        """See `Batch`."""
        opened = {key: self._backend.open() for key in token_ids if key not in self._sessions}
        logits = [
            opened[key].prefill(ids) if key in opened else self._sessions[key].extend(ids)
            for key, ids in token_ids.items()
        ]
        self._sessions |= opened
        return logits

    def extend(self, token_ids: Mapping[int, Sequence[int]]) -> Sequence[Logits]:
        """See `Batch`."""
        return [
            self._sessions[key].step(ids[0]) if len(ids) == 1 else self._sessions[key].extend(ids)
            for key, ids in token_ids.items()
        ]

    def drop(self, keys: Collection[int]) -> None:
        """See `Batch`."""
        for key in keys:
            self._sessions.pop(key, None)


class BatchLoop:
    """Advances sequences. Threads may share it.

    Args:
        batch: computes their logits.
        vocab_size: their width.
    """

    def __init__(self, batch: Batch, vocab_size: int) -> None:
        self._batch = batch
        self._vocab_size = vocab_size
        self._bitmask = allocate_token_bitmask(0, vocab_size)
        self._numbers = count()
        self._rows: dict[int, Row] = {}
        self._joining: deque[Row] = deque()
        self._leaving: deque[Row] = deque()
        self._changed = threading.Condition()
        self._is_driven = False

    def join(self, row: Row) -> None:
        """Add a sequence; its prompt is read in the next step."""
        self._joining.append(row)

    def leave(self, row: Row) -> None:
        """Remove a sequence, at once or after the step that is being computed.

        The garbage collector may call it in any thread, at any point: it waits for nothing.
        """
        self._leaving.append(row)
        if self._changed.acquire(blocking=False):
            try:
                if self._is_driven:
                    return
                self._is_driven = True
            finally:
                self._changed.release()
            self._end_turn()

    def await_prompt(self, row: Row) -> None:
        """Advance until the prompt of a sequence has been read or refused."""
        self.drive(lambda: row.is_read)

    def drive(self, done: Callable[[], bool]) -> None:
        """Advance until `done`, or wait while another thread does."""
        while True:
            with self._changed:
                if done():
                    return
                if self._is_driven:
                    self._changed.wait()
                    continue
                self._is_driven = True
            try:
                self._advance()
            finally:
                self._end_turn()

    def step(self) -> bool:
        """Advance by one pass of the model, or wait until another thread has; returns whether any sequence could."""
        with self._changed:
            if self._is_driven:
                self._changed.wait()
                return True
            self._is_driven = True
        try:
            return self._advance()
        finally:
            self._end_turn()

    def _end_turn(self) -> None:
        """Remove the sequences that left, then let another thread advance."""
        try:
            while self._leaving:
                self._remove(self._leaving.popleft())
        finally:
            with self._changed:
                self._is_driven = False
                self._changed.notify_all()

    def _remove(self, row: Row) -> None:
        number = next((number for number, one in self._rows.items() if one is row), None)
        if number is None:
            if row in self._joining:
                self._joining.remove(row)
        else:
            del self._rows[number]
            self._batch.drop((number,))
        row.release()

    def _advance(self) -> bool:
        has_read = self._read_waiting()
        going = {number: row for number, row in self._rows.items() if row.may_advance}
        while asking := [row for row in going.values() if row.asks is Asks.MASK]:
            self._mask(asking)
        alone = len(going) < 2
        share = None if alone else max(1, self._batch.tokens_at_once // len(going))
        reading = {number: row for number, row in going.items() if row.asks is Asks.TOKEN}
        if unread := {number: row.unread[:share] for number, row in reading.items() if row.unread}:
            self._compute(self._batch.extend, unread)
        choosing = [row for row in reading.values() if not row.unread and not row.is_over]
        while choosing:
            self._choose(choosing)
            # Who had chosen an excluded token chooses again.
            choosing = [row for row in choosing if not row.unread and row.asks is Asks.TOKEN and not row.is_over]
        if over := [number for number, row in self._rows.items() if row.is_over]:
            self._batch.drop(over)
            for number in over:
                self._rows.pop(number).release()
        return has_read or bool(going)

    def _read_waiting(self) -> bool:
        """Read prompts, so that sequences that came together also advance together; returns whether any was read."""
        until = time.perf_counter() + _PROMPTS_S
        has_read = False
        while self._read_prompts():
            has_read = True
            if time.perf_counter() >= until:
                break
        return has_read

    def _read_prompts(self) -> bool:
        """Read as much of the prompts as one pass may, the oldest first; returns whether anything was read."""
        while self._joining:
            self._rows[next(self._numbers)] = self._joining.popleft()
        room = self._batch.prompt_tokens_at_once
        whole: dict[int, list[int]] = {}
        for number, row in self._rows.items():
            if row.is_read or row.is_over:
                continue
            if len(row.unread) > room:
                # A prompt that fits into a pass of its own waits for one: each part would be a pass.
                if not whole:
                    self._read_part(number, row, row.unread[:room])
                    return True
                break
            whole[number] = row.unread
            room -= len(row.unread)
        if whole:
            self._compute(self._batch.prefill, whole)
        return bool(whole)

    def _read_part(self, number: int, row: Row, token_ids: Sequence[int]) -> None:
        began = time.perf_counter()
        try:
            self._batch.prefill_part(number, token_ids)
        except Exception as error:
            row.fail(error)
        else:
            del row.unread[: len(token_ids)]
            row.read_part(time.perf_counter() - began)

    def _compute(
        self, read: Callable[[Mapping[int, Sequence[int]]], Iterable[Logits]], unread: Mapping[int, Sequence[int]]
    ) -> None:
        """Let the model read tokens; if it fails, again sequence by sequence, so that only the one at fault ends."""
        began = time.perf_counter()
        try:
            computed = read(unread)
        except Exception as error:
            for number in unread if len(unread) > 1 else ():
                self._compute(read, {number: unread[number]})
            if len(unread) == 1:
                self._rows[next(iter(unread))].fail(error)
            return
        took = time.perf_counter() - began
        for (number, ids), logits in zip(unread.items(), computed, strict=True):
            row = self._rows[number]
            del row.unread[: len(ids)]
            row.read(logits, took)

    def _choose(self, rows: Sequence[Row]) -> None:
        """Choose the tokens of sequences whose logits lie on a device, and let each sequence go on."""
        apart = [row for row in rows if type(row.logits) is not np.ndarray]
        drawn_s = 0.0
        if apart:
            from syntagma.decoding.device_sampling import draw_together

            began = time.perf_counter()
            try:
                drawn = draw_together([row.logits for row in apart], [row.draw for row in apart])
            except RuntimeError as error:  # such as too little memory for all at once
                _log.warning("tokens are chosen on the host, because the device failed: %s", error)
            else:
                for row, one in zip(apart, drawn, strict=True):
                    row.drawn = one
            drawn_s = (time.perf_counter() - began) / len(apart)
        for row in rows:
            row.go_on(drawn_s=drawn_s if row in apart else 0.0)

    def _mask(self, rows: Sequence[Row]) -> None:
        """Fill the masks of these sequences in one call, and let each go on."""
        if len(rows) > len(self._bitmask):
            self._bitmask = allocate_token_bitmask(2 * len(rows), self._vocab_size)
        matchers = [row.matcher for row in rows if row.matcher is not None]
        began = time.perf_counter()
        try:
            fill_next_token_bitmask_batch(matchers, self._bitmask, indices=range(len(rows)))
        except Exception as error:
            for row in rows if len(rows) > 1 else ():
                self._mask([row])
            if len(rows) == 1:
                rows[0].fail(error)
            return
        took = (time.perf_counter() - began) / len(rows)
        for row, mask in zip(rows, self._bitmask, strict=False):
            row.mask = mask
            row.go_on(masked_s=took)
