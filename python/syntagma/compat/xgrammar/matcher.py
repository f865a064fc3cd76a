"""`GrammarMatcher` and `BatchGrammarMatcher` by xgrammar's names."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Sequence
from typing import Any, Literal, TypeVar

from syntagma import decoding
from syntagma.compat.xgrammar.bitmask import (
    allocate_token_bitmask,
    apply_token_bitmask_inplace,
    get_bitmask_shape,
    numpy_rows,
    reset_token_bitmask,
)
from syntagma.compat.xgrammar.compiler import CompiledGrammar
from syntagma.compat.xgrammar.support import bitmask_dtype_of, errors, refuse

__all__ = [
    "BatchGrammarMatcher",
    "GrammarMatcher",
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "get_bitmask_shape",
    "reset_token_bitmask",
]


_Value = TypeVar("_Value")

__getattr__ = bitmask_dtype_of(__name__)


class GrammarMatcher:
    """Follows one text through a compiled grammar.

    Args:
        compiled_grammar: the grammar.
        override_stop_tokens: tokens that end the turn, instead of the vocabulary's.
        terminate_without_stop_token: the text has ended whenever it is complete; stop tokens are not taken.
        max_rollback_tokens: kept for whoever gives it; every step can be taken back.
        default_temperature: what `temperature` says.

    Raises:
        ValueError: a grammar that is not compiled.
    """

    def __init__(
        self,
        compiled_grammar: CompiledGrammar,
        *,
        override_stop_tokens: int | list[int] | None = None,
        terminate_without_stop_token: bool = False,
        max_rollback_tokens: int = -1,
        default_temperature: float | None = None,
    ) -> None:
        if not isinstance(compiled_grammar, CompiledGrammar):
            raise ValueError("a matcher takes a compiled grammar")
        if max_rollback_tokens != -1:
            warnings.warn(
                "max_rollback_tokens means nothing: every step can be taken back", DeprecationWarning, stacklevel=2
            )
        info, compiled = compiled_grammar._tokenizer_info, compiled_grammar._compiled
        stops = [override_stop_tokens] if isinstance(override_stop_tokens, int) else override_stop_tokens
        if stops is not None and stops != info.stop_token_ids:
            # Which tokens end a turn belongs to the vocabulary here: the grammar is compiled for that one.
            info = info._with_stops(tuple(stops))
            with errors():
                compiled = info._compiler().compile(compiled_grammar._grammar._inner)
        self._info = info
        self._without_stop = terminate_without_stop_token
        self._temperature = None if default_temperature is None else float(default_temperature)
        self._inner = decoding.GrammarMatcher(compiled)

    def accept_token(self, token_id: int, *, debug_print: bool = False) -> bool:
        """Take a token; False, and nothing changes, where it may not come next or is none."""
        _print_state(self, debug_print)
        stop = self._without_stop and token_id in self._info.stop_token_ids
        if stop or not 0 <= token_id < self._info.vocab_size:
            return False
        with errors():
            return self._inner.accept_token(token_id)

    def accept_string(self, input_str: str | bytes, *, debug_print: bool = False) -> bool:
        """Take text, whole or not at all; one step for `rollback`."""
        _print_state(self, debug_print)
        with errors():
            return self._inner.accept_bytes(input_str.encode() if isinstance(input_str, str) else input_str)

    def fill_next_token_bitmask(self, bitmask: Any, index: int = 0, *, debug_print: bool = False) -> bool:
        """Write which tokens may come next into row `index`; whether any may not.

        Raises:
            RuntimeError: a bitmask that does not fit, or the text has ended.
        """
        _print_state(self, debug_print)
        row = _row(numpy_rows(bitmask), index, self._info.vocab_size)
        return self._fill(row)

    def _fill(self, row: Any) -> bool:
        if self._inner.is_terminated():
            raise RuntimeError("the text has ended: no token comes next")
        with errors():
            self._inner.fill_next_token_bitmask(row)
        whole, rest = divmod(self._info.vocab_size, 32)
        return bool((row[:whole] != -1).any() or (rest and int(row[whole]) & (1 << rest) - 1 != (1 << rest) - 1))

    def traverse_draft_tree(  # noqa: PLR0917  # as there
        self,
        retrieve_next_token: Any,
        retrieve_next_sibling: Any,
        draft_tokens: Any,
        token_bitmask: Any,
        time_threshold: float = -1.0,
        temperatures: Any | None = None,
    ) -> bool:
        """Fill one row for each node of a tree of draft tokens; nothing is allowed at a token that is refused.

        Node 0 is the present place, whatever its token.

        Args:
            retrieve_next_token: int64 [nodes], the first child of each node, -1 for none.
            retrieve_next_sibling: int64 [nodes], the next child of the same parent, -1 for none.
            draft_tokens: int64 [nodes].
            token_bitmask: int32 [nodes, words].
            time_threshold: seconds after which it gives up; 0 or less: never.
            temperatures: float32 [nodes], filled with the temperature, or -1.

        Returns:
            Whether all was done in time.
        """
        start = time.monotonic()
        rows = numpy_rows(token_bitmask)
        children, siblings, tokens = (
            [int(value) for value in values] for values in (retrieve_next_token, retrieve_next_sibling, draft_tokens)
        )
        if not len(children) == len(siblings) == len(tokens) <= len(rows):
            raise RuntimeError("a draft tree has one child, sibling, token and row for each node")
        if temperatures is not None:
            temperatures[:] = -1.0
        work: list[tuple[int, GrammarMatcher]] = [(0, self)] if tokens else []
        seen = set()
        while work:
            node, before = work.pop()
            if node in seen or not 0 <= node < len(tokens):
                raise RuntimeError(f"node {node} of the draft tree is met twice or is not there")
            seen.add(node)
            if time_threshold > 0 and time.monotonic() - start > time_threshold:
                return False
            here = before.fork()
            row = _row(rows, node, self._info.vocab_size)
            if node and siblings[node] >= 0:
                work.append((siblings[node], before))
            if (node and not here.accept_token(tokens[node])) or here._inner.is_terminated():
                row[:] = 0
                continue
            here._fill(row)
            if temperatures is not None and self._temperature is not None:
                temperatures[node] = self._temperature
            if children[node] >= 0:
                work.append((children[node], here))
        return True

    def find_jump_forward_string(self) -> str:
        """The text that must come next.

        Raises:
            RuntimeError: the text has ended.
        """
        if self._inner.is_terminated():
            raise RuntimeError("the text has ended: nothing comes next")
        with errors():
            forced = self._inner.find_jump_forward_bytes()
        # It may end inside of a character; that is left to the tokens.
        return forced.decode("utf-8", "ignore")

    def rollback(self, num_tokens: int = 1) -> None:
        """Take back the last steps.

        Raises:
            RuntimeError: there were fewer.
        """
        with errors():
            self._inner.rollback(num_tokens)

    def get_captures(self, *, deduplicate: bool = True) -> list[tuple[str, bytes]]:  # noqa: ARG002
        """Not offered.

        Raises:
            NotImplementedError: always.
        """
        refuse("GrammarMatcher.get_captures")

    def is_terminated(self) -> bool:
        """Whether the text has ended: by a stop token or, with `terminate_without_stop_token`, by being complete."""
        with errors():
            return self._inner.is_terminated() or (self._without_stop and self._inner.is_accepting())

    def is_completed(self) -> bool:
        """Whether the text may end here."""
        with errors():
            return self._inner.is_accepting()

    def reset(self) -> None:
        """Back to the start of the text."""
        self._inner.reset()

    def fork(self) -> GrammarMatcher:
        """A second matcher at the same place."""
        forked = GrammarMatcher.__new__(type(self))
        forked._info, forked._without_stop = self._info, self._without_stop
        forked._temperature, forked._inner = self._temperature, self._inner.fork()
        return forked

    @property
    def max_rollback_tokens(self) -> int:
        """-1: every step can be taken back."""
        return -1

    @property
    def temperature(self) -> float | None:
        """The temperature that was given: rules have none of their own."""
        return self._temperature

    @property
    def stop_token_ids(self) -> list[int]:
        """Tokens that end the turn."""
        return self._info.stop_token_ids

    def _debug_print_internal_state(self) -> str:
        with errors():
            return str(self._inner.explain())


class BatchGrammarMatcher:
    """Many matchers in one call.

    Args:
        max_threads: threads that masks may take; `auto`: half of those that the machine has.

    Raises:
        RuntimeError: less than one thread.
    """

    def __init__(self, max_threads: int | Literal["auto"] = "auto") -> None:
        if max_threads == "auto":
            max_threads = max(1, (os.cpu_count() or 1) // 2)
        if not isinstance(max_threads, int) or max_threads < 1:
            raise RuntimeError(f'max_threads is "auto" or at least 1, not {max_threads!r}')
        self._threads = max_threads

    def batch_fill_next_token_bitmask(
        self,
        matchers: list[GrammarMatcher],
        bitmask: Any,
        indices: list[int] | None = None,
        debug_print: bool = False,
    ) -> None:
        """Fill row `indices[i]` (default `i`) for each matcher.

        Raises:
            RuntimeError: a bitmask or indices that do not fit, or a text that has ended.
        """
        rows = numpy_rows(bitmask)
        targets = list(range(len(matchers))) if indices is None else list(indices)
        if len(targets) != len(matchers):
            raise RuntimeError(f"there are {len(targets)} indices for {len(matchers)} matchers")
        if debug_print or any(matcher._inner.is_terminated() for matcher in matchers):
            for matcher, index in zip(matchers, targets, strict=True):
                matcher.fill_next_token_bitmask(rows, index, debug_print=debug_print)
            return
        for matcher, index in zip(matchers, targets, strict=True):
            _row(rows, index, matcher._info.vocab_size)
        with errors():
            inner = [matcher._inner for matcher in matchers]
            decoding.fill_next_token_bitmask_batch(inner, rows, indices=targets, threads=self._threads)

    @staticmethod
    def batch_fill_temperature(
        matchers: list[GrammarMatcher], temperatures: Any, indices: list[int] | None = None
    ) -> None:
        """Write the temperature of each matcher, -1 for none.

        Raises:
            RuntimeError: sizes that do not fit.
        """
        targets = list(range(len(matchers))) if indices is None else list(indices)
        if len(targets) != len(matchers) or any(not 0 <= at < len(temperatures) for at in targets):
            raise RuntimeError("each matcher needs one place in the temperatures")
        for matcher, at in zip(matchers, targets, strict=True):
            temperatures[at] = -1.0 if matcher.temperature is None else matcher.temperature

    @staticmethod
    def batch_accept_token(
        matchers: list[GrammarMatcher], tokens: Sequence[int], debug_print: bool = False
    ) -> list[bool]:
        """Take one token on each matcher; whether each was taken.

        Raises:
            RuntimeError: lists of different lengths.
        """
        return [matcher.accept_token(token, debug_print=debug_print) for matcher, token in _pairs(matchers, tokens)]

    @staticmethod
    def batch_accept_string(
        matchers: list[GrammarMatcher], strings: Sequence[str | bytes], debug_print: bool = False
    ) -> list[bool]:
        """Take one text on each matcher; whether each was taken.

        Raises:
            RuntimeError: lists of different lengths.
        """
        return [matcher.accept_string(text, debug_print=debug_print) for matcher, text in _pairs(matchers, strings)]

    @staticmethod
    def batch_rollback(matchers: list[GrammarMatcher], num_tokens: list[int] | int = 1) -> None:
        """Take back steps on each matcher.

        Raises:
            RuntimeError: lists of different lengths, or a matcher that had fewer steps.
        """
        steps = [num_tokens] * len(matchers) if isinstance(num_tokens, int) else num_tokens
        for matcher, count in _pairs(matchers, steps):
            matcher.rollback(count)


def _row(rows: Any, index: int, vocab_size: int) -> Any:
    words = -(-vocab_size // 32)
    if rows.shape[1] != words:
        raise RuntimeError(f"a row of {vocab_size} tokens has {words} words, not {rows.shape[1]}")
    if not 0 <= index < len(rows):
        raise RuntimeError(f"row {index} is not among the {len(rows)} rows")
    return rows[index]


def _pairs(matchers: Sequence[GrammarMatcher], values: Sequence[_Value]) -> list[tuple[GrammarMatcher, _Value]]:
    """Each matcher with its value.

    Raises:
        RuntimeError: lists of different lengths.
    """
    if len(matchers) != len(values):
        raise RuntimeError(f"there are {len(values)} values for {len(matchers)} matchers")
    return list(zip(matchers, values, strict=True))


def _print_state(matcher: GrammarMatcher, wanted: bool) -> None:
    if wanted:
        print(matcher._debug_print_internal_state())  # noqa: T201  # what the argument asks for
