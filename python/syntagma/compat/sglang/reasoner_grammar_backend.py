"""A grammar that takes effect when reasoning is over."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np

from syntagma.compat.sglang.reasoning_parser import BaseReasoningFormatDetector, ReasoningParser
from syntagma.compat.xgrammar.bitmask import allocate_token_bitmask, apply_token_bitmask_inplace
from syntagma.errors import ArgumentError, ArgumentTypeError

__all__ = ["BaseGrammarObject", "Matcher", "MatcherGrammarObject", "ReasonerGrammarObject", "think_end_ids"]


class Matcher(Protocol):
    """The methods a matcher needs: `sg.GrammarMatcher`, that of `compat.xgrammar`, or xgrammar's own."""

    def accept_token(self, token_id: int, /) -> bool:
        """Accept a token; if it is not allowed next: False, and nothing changes."""
        ...

    def fill_next_token_bitmask(self, bitmask: Any, index: int = 0, /) -> Any:
        """Write the tokens allowed next to a row."""
        ...

    def rollback(self, steps: int, /) -> None:
        """Take back the last tokens."""
        ...

    def is_terminated(self) -> bool:
        """Whether the text has ended."""
        ...

    def fork(self) -> Matcher:
        """A second matcher at the same position."""
        ...


class BaseGrammarObject(ABC):
    """One text that follows a grammar, as a scheduler uses it.

    Attributes:
        finished: set by the scheduler.
        current_token: the last accepted token; None before the first.
    """

    def __init__(self) -> None:
        self.finished = False
        self.current_token: int | None = None

    @abstractmethod
    def accept_token(self, token: int) -> None:
        """Take a token.

        Raises:
            ArgumentError: `E-ARGUMENT-TOKEN`, it may not come next; nothing changes.
        """

    @abstractmethod
    def fill_vocab_mask(self, vocab_mask: Any, idx: int) -> None:
        """Write which tokens may come next into row `idx` of an int32 bitmask."""

    @abstractmethod
    def rollback(self, k: int) -> None:
        """Take back the last `k` tokens."""

    @abstractmethod
    def is_terminated(self) -> bool:
        """Whether the text has ended."""

    @abstractmethod
    def copy(self) -> BaseGrammarObject:
        """A second one at the same place."""

    def maybe_init_reasoning(self, reasoning: bool) -> None:  # noqa: B027  # nothing to do without reasoning
        """Set whether the text begins inside reasoning; call it before the first token."""

    def try_jump_forward(self, tokenizer: Any) -> Any:  # noqa: ARG002  # as in SGLang
        """None: text is never inserted without the model, since that could split tokens."""
        return None

    @staticmethod
    def allocate_vocab_mask(vocab_size: int, batch_size: int, device: Any = "cpu") -> Any:  # noqa: ARG004  # as in SGLang
        """A bitmask that allows everything, int32 [batch_size, ceil(vocab_size / 32)], on the CPU."""
        return allocate_token_bitmask(batch_size, vocab_size)

    @staticmethod
    def move_vocab_mask(vocab_mask: Any, device: Any) -> Any:
        """The bitmask on a device; a NumPy array is returned as it is."""
        return vocab_mask if isinstance(vocab_mask, np.ndarray) else vocab_mask.to(device, non_blocking=True)

    @staticmethod
    def apply_vocab_mask(logits: Any, vocab_mask: Any) -> None:
        """Set the logits that the bitmask denies to minus infinity."""
        apply_token_bitmask_inplace(logits, vocab_mask)


