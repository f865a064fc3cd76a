"""`GrammarMatcher` and `BatchGrammarMatcher` under xgrammar's names."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Sequence
from typing import Any, Literal, TypeVar

from syntagma import _engine, decoding
from syntagma.compat.xgrammar.arguments import checked, integer, integers, members, number, wrong_type, wrong_value
from syntagma.compat.xgrammar.bitmask import (
    allocate_token_bitmask,
    apply_token_bitmask_inplace,
    get_bitmask_shape,
    numpy_rows,
    reset_token_bitmask,
)
from syntagma.compat.xgrammar.compiler import CompiledGrammar
from syntagma.compat.xgrammar.exception import WrongTypeError
from syntagma.compat.xgrammar.support import bitmask_dtype_of, errors
from syntagma.compat.xgrammar.tokenizer_info import TokenizerInfo

__all__ = [
    "BatchGrammarMatcher",
    "GrammarMatcher",
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "get_bitmask_shape",
    "reset_token_bitmask",
]


_Value = TypeVar("_Value")
_COMPILER = "syntagma.compat.xgrammar.GrammarCompiler: the library's compiled grammars do not contain their stop tokens"

__getattr__ = bitmask_dtype_of(__name__)


class GrammarMatcher:
    """Follows one text through a compiled grammar.

    Args:
        compiled_grammar: the grammar; `syntagma.CompiledGrammar` is accepted, too, but does not have its stop tokens.
        override_stop_tokens: tokens that end the turn, instead of the vocabulary's.
        terminate_without_stop_token: the text ends as soon as it is complete; stop tokens are not accepted.
        max_rollback_tokens: accepted but unused: every step can be rolled back.
        default_temperature: the value of `temperature`, not negative.

    Raises:
        WrongTypeError: a grammar that is not compiled, or another argument of the wrong type.
        WrongValueError: no stop token, a temperature that is negative or not finite, or stop tokens for a compiled
            grammar of the library.
        RuntimeError: a stop token that the vocabulary does not have.
    """

    @checked
    def __init__(
        self,
        compiled_grammar: CompiledGrammar | _engine.CompiledGrammar,
        *,
        override_stop_tokens: int | list[int] | None = None,
        terminate_without_stop_token: bool = False,
        max_rollback_tokens: int = -1,
        default_temperature: float | None = None,
    ) -> None:
        if not isinstance(compiled_grammar, CompiledGrammar | _engine.CompiledGrammar):
            raise wrong_type(
                "compiled_grammar", "CompiledGrammar", compiled_grammar, hint="compile it: GrammarCompiler"
            )
        if max_rollback_tokens != -1:
            warnings.warn(
                "max_rollback_tokens has no effect: every step can be rolled back", DeprecationWarning, stacklevel=3
            )
        stops = _stops(override_stop_tokens)
        self._stop_token_ids: list[int] | None = None
        if isinstance(compiled_grammar, CompiledGrammar):
            compiled, info = _compiled_for(compiled_grammar, stops)
            self._stop_token_ids = info.stop_token_ids
        elif stops is not None:
            raise wrong_value("override_stop_tokens", f"override_stop_tokens needs a grammar of {_COMPILER}")
        else:
            compiled = compiled_grammar
        self._vocab_size = compiled.vocab_size
        self._without_stop = terminate_without_stop_token
        self._temperature = None if default_temperature is None else number("default_temperature", default_temperature)
        self._inner = decoding.GrammarMatcher(compiled)
        self._decoded = info if isinstance(compiled_grammar, CompiledGrammar) else None
        with errors():
            # What was accepted is only kept for grammars with labels.
            self._steps: list[int | bytes] | None = [] if self._inner.captures() else None

    @property
    def syntagma(self) -> _engine.GrammarMatcher:
        """The library's own matcher. The two share their state."""
        return self._inner

    def accept_token(self, token_id: int, *, debug_print: bool = False) -> bool:
        """Accept a token. If it is not allowed next or is outside the vocabulary: False, and nothing changes.

        Raises:
            WrongTypeError: not an integer.
        """
        _print_state(self, debug_print)
        if type(token_id) is not int:
            token_id = integer("token_id", token_id)
        if not 0 <= token_id < self._vocab_size:
            return False
        with errors():
            accepted = self._inner.accept_token(token_id)
            if accepted and self._without_stop and self._inner.is_terminated():
                self._inner.rollback(1)
                return False
        if accepted and self._steps is not None:
            self._steps.append(token_id)
        return accepted

    @checked
    def accept_string(self, input_str: str | bytes, *, debug_print: bool = False) -> bool:
        """Accept text, all of it or nothing. It is one step for `rollback`.

        Raises:
            WrongTypeError: neither a string nor bytes.
            WrongValueError: a lone surrogate in the text.
        """
        _print_state(self, debug_print)
        if not isinstance(input_str, str | bytes | bytearray):
            raise wrong_type("input_str", "str or bytes", input_str)
        data = input_str.encode() if isinstance(input_str, str) else bytes(input_str)
        with errors():
            accepted = self._inner.accept_bytes(data)
        if accepted and self._steps is not None:
            self._steps.append(data)
        return accepted

    def fill_next_token_bitmask(self, bitmask: Any, index: int = 0, *, debug_print: bool = False) -> bool:
        """Write the tokens allowed next to row `index`. Returns whether any token is denied.

        Raises:
            WrongTypeError: not a bitmask, or not an integer.
            WrongValueError: a bitmask that does not fit, or a row out of range.
            RuntimeError: the text has ended.
        """
        _print_state(self, debug_print)
        row = _row(numpy_rows(bitmask), index, self._vocab_size)
        return self._fill(row)

    def _fill(self, row: Any) -> bool:
        if self._inner.is_terminated():
            raise RuntimeError("the text has ended: no token comes next")
        with errors():
            self._inner.fill_next_token_bitmask(row)
        whole, rest = divmod(self._vocab_size, 32)
        return bool((row[:whole] != -1).any() or (rest and int(row[whole]) & (1 << rest) - 1 != (1 << rest) - 1))

    def traverse_draft_tree(  # noqa: PLR0917  # as in xgrammar
        self,
        retrieve_next_token: Any,
        retrieve_next_sibling: Any,
        draft_tokens: Any,
        token_bitmask: Any,
        time_threshold: float = -1.0,
        temperatures: Any | None = None,
    ) -> bool:
        """Fill one row for each node of a tree of draft tokens. The row of a refused token allows nothing.

        Node 0 is the current position, whatever its token.

        Args:
            retrieve_next_token: int64 [nodes], the first child of each node, -1 for none.
            retrieve_next_sibling: int64 [nodes], the next child of the same parent, -1 for none.
            draft_tokens: int64 [nodes].
            token_bitmask: int32 [nodes, words].
            time_threshold: seconds after which it gives up; 0 or less: never.
            temperatures: float32 [nodes], filled with the temperature, or -1.

        Returns:
            Whether all rows were filled in time.

        Raises:
            WrongTypeError, WrongValueError: tensors of the wrong type or size.
            RuntimeError: the nodes are not a tree.
        """
        start = time.monotonic()
        rows = numpy_rows(token_bitmask)
        children = integers("retrieve_next_token", retrieve_next_token)
        siblings = integers("retrieve_next_sibling", retrieve_next_sibling)
        tokens = integers("draft_tokens", draft_tokens)
        if not len(children) == len(siblings) == len(tokens) <= len(rows):
            counts = f"{len(children)} children, {len(siblings)} siblings, {len(tokens)} tokens and {len(rows)} rows"
            raise wrong_value(
                "draft_tokens", f"each node of a draft tree needs one of each: {counts}", code="E-BITMASK-SIZE"
            )
        if temperatures is not None:
            _check_temperatures(temperatures, range(len(tokens)))
            temperatures[:] = -1.0
        work: list[tuple[int, GrammarMatcher]] = [(0, self)] if tokens else []
        seen = set()
        while work:
            node, before = work.pop()
            if node in seen or not 0 <= node < len(tokens):
                raise RuntimeError(f"node {node} of the draft tree occurs twice or does not exist")
            seen.add(node)
            if time_threshold > 0 and time.monotonic() - start > time_threshold:
                return False
            here = before.fork()
            row = _row(rows, node, self._vocab_size)
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
        # It may end inside a character; that part is left to the tokens.
        return forced.decode("utf-8", "ignore")

    def rollback(self, num_tokens: int = 1) -> None:
        """Undo the last steps.

        Raises:
            WrongTypeError, WrongValueError: not an integer, or a negative one.
            RuntimeError: there were fewer.
        """
        with errors():
            self._inner.rollback(integer("num_tokens", num_tokens, 0))
        if self._steps is not None:
            del self._steps[len(self._steps) - num_tokens :]

    def get_captures(self, *, deduplicate: bool = True) -> list[tuple[str, bytes]]:  # noqa: ARG002
        """The labels and texts of the labelled parts of the text, in the order in which they end, inner ones first.

        They are those of one reading, as `syntagma.GrammarMatcher.captures` has them, so there is nothing to
        deduplicate.

        Raises:
            RuntimeError: there are too many readings, or the matcher was made from a compiled grammar of the library
                and accepted tokens.
        """
        if self._steps is None:
            return []
        with errors():
            found = self._inner.captures()
        text = b"".join(self._bytes(step) for step in self._steps)
        labels = list(found)
        # Of the same text, what comes later in a grammar is most often inside.
        parts = [(end, -start, -at) for at, label in enumerate(labels) for start, end in found[label]]
        return [(labels[-at], text[-start:end]) for end, start, at in sorted(parts)]

    def _bytes(self, step: int | bytes) -> bytes:
        if isinstance(step, bytes):
            return step
        if self._decoded is None:
            raise wrong_value("compiled_grammar", f"get_captures needs a grammar of {_COMPILER}")
        return self._decoded.decoded_vocab[step]

    def is_terminated(self) -> bool:
        """Whether the text has ended: with a stop token or, given `terminate_without_stop_token`, by being complete."""
        with errors():
            return self._inner.is_terminated() or (self._without_stop and self._inner.is_accepting())

    def is_completed(self) -> bool:
        """Whether the text may end here."""
        with errors():
            return self._inner.is_accepting()

    def reset(self) -> None:
        """Go back to the start of the text."""
        self._inner.reset()
        self._steps = None if self._steps is None else []

    def fork(self) -> GrammarMatcher:
        """A second matcher at the same position."""
        forked = GrammarMatcher.__new__(type(self))
        forked._vocab_size, forked._without_stop = self._vocab_size, self._without_stop
        forked._stop_token_ids = self._stop_token_ids
        forked._temperature, forked._inner = self._temperature, self._inner.fork()
        forked._decoded = self._decoded
        forked._steps = None if self._steps is None else list(self._steps)
        return forked

    @property
    def max_rollback_tokens(self) -> int:
        """-1: every step can be rolled back."""
        return -1

    @property
    def temperature(self) -> float | None:
        """The temperature that was given; rules have no temperatures of their own."""
        return self._temperature

    @property
    def stop_token_ids(self) -> list[int]:
        """Tokens that end the turn.

        Raises:
            WrongValueError: the matcher was made from a compiled grammar of the library.
        """
        if self._stop_token_ids is None:
            raise wrong_value("compiled_grammar", f"stop_token_ids needs a grammar of {_COMPILER}")
        return list(self._stop_token_ids)

    def _debug_print_internal_state(self) -> str:
        with errors():
            return str(self._inner.explain())


