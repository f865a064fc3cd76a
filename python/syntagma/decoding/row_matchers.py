"""The matchers of a batch whose rows change places, go back, and go on as several.

Libraries that sample show a logits processor nothing but the tokens of each row. Beams change places, drafts are taken
back, an assistant writes ahead, and the next generation begins without notice. So a row's matcher is found by the
tokens that the row holds, never by its number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagma._engine import CompiledGrammar, GrammarMatcher
from syntagma.decoding.bitmask import accept_token_batch, allocate_token_bitmask, fill_next_token_bitmask_batch
from syntagma.errors import ArgumentError

__all__ = ["RowMatchers"]


class RowMatchers:
    """Follows the rows of a batch through grammars. Not shared between threads.

    One matcher a row is held, each with its own past. A row goes on from any row of the step before: the matcher is
    forked where several do, and takes back what the row does not hold. A batch that does not go on, by at most one
    token, from what was there before begins anew: those rows are prompts.

    Args:
        grammars: one for all rows, or one for each; where there are several times as many rows (beams, several answers
            to a prompt), those of one grammar stand together. None: the rows are free.
        vocab_size: width of the bitmask, tokens.
        end_token_ids: what may follow in a row that has ended, or that took a token which was masked, as beams and
            drafts do; without them, anything.
    """

    def __init__(
        self, grammars: Sequence[CompiledGrammar | None], vocab_size: int, end_token_ids: Sequence[int] = ()
    ) -> None:
        self._grammars = tuple(grammars)
        self._vocab_size = vocab_size
        self._over = allocate_token_bitmask(1, vocab_size)[0]
        """the row of the bitmask for a row that is over"""
        if end_token_ids:
            bits = np.zeros(len(self._over) * 32, np.uint8)
            bits[list(end_token_ids)] = 1
            self._over = np.packbits(bits, bitorder="little").view("<i4").astype(np.int32)
        self._bitmask: NDArray[np.int32] = allocate_token_bitmask(0, vocab_size)
        self._rows: NDArray[np.integer[Any]] | None = None
        """the batch as it was last seen"""
        self._matchers: list[GrammarMatcher | None] = []
        """one for each row; it has accepted fewer tokens than the row holds after its prompt if the row is over"""
        self._prompt = 0
        """tokens of a prompt, padding included"""

    def reset(self) -> None:
        """Forget everything: the next batch holds prompts."""
        self._rows = None

    def follow(self, rows: NDArray[np.integer[Any]]) -> None:
        """Bring the matchers to the ends of the rows.

        Args:
            rows: integers [batch, tokens], the prompts and all that was written after them; copied.

        Raises:
            ArgumentError: `E-BATCH-SIZE`, no batch, or one that the grammars cannot be dealt out to.
            LimitError: `E-LIMIT-STEP`, a matcher spent its fuel.
        """
        if rows.ndim != 2 or not len(rows) or len(rows) % len(self._grammars):
            shape = " x ".join(map(str, rows.shape))
            raise ArgumentError("E-BATCH-SIZE", f"{len(self._grammars)} grammars for a batch of {shape} tokens")
        before = self._rows_before(rows)
        if before is None:
            self._prompt = rows.shape[1]
            self._matchers = [
                None if grammar is None else GrammarMatcher(grammar)
                for grammar in self._grammars
                for _ in range(len(rows) // len(self._grammars))
            ]
        else:
            self._move(before, rows.shape[1] - 1 - self._prompt)
            self._accept(rows[:, -1].tolist(), rows.shape[1] - 1 - self._prompt)
        self._rows = rows.copy()

    def bitmask(self) -> NDArray[np.int32]:
        """Which tokens may come next in each row: int32 [batch, words], written anew by the next call.

        Raises:
            LimitError: `E-LIMIT-STEP`, a matcher spent its fuel.
        """
        if len(self._bitmask) != len(self._matchers):
            self._bitmask = allocate_token_bitmask(len(self._matchers), self._vocab_size)
        written = 0 if self._rows is None else self._rows.shape[1] - self._prompt
        going: list[int] = []
        matchers: list[GrammarMatcher] = []
        for row, matcher in enumerate(self._matchers):
            if matcher is None:
                self._bitmask[row] = -1
            elif _goes_on(matcher, written):
                going.append(row)
                matchers.append(matcher)
            else:
                self._bitmask[row] = self._over
        if going:
            fill_next_token_bitmask_batch(matchers, self._bitmask, indices=going)
        return self._bitmask

    def _rows_before(self, rows: NDArray[np.integer[Any]]) -> Sequence[int] | None:
        """For each row the one of the step before that it goes on from; None if one goes on from none."""
        last, width = self._rows, rows.shape[1]
        if last is None or len(last) != len(rows) or not self._prompt < width <= last.shape[1] + 1:
            return None
        if np.array_equal(rows[:, :-1], last[:, : width - 1]):
            return range(len(rows))
        size = len(rows) // len(self._grammars)
        before = []
        for row, tokens in enumerate(rows[:, :-1]):
            first = row - row % size
            same = (row, *range(first, first + size))
            found = next((one for one in same if np.array_equal(tokens, last[one, : width - 1])), None)
            if found is None:
                return None
            before.append(found)
        return before

    def _move(self, before: Sequence[int], written: int) -> None:
        """Give each row the matcher of the row that it goes on from, as it was after so many tokens."""
        if not isinstance(before, range):
            old, used = self._matchers, set[int]()
            self._matchers = []
            for row in before:
                matcher = old[row]
                self._matchers.append(matcher.fork() if matcher is not None and row in used else matcher)
                used.add(row)
        for matcher in self._matchers:
            if matcher is not None and matcher.steps > written:
                matcher.rollback(matcher.steps - written)

    def _accept(self, tokens: Sequence[int], written: int) -> None:
        """Take the last token of each row; a matcher that refuses it stays behind, and its row is over."""
        taken = [
            (matcher, token)
            for matcher, token in zip(self._matchers, tokens, strict=True)
            if matcher is not None and _goes_on(matcher, written) and 0 <= token < self._vocab_size
        ]
        if taken:
            accept_token_batch([matcher for matcher, _ in taken], [token for _, token in taken])


def _goes_on(matcher: GrammarMatcher, written: int) -> bool:
    """Whether a matcher has accepted all that its row holds, and may accept more."""
    return matcher.steps == written and not matcher.is_terminated()