class MatcherGrammarObject(BaseGrammarObject):
    """A matcher with the interface of a grammar object.

    Args:
        matcher: the matcher.
    """

    def __init__(self, matcher: Matcher) -> None:
        super().__init__()
        self.matcher = matcher

    def accept_token(self, token: int) -> None:
        """Take a token.

        Raises:
            ArgumentError: `E-ARGUMENT-TOKEN`, it may not come next; nothing changes.
        """
        if self.matcher.accept_token(token) is False:
            raise ArgumentError("E-ARGUMENT-TOKEN", f"the grammar does not allow the token {token} here")
        self.current_token = token

    def fill_vocab_mask(self, vocab_mask: Any, idx: int) -> None:
        """Write the tokens allowed next to row `idx`; after the end every token is allowed."""
        if self.matcher.is_terminated():
            _allow_all(vocab_mask, idx)
        else:
            self.matcher.fill_next_token_bitmask(vocab_mask, idx)

    def rollback(self, k: int) -> None:
        """Take back the last `k` tokens."""
        self.matcher.rollback(k)

    def is_terminated(self) -> bool:
        """Whether the text has ended."""
        return self.matcher.is_terminated()

    def copy(self) -> MatcherGrammarObject:
        """A second one at the same place."""
        made = MatcherGrammarObject(self.matcher.fork())
        made.finished, made.current_token = self.finished, self.current_token
        return made


class ReasonerGrammarObject(BaseGrammarObject):
    """A grammar for the text after reasoning. Until reasoning has ended, every token is allowed.

    The grammar does not see the tokens that end reasoning.

    Args:
        grammar: a matcher or a grammar object; None: nothing is constrained after reasoning either.
        think_end_id: the token that ends reasoning, or several tokens in order; see `think_end_ids`.

    Attributes:
        grammar: the grammar as given.
        think_end_ids: the tokens that end reasoning, in order.
        tokens_after_think_end: the number of tokens since reasoning ended; -1 inside reasoning.

    Raises:
        ArgumentError: `E-ARGUMENT-VALUE`, no token for the end of reasoning.
        ArgumentTypeError: `E-ARGUMENT-TYPE`, neither a matcher nor a grammar object, or tokens that are not integers.
    """

    def __init__(self, grammar: BaseGrammarObject | Matcher | None, think_end_id: int | Sequence[int]) -> None:
        super().__init__()
        self.grammar = grammar
        self.think_end_ids = _ids(think_end_id)
        self.tokens_after_think_end = -1
        self._inner = _grammar_object(grammar)
        self._shifts = _shifts(self.think_end_ids)
        self._matched = [0]
        """for each token of reasoning, and before the first: how many of the ending tokens were just accepted"""

    @property
    def think_end_id(self) -> int:
        """The token that ends reasoning, or the first of several."""
        return self.think_end_ids[0]

    def maybe_init_reasoning(self, reasoning: bool) -> None:
        """Say whether the text begins inside reasoning, before its first token."""
        self.tokens_after_think_end = -1 if reasoning else 0
        self._matched = [0]

    def transfer_state(self, token: int) -> None:
        """Record a token without passing it to the grammar."""
        if self.tokens_after_think_end >= 0:
            self.tokens_after_think_end += 1
            return
        matched = self._matched[-1]
        while matched and self.think_end_ids[matched] != token:
            matched = self._shifts[matched - 1]
        matched += self.think_end_ids[matched] == token
        self._matched.append(matched)
        if matched == len(self.think_end_ids):
            self.tokens_after_think_end = 0

    def accept_token(self, token: int) -> None:
        """Take a token.

        Raises:
            ArgumentError: `E-ARGUMENT-TOKEN`, the grammar does not allow it; nothing changes.
            ArgumentTypeError: `E-ARGUMENT-TYPE`, not an integer.
        """
        token = _number(token)
        if self.tokens_after_think_end >= 0 and self._inner is not None:
            self._inner.accept_token(token)
        self.transfer_state(token)
        self.current_token = token

    def fill_vocab_mask(self, vocab_mask: Any, idx: int) -> None:
        """Write the tokens allowed next to row `idx`; inside reasoning every token is allowed."""
        if self.tokens_after_think_end >= 0 and self._inner is not None:
            self._inner.fill_vocab_mask(vocab_mask, idx)
        else:
            _allow_all(vocab_mask, idx)

    def rollback(self, k: int) -> None:
        """Undo the last `k` tokens, including those of reasoning.

        Raises:
            ArgumentError: `E-ARGUMENT-VALUE`, fewer were accepted; nothing changes.
        """
        taken = max(self.tokens_after_think_end, 0) + len(self._matched) - 1
        if not 0 <= _number(k) <= taken:
            raise ArgumentError("E-ARGUMENT-VALUE", f"cannot roll back {k} tokens: only {taken} were accepted")
        after = min(k, max(self.tokens_after_think_end, 0))
        if after and self._inner is not None:
            self._inner.rollback(after)
        if after:
            self.tokens_after_think_end -= after
        if k > after:
            del self._matched[after - k :]
            self.tokens_after_think_end = -1
        self.current_token = None

    def is_terminated(self) -> bool:
        """Whether the text has ended; False inside reasoning."""
        return self.tokens_after_think_end >= 0 and self._inner is not None and self._inner.is_terminated()

    def copy(self) -> ReasonerGrammarObject:
        """A second one at the same place."""
        inner = None if self._inner is None else self._inner.copy()
        made = ReasonerGrammarObject(inner, self.think_end_ids)
        made.tokens_after_think_end, made._matched = self.tokens_after_think_end, list(self._matched)
        made.finished, made.current_token = self.finished, self.current_token
        return made


