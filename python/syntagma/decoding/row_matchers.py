"""The matchers of a batch whose rows are reordered, shortened and duplicated by the sampling library.

A sampling library passes only the tokens of each row to a logits processor. It reorders beams, takes back drafts,
appends tokens of an assistant model, and begins the next generation without notice. Therefore a row's matcher is found
by the row's tokens, never by its number.
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
    """Follows the rows of a batch through grammars. Not safe for several threads.

    Each row has one matcher. A row may continue any row of the step before: a matcher is forked if several rows
    continue the same one, and rolled back if the row has fewer tokens. If a batch does not continue the last one by at
    most one token, its rows are new prompts.

    Args:
        grammars: one for all rows, or one for each row. If there are several rows per grammar (beams, several answers
            to a prompt), the rows of one grammar are adjacent. None: the rows are not constrained.
        vocab_size: width of the bitmask in tokens.
        end_token_ids: tokens allowed in a row that has ended, or that took a masked token, which happens with beams and
            drafts; if empty, every token is allowed there.
    """

    def __init__(
        self, grammars: Sequence[CompiledGrammar | None], vocab_size: int, end_token_ids: Sequence[int] = ()
    ) -> None:
        self._grammars = tuple(grammars)
        self._vocab_size = vocab_size
        self._over = allocate_token_bitmask(1, vocab_size)[0]
        """the bitmask of a row that has ended"""
        if end_token_ids:
            bits = np.zeros(len(self._over) * 32, np.uint8)
            bits[list(end_token_ids)] = 1
            self._over = np.packbits(bits, bitorder="little").view("<i4").astype(np.int32)
        self._bitmask: NDArray[np.int32] = allocate_token_bitmask(0, vocab_size)
        self._rows: NDArray[np.integer[Any]] | None = None
        """the last batch"""
        self._matchers: list[GrammarMatcher | None] = []
        """one per row; it has accepted fewer tokens than the row has after its prompt if the row has ended"""
        self._prompt = 0
        """length of the prompts in tokens, padding included"""

    def reset(self) -> None:
        """Forget the last batch: the rows of the next one are prompts."""
        self._rows = None

    def follow(self, rows: NDArray[np.integer[Any]]) -> None:
        """Move each matcher to the end of its row.

        Args:
            rows: integers [batch, tokens], the prompts with all tokens generated so far; copied.

        Raises:
            ArgumentError: `E-BATCH-SIZE`, the batch is empty, or its size is not a multiple of the number of grammars.
            LimitError: `E-LIMIT-STEP`, a matcher spent its fuel.
        """
        if rows.ndim != 2 or not len(rows) or len(rows) % len(self._grammars):
            shape = " x ".join(map(str, rows.shape))
            message = f"a batch of {shape} tokens cannot be divided among {len(self._grammars)} grammars"
            raise ArgumentError("E-BATCH-SIZE", message)
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
        """The bitmask of the tokens that may come next in each row: int32 [batch, words]. The next call overwrites it.

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
        """For each row, the row of the last batch that it continues; None if a row continues none."""
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
        """Give each row the matcher of the row it continues, rolled back to `written` tokens."""
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
        """Accept the last token of each row. If a matcher rejects it, its row has ended."""
        taken = [
            (matcher, token)
            for matcher, token in zip(self._matchers, tokens, strict=True)
            if matcher is not None and _goes_on(matcher, written) and 0 <= token < self._vocab_size
        ]
        if taken:
            accept_token_batch([matcher for matcher, _ in taken], [token for _, token in taken])


def _goes_on(matcher: GrammarMatcher, written: int) -> bool:
    """Whether a matcher has accepted all tokens of its row and can accept more."""
    return matcher.steps == written and not matcher.is_terminated()