class BatchGrammarMatcher:
    """Many matchers in one call.

    Args:
        max_threads: how many threads may compute masks; `auto`: half of the machine's.

    Raises:
        WrongTypeError: neither `auto` nor an integer.
        WrongValueError: less than one thread.
    """

    def __init__(self, max_threads: int | Literal["auto"] = "auto") -> None:
        if max_threads == "auto":
            max_threads = max(1, (os.cpu_count() or 1) // 2)
        self._threads = integer("max_threads", max_threads, 1)

    def batch_fill_next_token_bitmask(
        self,
        matchers: list[GrammarMatcher],
        bitmask: Any,
        indices: list[int] | None = None,
        debug_print: bool = False,
    ) -> None:
        """Fill row `indices[i]` (default `i`) for each matcher.

        Raises:
            WrongTypeError, WrongValueError: matchers, a bitmask or indices that do not fit.
            RuntimeError: a text that has ended.
        """
        rows = numpy_rows(bitmask)
        matchers = _matchers(matchers)
        targets = _targets(indices, len(matchers))
        if debug_print or any(matcher._inner.is_terminated() for matcher in matchers):
            for matcher, index in zip(matchers, targets, strict=True):
                matcher.fill_next_token_bitmask(rows, index, debug_print=debug_print)
            return
        for matcher, index in zip(matchers, targets, strict=True):
            _row(rows, index, matcher._vocab_size)
        with errors():
            inner = [matcher._inner for matcher in matchers]
            decoding.fill_next_token_bitmask_batch(inner, rows, indices=targets, threads=self._threads)

    @staticmethod
    def batch_fill_temperature(
        matchers: list[GrammarMatcher], temperatures: Any, indices: list[int] | None = None
    ) -> None:
        """Write the temperature of each matcher, -1 for none.

        Raises:
            WrongTypeError, WrongValueError: not one-dimensional floats, or sizes that do not fit.
        """
        matchers = _matchers(matchers)
        targets = _targets(indices, len(matchers))
        _check_temperatures(temperatures, targets)
        for matcher, at in zip(matchers, targets, strict=True):
            temperatures[at] = -1.0 if matcher.temperature is None else matcher.temperature

    @staticmethod
    def batch_accept_token(
        matchers: list[GrammarMatcher], tokens: Sequence[int], debug_print: bool = False
    ) -> list[bool]:
        """Accept one token on each matcher. Returns whether each was accepted.

        Raises:
            WrongTypeError, WrongValueError: not matchers, values of the wrong type, or lists of different lengths.
        """
        return [matcher.accept_token(token, debug_print=debug_print) for matcher, token in _pairs(matchers, tokens)]

    @staticmethod
    def batch_accept_string(
        matchers: list[GrammarMatcher], strings: Sequence[str | bytes], debug_print: bool = False
    ) -> list[bool]:
        """Accept one text on each matcher. Returns whether each was accepted.

        Raises:
            WrongTypeError, WrongValueError: not matchers, values of the wrong type, or lists of different lengths.
        """
        return [matcher.accept_string(text, debug_print=debug_print) for matcher, text in _pairs(matchers, strings)]

    @staticmethod
    def batch_rollback(matchers: list[GrammarMatcher], num_tokens: list[int] | int = 1) -> None:
        """Undo steps on each matcher.

        Raises:
            WrongTypeError, WrongValueError: not matchers, counts that are not valid, or lists of different lengths.
            RuntimeError: a matcher has fewer steps.
        """
        if not isinstance(num_tokens, list | tuple):
            num_tokens = [integer("num_tokens", num_tokens, 0)] * len(members("matchers", matchers))
        for matcher, count in _pairs(matchers, num_tokens):
            matcher.rollback(count)


def _stops(given: object) -> list[int] | None:
    """The stop tokens that were given.

    Raises:
        WrongTypeError: not integers.
        WrongValueError: an empty list.
    """
    if given is None:
        return None
    stops = integers("override_stop_tokens", given if isinstance(given, list | tuple) else [given])
    if not stops:
        raise wrong_value("override_stop_tokens", "override_stop_tokens is empty: name a token, or give None")
    return stops


def _compiled_for(grammar: CompiledGrammar, stops: list[int] | None) -> tuple[_engine.CompiledGrammar, TokenizerInfo]:
    """The grammar compiled for a vocabulary with these stop tokens, and that vocabulary.

    Raises:
        RuntimeError: a token that the vocabulary does not have.
    """
    info = grammar._tokenizer_info
    if stops is None or stops == info.stop_token_ids:
        return grammar._compiled, info
    # Stop tokens belong to the vocabulary here, so the grammar is compiled for the changed vocabulary.
    info = info._with_stops(tuple(stops))
    with errors():
        return info._naming(grammar._grammar._names())._compiler().compile(grammar._grammar._inner), info


def _row(rows: Any, index: int, vocab_size: int) -> Any:
    words = -(-vocab_size // 32)
    if rows.shape[1] != words:
        message = f"a row of {vocab_size} tokens has {words} words, not {rows.shape[1]}"
        raise wrong_value("bitmask", message, code="E-BITMASK-SIZE")
    if not 0 <= integer("index", index) < len(rows):
        raise wrong_value("index", f"row {index} is out of range: there are {len(rows)} rows", code="E-BITMASK-INDEX")
    return rows[integer("index", index)]


def _matchers(given: Any) -> list[GrammarMatcher]:
    """The matchers of a batch.

    Raises:
        WrongTypeError: anything else, also the library's own matchers, which do not have their vocabulary.
    """
    matchers = members("matchers", given)
    for place, matcher in enumerate(matchers):
        if not isinstance(matcher, GrammarMatcher):
            raise wrong_type(f"matchers/{place}", "GrammarMatcher", matcher)
    return matchers


def _targets(indices: Any, count: int) -> list[int]:
    """The row of each matcher.

    Raises:
        WrongTypeError, WrongValueError: not integers, or not one for each matcher.
    """
    targets = list(range(count)) if indices is None else integers("indices", indices)
    if len(targets) != count:
        raise wrong_value("indices", f"there are {len(targets)} indices for {count} matchers", code="E-BATCH-SIZE")
    return targets


def _check_temperatures(temperatures: Any, targets: Sequence[int]) -> None:
    """Check that temperatures can be written at these indices.

    Raises:
        WrongTypeError, WrongValueError: not one-dimensional float32, or too few.
    """
    dtype = getattr(temperatures, "dtype", None)
    if dtype is None:
        raise wrong_type("temperatures", "a tensor or an array of float32", temperatures)
    if str(dtype).rpartition(".")[2] != "float32":
        raise WrongTypeError("E-ARGUMENT-TYPE", f"temperatures must be float32, not {dtype}", pointer="/temperatures")
    if temperatures.ndim != 1:
        raise wrong_value("temperatures", f"temperatures must have one dimension, not {temperatures.ndim}")
    for target in targets:
        if not 0 <= target < len(temperatures):
            raise wrong_value("indices", f"index {target} is out of range: there are {len(temperatures)} temperatures")


def _pairs(matchers: Sequence[GrammarMatcher], values: Sequence[_Value]) -> list[tuple[GrammarMatcher, _Value]]:
    """Each matcher with its value.

    Raises:
        WrongTypeError, WrongValueError: not matchers, or lists of different lengths.
    """
    known, given = _matchers(matchers), members("values", values)
    if len(known) != len(given):
        raise wrong_value("values", f"there are {len(given)} values for {len(known)} matchers", code="E-BATCH-SIZE")
    return list(zip(known, given, strict=True))


def _print_state(matcher: GrammarMatcher, wanted: bool) -> None:
    if wanted:
        print(matcher._debug_print_internal_state())  # noqa: T201  # what the argument asks for