def think_end_ids(reasoning: ReasoningParser | BaseReasoningFormatDetector | str, tokenizer: Any) -> tuple[int, ...]:
    """The tokens that end reasoning, in order.

    Args:
        reasoning: a parser, a detector, or the text that ends reasoning.
        tokenizer: a tokenizer of transformers or tokenizers, or any object whose
            `encode(text, add_special_tokens=False)` returns token ids.

    Raises:
        ArgumentError: `E-ARGUMENT-VALUE`, the text has no tokens.
    """
    detector = reasoning.detector if isinstance(reasoning, ReasoningParser) else reasoning
    text = detector if isinstance(detector, str) else detector.think_end_token
    encoded = tokenizer.encode(text, add_special_tokens=False)
    return _ids(list(getattr(encoded, "ids", encoded)))


def _ids(given: int | Sequence[int]) -> tuple[int, ...]:
    ids = tuple(map(_number, given)) if isinstance(given, Iterable) else (_number(given),)
    if not ids or min(ids) < 0:
        raise ArgumentError(
            "E-ARGUMENT-VALUE", f"{list(ids)} are not tokens that end reasoning", hint="at least one id"
        )
    return ids


def _number(value: Any) -> int:
    """An integer of Python, NumPy or torch."""
    try:
        return operator.index(value)
    except TypeError as error:
        raise ArgumentTypeError("E-ARGUMENT-TYPE", f"must be an integer, not a {type(value).__name__}") from error


def _grammar_object(grammar: Any) -> BaseGrammarObject | None:
    if grammar is None or isinstance(grammar, BaseGrammarObject):
        return grammar
    if hasattr(grammar, "fill_next_token_bitmask"):
        return MatcherGrammarObject(grammar)
    if hasattr(grammar, "fill_vocab_mask"):
        found: BaseGrammarObject = grammar
        return found
    raise ArgumentTypeError("E-ARGUMENT-TYPE", f"a {type(grammar).__name__} is neither a matcher nor a grammar object")


def _shifts(ids: tuple[int, ...]) -> list[int]:
    """For each prefix of a sequence, the length of the longest shorter prefix it ends with (Knuth, Morris, Pratt)."""
    shifts = [0]
    for token in ids[1:]:
        matched = shifts[-1]
        while matched and ids[matched] != token:
            matched = shifts[matched - 1]
        shifts.append(matched + (ids[matched] == token))
    return shifts


def _allow_all(vocab_mask: Any, idx: int) -> None:
    if getattr(vocab_mask, "ndim", 1) == 1:
        vocab_mask[:] = -1
    else:
        vocab_mask[idx] = -1
